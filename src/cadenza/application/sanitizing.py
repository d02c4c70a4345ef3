"""Cleans hostile text from outside, before a brain or a log gets it."""

import json
import unicodedata
from itertools import islice
from math import isfinite
from typing import Any, cast

from cadenza.domain.run import Body

MAX_LENGTH = 1000
_MAX_READ = 2 * MAX_LENGTH  # of each text: so much is cleaned before it is cut
_HUGE = 10**100
_ALLOWED = "\n\t"
_INVISIBLE = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")
# Letters and marks by their category, but drawn as nothing: fillers and variation selectors.
_DRAWN_AS_NOTHING = frozenset(
    map(
        chr,
        (
            0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2800, 0x3164,
            *range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0000, 0xE1000),
        ),
    )
)  # fmt: skip


def clean_text(text: str) -> str:
    """Without control, formatting and invisible characters, which can hide or fake content."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char for char in text if char in _ALLOWED or _is_visible(char))


def _is_visible(char: str) -> bool:
    return unicodedata.category(char) not in _INVISIBLE and char not in _DRAWN_AS_NOTHING


def sanitized_body(body: Body) -> Body:
    """Short JSON stays JSON; a longer body becomes text, cut and marked as cut."""
    return shortened(sanitized(body))


def shortened(cleaned: Body) -> Body:
    text = cleaned if isinstance(cleaned, str) else json.dumps(cleaned, ensure_ascii=False)
    return cleaned if len(text) <= MAX_LENGTH else _cut(text, MAX_LENGTH)


def sanitized(value: Any, longest: int = _MAX_READ, depth: int = 0) -> Any:
    """Any value as JSON that is safe to show and store: cleaned, finite, of bounded depth."""
    if isinstance(value, str):
        cleaned = clean_text(value[:longest])
        return cleaned if len(value) <= longest else _cut(cleaned, longest)
    if isinstance(value, int):  # and true and false
        return value if -_HUGE < value < _HUGE else "(a huge number)"
    if value is None:
        return value
    if isinstance(value, float):
        return value if isfinite(value) else str(value)
    if depth > 20:
        return "… (nested too deeply)"
    if isinstance(value, dict):
        fields = islice(cast(dict[Any, Any], value).items(), _MAX_READ)
        return {
            str(sanitized(name, 200, depth + 1)): sanitized(field, longest, depth + 1)
            for name, field in fields
        }
    if isinstance(value, list | tuple):
        items = cast(list[Any], value)[:_MAX_READ]
        return [sanitized(item, longest, depth + 1) for item in items]
    return f"({type(value).__name__})"


def _cut(text: str, longest: int) -> str:
    return f"{text[:longest]}… (cut)"


def error_text(error: BaseException) -> str:
    """An unexpected exception as text that is short enough to be stored."""
    return clean_text(f"{type(error).__name__}: {error}"[:500])
