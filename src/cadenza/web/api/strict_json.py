"""JSON as it should be: no key twice, no NaN, nothing that could not be stored or shown."""

import json
from typing import Any, NoReturn, cast

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
            text, object_pairs_hook=_object, parse_constant=_constant, parse_int=_integer
        )
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise InvalidInput("body", where, f"it is not JSON: {error.msg}") from error
    except RecursionError as error:
        raise _too_deep() from error
    _check(value, "", 0)
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))
        raise InvalidInput(_cut(twice), "given twice", "give it once")
    return result


def _constant(name: str) -> NoReturn:
    raise InvalidInput("body", name, "it is no number in JSON")


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -MAX_INTEGER - 1 <= (value := int(digits)) <= MAX_INTEGER:
        raise InvalidInput("body", _cut(digits), "a whole number of at most 64 bits")
    return value


def _check(value: Any, path: str, depth: int) -> None:
    """Strings that PostgreSQL cannot store, numbers too large to be one, and nesting."""
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, str):
        check_text(path or "body", value)
    elif isinstance(value, float) and value - value != 0:
        raise InvalidInput(path or "body", "a number", "it is too large")
    elif isinstance(value, dict):
        for name, each in cast("dict[str, Any]", value).items():
            inner = f"{path}.{_cut(name)}" if path else _cut(name)
            check_text(inner, name)
            _check(each, inner, depth + 1)
    elif isinstance(value, list):
        for place, each in enumerate(cast("list[Any]", value)):
            _check(each, f"{path}[{place}]", depth + 1)


def check_text(field: str, text: str) -> None:
    """Neither NUL nor half a character: nothing could store it as it is."""
    if "\0" in text:
        raise InvalidInput(field, _cut(text), "it holds a NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InvalidInput(field, _cut(text), "it holds half of a character pair") from error


def _too_deep() -> InvalidInput:
    return InvalidInput("body", "(nested)", f"{MAX_DEPTH} levels of nesting are the most")


def _cut(text: str) -> str:
    cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    return cut.encode("utf-8", "backslashreplace").decode().replace("\0", "\\0")
