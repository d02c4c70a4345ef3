"""The fields that an expression speaks of: `response.queue.depth` as a path of names."""

from collections.abc import Iterator, Sequence

from cadenza.adapters.expressions.shape import Path, Token, tokens_of


def fields_in(expression: str) -> tuple[Path, ...]:
    """Each once, in order. What stands in has() is only asked about, so it need not be there."""
    tokens = tokens_of(expression)
    return tuple(dict.fromkeys(_paths(tokens)))


def _paths(tokens: Sequence[Token]) -> Iterator[Path]:
    for at, token in enumerate(tokens):
        begins = token.kind == "name" and _text(tokens, at - 1) != "."
        if begins and _text(tokens, at + 1) != "(" and not _is_asked_about(tokens, at):
            yield _path(tokens, at)


def _is_asked_about(tokens: Sequence[Token], at: int) -> bool:
    return _text(tokens, at - 1) == "(" and _text(tokens, at - 2) == "has"


def _path(tokens: Sequence[Token], at: int) -> Path:
    path = [tokens[at].text]
    while (key := _key(tokens, at + 1)) is not None:
        name, at = key
        path.append(name)
    return tuple(path)


def _key(tokens: Sequence[Token], at: int) -> tuple[str, int] | None:
    """The next field, written `.name` or `["name"]`, and where it ends; a method is no field."""
    if _text(tokens, at) == "." and _text(tokens, at + 2) != "(":
        return _text(tokens, at + 1), at + 1
    if _text(tokens, at) == "[" and _text(tokens, at + 2) == "]":
        text = _text(tokens, at + 1)
        if text[:1] in ("'", '"') and "\\" not in text:
            return text.strip(text[0]), at + 2
    return None


def _text(tokens: Sequence[Token], at: int) -> str:
    return tokens[at].text if 0 <= at < len(tokens) else ""
