"""Strict JSON: no key twice, no NaN, nothing that could not be stored or sent back."""

import json
from typing import Any, cast

from cadenza.domain.errors import InvalidInput

MAX_DEPTH = 50
MAX_INTEGER = 2**63 - 1
_LONGEST_EXCERPT = 60


def parse(content: bytes) -> Any:
    """InvalidInput with the path of what is wrong."""
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput("body", f"byte {error.start}", "it is not UTF-8") from error
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_NotANumber, parse_int=_integer
        )
        _check(value, 0)
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput("body", position, f"it is not JSON: {error.msg}") from error
    except RecursionError as error:
        raise InvalidInput("body", "(nested)", _TOO_DEEP) from error
    except _Wrong as wrong:
        raise InvalidInput(wrong.field or "body", wrong.excerpt, wrong.fix) from wrong
    return value


_TOO_DEEP = f"{MAX_DEPTH} levels of nesting are the most"


class _NotANumber(str):
    """What stands for a number and is none: NaN, Infinity, or one of more than 64 bits."""

    __slots__ = ()


class _DuplicateKey(dict[str, Any]):
    """An object with a key twice; refused when the walk through the document knows its path."""

    key = ""


def _integer(digits: str) -> int | _NotANumber:
    if len(digits) > 20 or not -MAX_INTEGER - 1 <= (value := int(digits)) <= MAX_INTEGER:
        return _NotANumber(digits)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) == len(pairs):
        return result
    seen: set[str] = set()
    duplicate = _DuplicateKey(result)
    duplicate.key = next(name for name, _ in pairs if name in seen or seen.add(name))
    return duplicate


class _Wrong(Exception):
    """What is wrong; its path is put together while it is raised, so a good document needs none."""

    def __init__(self, excerpt: str, fix: str, field: str = "") -> None:
        self.excerpt = excerpt
        self.fix = fix
        self.field = field
        super().__init__(fix)

    def inside(self, parent: str) -> "_Wrong":
        joint = "." if self.field and not self.field.startswith("[") else ""
        excerpt = "***" if "secret" in parent.lower() else self.excerpt
        return _Wrong(excerpt, self.fix, f"{parent}{joint}{self.field}")


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
        index = 0
        try:
            for index, item in enumerate(cast("list[Any]", value)):  # noqa: B007 it is read below
                _check(item, depth + 1)
        except _Wrong as wrong:
            raise wrong.inside(f"[{index}]") from None


def _check_string(value: str) -> None:
    if isinstance(value, _NotANumber):
        raise _Wrong(_cut(value), "a number that JSON has, and whole ones of at most 64 bits")
    if fault := _fault(value):
        raise _Wrong(_cut(value), fault)


def _check_object(value: dict[str, Any], depth: int) -> None:
    if isinstance(value, _DuplicateKey):
        raise _Wrong("given twice", "give it once", _cut(value.key))
    name = ""
    try:
        for name, item in value.items():
            if fault := _fault(name):
                raise _Wrong(_cut(name), fault)
            _check(item, depth + 1)
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
    cut = text if len(text) <= _LONGEST_EXCERPT else f"{text[:_LONGEST_EXCERPT]}…"
    return cut.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
