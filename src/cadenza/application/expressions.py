"""What an expression gave, taken as the yes or no that it should be."""

from typing import Any

from cadenza.domain.errors import InvalidInput


def yes_or_no(expression: str, result: Any) -> bool:
    """InvalidInput where it has neither."""
    if isinstance(result, InvalidInput):
        raise result
    if not isinstance(result, bool):
        kind = type(result).__name__
        raise InvalidInput("expression", expression, f"it gives a {kind}, not yes or no")
    return result
