"""What is wrong with a file, and where."""

from dataclasses import dataclass

from cadenza.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Lines and columns count from one; both are zero where a whole file or folder is meant."""

    file: str
    line: int = 0
    column: int = 0

    @staticmethod
    def behind(file: str, before: str) -> "Place":
        """Right behind this text, which begins the file."""
        return Place(file, before.count("\n") + 1, len(before) - before.rfind("\n"))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """An error with its place; `field` is empty where there is no telling fields yet."""

    place: Place
    field: str
    text: str

    @staticmethod
    def of(place: Place, error: InvalidInput) -> "Problem":
        return Problem(place, error.field, str(error))

    def __str__(self) -> str:
        return f"{self.place}: {self.text}"
