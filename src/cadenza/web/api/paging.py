"""Pages by cursor: where the last page ended, so that new rows do not shift the next one."""

import base64
import json
from collections.abc import Sequence
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import AfterValidator, BaseModel, Field

from cadenza.domain.errors import InvalidInput
from cadenza.web.api.strict_json import check_text

T = TypeVar("T")
MAX_CURSOR = 1000


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = Field(
        default=None, description="The cursor of the next page; null where this is the last."
    )


def _storable(text: str) -> str:
    try:
        check_text("it", text)
    except InvalidInput as error:
        raise ValueError(error.fix) from error
    return text


Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]
Cursor = Annotated[
    str | None, Query(max_length=MAX_CURSOR, description="`next` of the page before.")
]
Text = Annotated[str, AfterValidator(_storable)]
Searched = Annotated[
    Text | None, Query(min_length=1, max_length=200, description="A piece of the text.")
]
Named = Annotated[Text | None, Query(min_length=1, max_length=100, description="The exact name.")]


def write_cursor(*place: object) -> str:
    text = json.dumps([str(each) for each in place])
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read_cursor(cursor: str | None) -> tuple[str, UUID] | None:
    """A value and an id; InvalidInput for what was not written by us."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        parts: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        value, last_id = parts
        check_text("cursor", value)
        return value, UUID(last_id)
    except (ValueError, TypeError, AttributeError, RecursionError, InvalidInput) as error:
        fix = "take `next` of the page before as it is, or leave it out"
        raise InvalidInput("cursor", cursor, fix) from error


def cut(found: Sequence[T], limit: int) -> tuple[list[T], bool]:
    """What fits on a page of those found (one more was asked for), and whether more is left."""
    return list(found[:limit]), len(found) > limit
