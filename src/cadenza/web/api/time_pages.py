"""Pages of lists by time, whose searches are bounded."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Generic, TypeVar
from uuid import UUID

from fastapi import Query
from pydantic import BaseModel, Field

from cadenza.application.ports.search_result import SearchResult, TimeCursor
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso
from cadenza.web.api.instants import Instant
from cadenza.web.api.paging import read_cursor, write_cursor

T = TypeVar("T")
Kept = TypeVar("Kept")


class TimePage(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = Field(
        default=None,
        description="The cursor of the next page; null where this is the last. A request looks at "
        "a bounded number of rows: with filters that match rarely, a page may be short, or even "
        "empty, and still have a next one.",
    )


From = Annotated[Instant | None, Query(alias="from", description="Not before this instant.")]
To = Annotated[Instant | None, Query(description="Before this instant.")]


def read_place(cursor: str | None) -> TimeCursor | None:
    read = read_cursor(cursor)
    if read is None:
        return None
    value, last_id = read
    try:
        at = datetime.fromisoformat(value)
        if at.tzinfo is None:
            raise ValueError("no zone")
        return at.astimezone(UTC), last_id
    except (ValueError, OverflowError) as error:
        fix = "it is of another list; take `next` of the page before, or leave it out"
        raise InvalidInput("cursor", cursor, fix) from error


def time_page(found: SearchResult[Kept], shown: Callable[[Kept], T]) -> TimePage[T]:
    following = None if found.reached is None else _written(found.reached)
    return TimePage[T](items=[shown(each) for each in found.items], next=following)


def _written(place: tuple[datetime, UUID]) -> str:
    return write_cursor(iso(place[0]), place[1])


def check_order(from_at: datetime | None, to_at: datetime | None) -> None:
    if from_at is not None and to_at is not None and from_at >= to_at:
        raise InvalidInput("to", iso(to_at), "an instant after `from`")
