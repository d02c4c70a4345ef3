"""Plain scalars as YAML 1.2 has them: `yes`, `on`, `0x10` and dates are text."""

import math
import re

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLEANS = {
    "true": True, "True": True, "TRUE": True,
    "false": False, "False": False, "FALSE": False,
}  # fmt: skip
_WHOLE = re.compile(r"[-+]?[0-9]+")
_REAL = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
MAX_DIGITS = 300

Scalar = None | bool | int | float | str


def plain_value(text: str) -> Scalar:
    """ValueError with the fix for what no JSON can carry."""
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    if _NO_NUMBER.fullmatch(text):
        raise ValueError("NaN and infinity are not allowed; put it in quotes if it is text")
    if _REAL.fullmatch(text) is None:
        return text
    if len(text) > MAX_DIGITS:
        raise ValueError("it is too long for a number; put it in quotes if it is text")
    if _WHOLE.fullmatch(text):
        return int(text)
    if math.isinf(number := float(text)):
        raise ValueError("it is too large for a number; put it in quotes if it is text")
    return number


def reads_as_text(text: str) -> bool:
    """Whether it is text even without quotes."""
    try:
        return isinstance(plain_value(text), str)
    except ValueError:
        return False
