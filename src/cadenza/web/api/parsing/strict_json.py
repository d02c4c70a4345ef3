"""Strict JSON: no key twice, no NaN, nothing that could not be stored or sent back."""

import json
from typing import Any, cast

from cadenza.domain.errors import InvalidInput
from cadenza.web.api.off_the_loop import off_the_loop
from cadenza.web.api.problems import Malformed

MAX_DEPTH = 50
MAX_VALUES = 500_000  # a file of ten thousand endpoints has fewer
LARGE = 64 * 1024  # bytes, of which the longest takes some milliseconds
MAX_INTEGER = 2**63 - 1
_LONGEST_EXCERPT = 60
_TOO_DEEP = f"{MAX_DEPTH} levels of nesting are the most"
# The path of what it is in, and its name or index there; written out only where something is wrong.
_Path = tuple[Any, str | int] | None


async def parse_body(content: bytes) -> Any:
    """A large one in a thread, so that others are served meanwhile."""
    if len(content) < LARGE:
        return parse(content)
    return await off_the_loop(parse, content)


def parse(content: bytes) -> Any:
    """Malformed with the path of what is wrong."""
    if content.count(b",") > MAX_VALUES:
        raise Malformed("body", f"{content.count(b',')} commas", f"{MAX_VALUES} are the most")
    try:
        value = json.loads(
            content.decode(),
            object_pairs_hook=_object,
            parse_constant=_NotANumber,
            parse_int=_integer,
        )
        _check(value, None, 0)
    except UnicodeDecodeError as error:
        raise Malformed("body", f"byte {error.start}", "it is not UTF-8") from error
    except json.JSONDecodeError as error:
        position = f"line {error.lineno}, column {error.colno}"
        raise Malformed("body", position, f"it is not JSON: {error.msg}") from error
    except RecursionError as error:
        raise Malformed("body", "(nested)", _TOO_DEEP) from error
    return value


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


def _check(value: Any, path: _Path, depth: int) -> None:
    """Strings that PostgreSQL cannot store, numbers too large to be one, and nesting."""
    if depth > MAX_DEPTH:
        raise _malformed(path, "(nested)", _TOO_DEEP)
    if isinstance(value, _NotANumber):
        raise _malformed(path, value, "a number that JSON has, and whole ones of at most 64 bits")
    if isinstance(value, str):
        if fault := _fault(value):
            # Not the text itself: it may be a secret, and nobody has looked at its field yet.
            raise _malformed(path, f"(text of {len(value)} characters)", fault)
    elif isinstance(value, float) and value - value != 0:
        raise _malformed(path, "a number", "it is too large")
    elif isinstance(value, dict):
        _check_object(cast("dict[str, Any]", value), path, depth)
    elif isinstance(value, list):
        for index, item in enumerate(cast("list[Any]", value)):
            _check(item, (path, index), depth + 1)


def _check_object(value: dict[str, Any], path: _Path, depth: int) -> None:
    if isinstance(value, _DuplicateKey):
        raise _malformed(path, "given twice", "give it once", value.key)
    for name, item in value.items():
        if fault := _fault(name):
            raise _malformed((path, name), name, fault)
        _check(item, (path, name), depth + 1)


def _malformed(path: _Path, excerpt: str, fix: str, key: str = "") -> Malformed:
    """With the path as it is written: `jobs[0].name`."""
    field, excerpt = _cut(key), _cut(excerpt)
    while path is not None:
        path, name = path
        parent = _cut(name) if isinstance(name, str) else f"[{name}]"
        joint = "." if field and not field.startswith("[") else ""
        field = f"{parent}{joint}{field}"
    return Malformed(field or "body", excerpt, fix)


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
