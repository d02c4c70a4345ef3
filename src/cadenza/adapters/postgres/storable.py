"""Text and JSON that PostgreSQL takes, whatever a target said."""

import json
from collections.abc import Collection
from hashlib import blake2b
from typing import Any, cast
from uuid import UUID

import pydantic_core

# Made once: json.dumps makes one for each call, and answers come by thousands.
_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


def to_json(value: Any) -> str:
    """JSON that jsonb takes, whatever a target said: no NUL, no lone surrogate, no NaN."""
    try:
        text = _encode(value)
        if "\\u0000" not in text:
            text.encode()
            return text
        return json.dumps(_storable(value), ensure_ascii=False)
    except (ValueError, UnicodeEncodeError):
        return json.dumps(_storable(value), ensure_ascii=False)
    except RecursionError:
        return '"(nested too deeply)"'


def like(piece: str | None) -> str | None:
    """What ILIKE finds a piece of text by; its own signs mean themselves."""
    if not piece:
        return None
    escaped = piece.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def listed(ids: Collection[UUID] | None) -> list[UUID] | None:
    """As a parameter of a query; None stays None."""
    return None if ids is None else list(ids)


def to_text(text: str) -> str:
    """Text that PostgreSQL takes."""
    if "\0" in text or not text.isascii():
        return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
    return text


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return to_text(value)
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return {to_text(str(key)): _storable(item) for key, item in pairs}
    if isinstance(value, list):
        return [_storable(item) for item in cast("list[Any]", value)]
    return value


def from_json(text: str | None) -> Any:
    if text is None:
        return None
    try:
        return pydantic_core.from_json(text)  # several times faster, and answers come by thousands
    except ValueError:  # nested deeper than it goes
        return json.loads(text)


def answer_hash(status: str, body: str | None) -> int:
    """Whether two answers are the same, in eight bytes."""
    digest = blake2b(f"{status} {body}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
