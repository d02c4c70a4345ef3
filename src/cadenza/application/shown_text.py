"""Response bodies as a brain may see them: hostile text, cut, cleaned, and never more than data."""

import json
import unicodedata
from typing import Any, cast

from cadenza.domain.run import Body

MAX_SHOWN = 1000
_KEPT = "\n\t"
_INVISIBLE = ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp")


def clean_text(text: str) -> str:
    """Without control, formatting and invisible characters, which can hide or fake what is said."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char for char in text if char in _KEPT or unicodedata.category(char) not in _INVISIBLE
    )


def shown_body(body: Body) -> Body:
    """JSON that is short stays JSON; what is long becomes text, cut and marked."""
    if isinstance(body, str):
        return _cut(clean_text(body[: 2 * MAX_SHOWN]))
    cleaned = _clean(body, depth=0)
    text = json.dumps(cleaned, ensure_ascii=False)
    return cleaned if len(text) <= MAX_SHOWN else _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}… (cut)"


def _clean(value: Any, depth: int) -> Any:
    if depth > 20:
        return "… (nested too deeply)"
    if isinstance(value, str):
        return clean_text(value[: 2 * MAX_SHOWN])
    if isinstance(value, dict):
        pairs = cast(dict[str, Any], value).items()
        return {clean_text(key[:200]): _clean(each, depth + 1) for key, each in pairs}
    if isinstance(value, list):
        items = cast(list[Any], value)[: 2 * MAX_SHOWN]
        return [_clean(each, depth + 1) for each in items]
    return value
