"""Cursors: where the last page ended, so that new rows do not shift the next one."""

import base64
import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from cadenza.application.ports.catalogue import EndpointOrder, StoredEndpoint
from cadenza.application.ports.search_result import TimeCursor
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso
from cadenza.web.api.parsing.strict_json import check_text

MAX_CURSOR = 2000
_FIX = "take `next` of the page before as it is, or leave it out"
_NOT_OURS = (ValueError, TypeError, AttributeError, RecursionError, InvalidInput)


def write_cursor(value: object, last_id: UUID) -> str:
    return _written([str(value), str(last_id)])


def read_cursor(cursor: str | None) -> tuple[str, UUID] | None:
    """A value and an id; InvalidInput for what was not written by us."""
    if cursor is None:
        return None
    try:
        value, last_id = _values(cursor)
        return value, UUID(last_id)
    except _NOT_OURS as error:
        raise InvalidInput("cursor", cursor, _FIX) from error


def write_name_cursor(name: str) -> str:
    """Of a list in the order of what is its own id."""
    return _written([name])


def read_name_cursor(cursor: str | None) -> str | None:
    if cursor is None:
        return None
    try:
        (name,) = _values(cursor)
        return name
    except _NOT_OURS as error:
        raise InvalidInput("cursor", cursor, _FIX) from error


def _written(values: list[str]) -> str:
    text = json.dumps(values, ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _values(cursor: str) -> list[str]:
    padded = cursor + "=" * (-len(cursor) % 4)
    values: Any = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    for value in values:
        check_text("cursor", value)
    return values


def write_time_cursor(cursor: TimeCursor) -> str:
    at, last_id = cursor
    return write_cursor(iso(at), last_id)


def read_time_cursor(cursor: str | None) -> TimeCursor | None:
    pair = read_cursor(cursor)
    fix = "it is of another list; take `next` of the page before, or leave it out"
    return pair and (_instant(cursor, pair[0], fix), pair[1])


def write_endpoint_cursor(stored: StoredEndpoint, order: EndpointOrder) -> str:
    by_next_run = order is EndpointOrder.NEXT_RUN
    value = stored.next_run_at if by_next_run else getattr(stored.endpoint, order)
    return write_cursor(iso(value) if isinstance(value, datetime) else value, stored.endpoint.id)


def read_endpoint_cursor(cursor: str | None, order: EndpointOrder) -> tuple[str, UUID] | None:
    pair = read_cursor(cursor)
    if pair is None or order is EndpointOrder.NAME:
        return pair
    # As we write it: Python reads more ways to write an instant than the database does.
    return iso(_instant(cursor, pair[0], "it is of a list in another order; leave it out")), pair[1]


def _instant(cursor: str | None, value: str, fix: str) -> datetime:
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise ValueError("no zone")
        return at.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput("cursor", cursor, fix) from error
