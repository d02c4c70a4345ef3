"""The value of an expression, read as the boolean that it should be."""

from typing import Any

from cadenza.domain.errors import InvalidInput


def yes_or_no(expression: str, result: Any) -> bool:
    """InvalidInput where the value is no boolean."""
    if isinstance(result, InvalidInput):
        raise result
    if not isinstance(result, bool):
        kind = type(result).__name__
        raise InvalidInput("expression", expression, f"it gives a {kind}, not yes or no")
    return result
