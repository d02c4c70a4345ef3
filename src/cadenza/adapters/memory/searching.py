"""Searches over rows in memory: everything is looked at, and a page of it is given back."""

from collections.abc import Callable, Collection, Iterable
from typing import TypeVar
from uuid import UUID

from cadenza.application.ports.search_result import SearchResult, Span, TimeCursor

T = TypeVar("T")
_FIRST = UUID(int=0)


def contains(text: str | None, piece: str | None) -> bool:
    """In any case; whatever there is contains no piece at all."""
    return not piece or (text is not None and piece.lower() in text.lower())


def newest_first(
    rows: Iterable[T],
    cursor_of: Callable[[T], TimeCursor],
    search: Span,
) -> SearchResult[T]:
    """Those before the last one seen, or before the end of what was asked for."""
    end = search.after or ((search.to_at, _FIRST) if search.to_at is not None else None)
    matches = [
        row
        for row in rows
        if (end is None or cursor_of(row) < end)
        and (search.from_at is None or cursor_of(row)[0] >= search.from_at)
    ]
    matches.sort(key=cursor_of, reverse=True)
    page = matches[: search.limit]
    return SearchResult(page, cursor_of(page[-1]) if len(matches) > search.limit else None)


def is_among(job_id: UUID, job_ids: Collection[UUID] | None) -> bool:
    return job_ids is None or job_id in job_ids
