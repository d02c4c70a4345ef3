"""JSON as it should be: no key twice, no NaN, nothing that could not be stored or shown."""

import json
from typing import Any, cast

from cadenza.domain.errors import InvalidInput

MAX_DEPTH = 50
MAX_INTEGER = 2**63 - 1
_SHOWN = 60


def parse(content: bytes) -> Any:
    """InvalidInput with the place of what is wrong."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("body", f"byte {error.start}", "it is not UTF-8") from error
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_NoNumber, parse_int=_integer
        )
        _check(value, 0)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput("body", where, f"it is not JSON: {error.msg}") from error
    except RecursionError as error:
        raise InvalidInput("body", "(nested)", _TOO_DEEP) from error
    except _Wrong as wrong:
        raise InvalidInput(wrong.field or "body", wrong.shown, wrong.fix) from wrong
    return value


_TOO_DEEP = f"{MAX_DEPTH} levels of nesting are the most"


class _NoNumber(str):
    """What stands for a number and is none: NaN, Infinity, or one of more than 64 bits."""

    __slots__ = ()


class _Twice(dict[str, Any]):
    """An object that has a key twice; kept until it is known where it stands."""

    key = ""


def _integer(digits: str) -> int | _NoNumber:
    if len(digits) > 20 or not -MAX_INTEGER - 1 <= (value := int(digits)) <= MAX_INTEGER:
        return _NoNumber(digits)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    seen: set[str] = set()
    twice = _Twice(result)
    twice.key = next(name for name, _ in pairs if name in seen or seen.add(name))
    return twice


class _Wrong(Exception):
    """What is wrong; the path grows on its way out, so that none is made where all is well."""

    def __init__(self, shown: str, fix: str, field: str = "") -> None:
        self.shown = shown
        self.fix = fix
        self.field = field
        super().__init__(fix)

    def inside(self, place: str) -> "_Wrong":
        joint = "." if self.field and not self.field.startswith("[") else ""
        shown = "***" if "secret" in place.lower() else self.shown
        return _Wrong(shown, self.fix, f"{place}{joint}{self.field}")


def _check(value: Any, depth: int) -> None:
    """Strings that PostgreSQL cannot store, numbers too large to be one, and nesting."""
    if depth > MAX_DEPTH:
        raise _Wrong("(nested)", _TOO_DEEP)
    if isinstance(value, str):
        _check_string(value)
    elif isinstance(value, float) and value - value != 0:
        raise _Wrong("a number", "it is too large")
    elif isinstance(value, dict):
        _check_object(cast("dict[str, Any]", value), depth)
    elif isinstance(value, list):
        place = 0
        try:
            for place, each in enumerate(cast("list[Any]", value)):  # noqa: B007 it is read below
                _check(each, depth + 1)
        except _Wrong as wrong:
            raise wrong.inside(f"[{place}]") from None


def _check_string(value: str) -> None:
    if isinstance(value, _NoNumber):
        raise _Wrong(_cut(value), "a number that JSON has, and whole ones of at most 64 bits")
    if fault := _fault(value):
        raise _Wrong(_cut(value), fault)


def _check_object(value: dict[str, Any], depth: int) -> None:
    if isinstance(value, _Twice):
        raise _Wrong("given twice", "give it once", _cut(value.key))
    name = ""
    try:
        for name, each in value.items():
            if fault := _fault(name):
                raise _Wrong(_cut(name), fault)
            _check(each, depth + 1)
    except _Wrong as wrong:
        raise wrong.inside(_cut(name)) from None


def check_text(field: str, text: str) -> None:
    """Neither NUL nor half a character: nothing could store it as it is."""
    if fault := _fault(text):
        raise InvalidInput(field, _cut(text), fault)


def _fault(text: str) -> str | None:
    if "\0" in text:
        return "it holds a NUL character"
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return "it holds half of a character pair"
    return None


def _cut(text: str) -> str:
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return cut.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
