"""Pages of lists, each with the cursor of the next one."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pydantic import BaseModel, Field

from cadenza.application.ports.search_result import SearchResult
from cadenza.web.api.parsing.cursors import write_time_cursor

T = TypeVar("T")
Row = TypeVar("Row")


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: str | None = Field(
        default=None, description="The cursor of the next page; null where this is the last."
    )


class TimePage(Page[T]):
    next: str | None = Field(
        default=None,
        description="The cursor of the next page; null where this is the last. A request looks at "
        "a bounded number of rows: with filters that match rarely, a page may be short, or even "
        "empty, and still have a next one.",
    )


def page_response(
    rows: Sequence[Row], limit: int, respond: Callable[[Row], T], cursor_of: Callable[[Row], str]
) -> Page[T]:
    """Of rows that were asked for with one over the limit: it tells whether there are more."""
    following = cursor_of(rows[limit - 1]) if len(rows) > limit else None
    return Page[T](items=[respond(row) for row in rows[:limit]], next=following)


def time_page_response(result: SearchResult[Row], respond: Callable[[Row], T]) -> TimePage[T]:
    following = None if result.reached is None else write_time_cursor(result.reached)
    return TimePage[T](items=[respond(row) for row in result.items], next=following)
