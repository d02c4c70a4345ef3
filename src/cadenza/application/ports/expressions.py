from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class Expressions(Protocol):
    """CEL: small expressions that owners write, and that can neither loop for long nor do IO."""

    def check(self, field: str, expression: str) -> None:
        """InvalidInput with the position where the expression cannot be read."""
        ...

    def holds(self, expression: str, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values; InvalidInput where it has no yes or no."""
        ...

    def value(self, expression: str, values: Mapping[str, Any]) -> Any:
        """What it gives; NothingThere where it asks for a field or element that is not there."""
        ...

    def paths(self, expression: str) -> Sequence[tuple[str, ...]]:
        """The fields it takes from outside, each from its name on; those in has() are left out."""
        ...
