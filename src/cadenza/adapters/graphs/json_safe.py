"""Any value of a graph as plain JSON: what cannot be said exactly is said as text."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from enum import Enum
from typing import Any, cast

MAX_DEPTH = 40
MAX_TEXT = 1000  # of a value that has no form in JSON
_OF_MESSAGES = ("id", "name", "tool_calls", "tool_call_id", "status")


def plain(value: Any, depth: int = 0) -> Any:
    if value is None or isinstance(value, bool | int | str):
        return _scalar(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        items = cast(Mapping[Any, Any], value).items()
        return {str(key): plain(item, depth + 1) for key, item in items}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item, depth + 1) for item in cast(Iterable[Any], value)]
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return _of_object(value, depth)


def _scalar(value: Any) -> Any:
    """Enums and subclasses of plain types as the plain type."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    return str(value) if isinstance(value, str) else int(value)


def _of_object(value: Any, depth: int) -> Any:
    if isinstance(value, Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, bytes | bytearray):
        return bytes(value).decode("utf-8", "replace")
    if is_message(value):
        return plain(_message(value), depth + 1)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = [field.name for field in dataclasses.fields(value)]
        return {name: plain(getattr(value, name, None), depth + 1) for name in fields}
    if hasattr(value, "model_dump") and not isinstance(value, type):
        return plain(value.model_dump(), depth + 1)
    return str(value)[:MAX_TEXT]


def is_message(value: Any) -> bool:
    """A message of LangChain, without importing it."""
    return any(base.__name__ == "BaseMessage" for base in type(value).__mro__)


def _message(message: Any) -> dict[str, Any]:
    """What was said, without the provider's own notes and counts."""
    extras = {name: getattr(message, name, None) for name in _OF_MESSAGES}
    present = {name: extra for name, extra in extras.items() if extra}
    kind = str(message.type).removesuffix("MessageChunk").lower()
    return {"type": kind, "content": message.content, **present}
