"""Answers that a model can read: short, with a word where something was cut, and with the words of
others marked as data.

Bodies, errors and what planners made of them may have been written by whoever runs a target. They
stand under `untrusted`, inside JSON text, so that nothing in them looks like a part of the answer.
"""

import json
from collections.abc import Sequence
from typing import Any, cast

LONGEST_ANSWER = 30_000  # characters of JSON
UNTRUSTED = "untrusted"
_BY_TARGETS = frozenset((
    "body", "reasoning", "error_message", "last_error", "last_lines", "output", "payload",
    "question",
))  # fmt: skip
_QUOTING = (
    "planner",
    "model",
    "detector",
    "rule",
    "ai",
)  # authors whose reasons may quote a target
LINES = "items"  # a page has a cursor for what it lacks, so its lines are never left out here
# Longest text, most items of a list or object, deepest level: what is too long is cut again.
_STEPS = (
    (2_000, 100, 12), (600, 40, 9), (200, 15, 6), (80, 5, 5), (80, 5, 3), (40, 3, 2),
)  # fmt: skip
_LINE_STEP = 2  # so far lines may be cut before fewer of them are asked for
_LONGEST_PAGE = 25_000
WHOLE = "manifest"  # a piece of a file, applied, would end what the piece lacks


def bounded(value: Any) -> tuple[Any, bool]:
    """Marked and short enough, and whether something is missing."""
    marked = _marked(value)
    shorter, was_cut = marked, False
    for step in _STEPS:
        shorter, was_cut = _Cutter(*step).cut(marked)
        if len(as_json(shorter)) <= LONGEST_ANSWER:
            break
    return shorter, was_cut


def fitting(lines: Sequence[Any]) -> int:
    """How many of them fit into one answer; one at least."""
    size = 0
    for count, one in enumerate(lines):
        size += len(as_json(_Cutter(*_STEPS[_LINE_STEP]).cut(_marked(one))[0]))
        if size > _LONGEST_PAGE:
            return max(1, count)
    return max(1, len(lines))


def line(text: Any, longest: int = 200) -> str | None:
    """A text in a list, on one line."""
    if text in (None, ""):
        return None
    words = " ".join(str(text).split())
    return words if len(words) <= longest else f"{words[:longest]}… (cut)"


def untrusted(text: Any, longest: int = 200) -> dict[str, str] | None:
    """Somebody else's words in a list."""
    short = line(text, longest)
    return None if short is None else {UNTRUSTED: short}


def as_json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace").decode()  # half a pair of surrogates is no text


def _marked(value: Any) -> Any:
    if isinstance(value, list):
        return [_marked(item) for item in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {
        name: _as_data(field) if _is_of_others(name, fields) else _marked(field)
        for name, field in fields.items()
        if field is not None  # what is not there costs a model words
    }


def _as_data(value: Any) -> Any:
    is_marked = isinstance(value, dict) and set(cast("dict[str, Any]", value)) == {UNTRUSTED}
    if is_marked or value in ("", [], {}):
        return cast("Any", value)
    return {UNTRUSTED: value if isinstance(value, str) else as_json(value)}


def _is_of_others(name: str, fields: dict[str, Any]) -> bool:
    if name == "body" and "url" in fields:
        return False  # what is sent is the owner's
    if name == "reason":
        author = fields.get("author") or fields.get("by") or fields.get("set_by")
        kind = cast("dict[str, Any]", author).get("kind") if isinstance(author, dict) else author
        return str(kind) in _QUOTING
    return name in _BY_TARGETS


class _Cutter:
    def __init__(self, longest: int, most: int, deepest: int) -> None:
        self._longest = longest
        self._most = most
        self._deepest = deepest
        self._was_cut = False

    def cut(self, value: Any) -> tuple[Any, bool]:
        """Of an answer itself every field stays, for its schema promises them."""
        if not isinstance(value, dict):
            return self._cut(value, 1), self._was_cut
        fields = cast("dict[str, Any]", value)
        return {name: self._field(name, field) for name, field in fields.items()}, self._was_cut

    def _field(self, name: str, value: Any) -> Any:
        if name == WHOLE:
            return value
        if name == LINES and isinstance(value, list):
            return [self._cut(item, 1) for item in cast("list[Any]", value)]
        return self._cut(value, 1)

    def _cut(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if not isinstance(value, list | dict):
            return value
        parts = cast("list[Any] | dict[str, Any]", value)
        if depth > self._deepest and parts:
            return self._text(as_json(parts))
        self._was_cut = self._was_cut or len(parts) > self._most
        if isinstance(parts, list):
            return [self._cut(item, depth + 1) for item in parts[: self._most]]
        fields = list(parts.items())[: self._most]
        return {self._text(name): self._cut(item, depth + 1) for name, item in fields}

    def _text(self, text: str) -> str:
        more = len(text) - self._longest
        if more <= 0:
            return text
        self._was_cut = True
        return f"{text[: self._longest]}… (cut: {more:,} more characters)"
