"""What is wrong with a file, and where."""

from dataclasses import dataclass

from cadenza.domain.errors import InvalidInput


@dataclass(frozen=True, slots=True, order=True)
class SourceLocation:
    """Lines and columns count from one; both are zero where a whole file or folder is meant."""

    file: str
    line: int = 0
    column: int = 0

    @staticmethod
    def after(file: str, text: str) -> "SourceLocation":
        """Right behind this text, with which the file begins."""
        return SourceLocation(file, text.count("\n") + 1, len(text) - text.rfind("\n"))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Problem:
    """`field` is empty where the file could not be read as far as its fields."""

    location: SourceLocation
    field: str
    text: str

    @staticmethod
    def of(location: SourceLocation, error: InvalidInput) -> "Problem":
        return Problem(location, error.field, str(error))

    def __str__(self) -> str:
        return f"{self.location}: {self.text}"
