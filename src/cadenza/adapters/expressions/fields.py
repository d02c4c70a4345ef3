"""The fields that an expression uses: `response.queue.depth` as a path of names.

The library copies every value at every use. So it gets only the fields that the expression uses;
where it uses a whole value, that one.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from cadenza.adapters.expressions.shape import Path, Token, tokens_of


def fields_in(expression: str, *, asked_about: bool = False) -> tuple[Path, ...]:
    """Each once, in order; those in has() need not exist, and are left out unless `asked_about`."""
    tokens = tokens_of(expression)
    begins = [
        at
        for at in _beginnings(tokens)
        if asked_about or (_text(tokens, at - 1), _text(tokens, at - 2)) != ("(", "has")
    ]
    return tuple(dict.fromkeys(_path(tokens, at) for at in begins))


def only(paths: Sequence[Path], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without what none of the paths leads to.

    The longest path has to come first: a shorter one, which leads to more, overwrites it.
    """
    fields: dict[str, Any] = {}
    for path in paths:
        _copy(path, values, fields)
    return fields


def _copy(path: Path, values: Mapping[str, Any], fields: dict[str, Any]) -> None:
    name = path[0]
    if name not in values:
        return
    value = values[name]
    if len(path) == 1 or not isinstance(value, Mapping):
        fields[name] = value
    else:
        _copy(path[1:], cast("Mapping[str, Any]", value), fields.setdefault(name, {}))


def _beginnings(tokens: Sequence[Token]) -> Iterator[int]:
    for at, token in enumerate(tokens):
        if token.kind != "name" or _text(tokens, at + 1) == "(":
            continue
        if _text(tokens, at - 1) != "." or not _ends_value(tokens, at - 2):
            yield at


def _ends_value(tokens: Sequence[Token], at: int) -> bool:
    if not 0 <= at < len(tokens):
        return False
    token = tokens[at]
    return token.kind in ("name", "text", "number") or token.text in (")", "]", "}", "`")


def _path(tokens: Sequence[Token], at: int) -> Path:
    path = [tokens[at].text]
    while (key := _key(tokens, at + 1)) is not None:
        name, at = key
        path.append(name)
    return tuple(path)


def _key(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    """The next field, written `.name` or `["name"]`, and where it ends; a method is no field."""
    key = tokens[at + 1] if at + 1 < len(tokens) else None
    if key is None:
        return None
    if _text(tokens, at) == "." and key.kind == "name" and _text(tokens, at + 2) != "(":
        return key.text, at + 1
    if _text(tokens, at) == "[" and key.kind == "text" and _text(tokens, at + 2) == "]":
        quote = key.text[0]
        plain = quote in "'\"" and "\\" not in key.text and not key.text.startswith(3 * quote)
        return (key.text[1:-1], at + 2) if plain else None
    return None


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""
