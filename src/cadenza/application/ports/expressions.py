from collections.abc import Mapping
from typing import Any, Protocol


class Expressions(Protocol):
    """CEL: small expressions that owners write, and that can neither loop for long nor do IO."""

    def check(self, field: str, expression: str) -> None:
        """InvalidInput with the position where the expression cannot be read."""
        ...

    def holds(self, expression: str, values: Mapping[str, Any]) -> bool:
        """Whether it is true of these values; InvalidInput where it has no yes or no."""
        ...
