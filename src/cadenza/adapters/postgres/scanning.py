"""Searches that look at a bounded number of rows: a small step first, larger ones if it must be.

An index leads to the rows in their order; what no index can tell (a status, a piece of text) is
looked at row by row. A rare match would make that endless, so that after the last step the search
says where it has come to, and whoever wants more asks again from there.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar
from uuid import UUID

from cadenza.adapters.postgres.queries import Source, query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.search_result import SearchResult, TimeCursor

T = TypeVar("T")


async def scan(
    source: Source,
    name: str,
    before: Sequence[Any],
    behind: Sequence[Any],
    *,
    start: tuple[Any, Any],
    steps: Sequence[int],
    limit: int,
    value_of: Callable[[Row], T],
    cursor_of: Callable[[T], TimeCursor],
) -> SearchResult[T]:
    """The statement takes `before`, a cursor, a step's size, a limit, and what is `behind`."""
    items: list[T] = []
    for size in steps:
        wanted = limit + 1 - len(items)
        rows = await source.fetch(query(name), *before, *start, size, wanted, *behind)
        items += [value_of(row) for row in rows if row["id"] is not None]
        if len(items) > limit:
            return SearchResult(items[:limit], cursor_of(items[limit - 1]))
        if not rows or rows[0]["scanned"] < size:
            return SearchResult(items)
        start = rows[0]["reached_at"], rows[0]["reached_id"]
    at, last_id = start
    return SearchResult(items, (at, last_id if isinstance(last_id, UUID) else UUID(int=last_id)))


def steps_of(largest: Sequence[int], limit: int, *, is_plain: bool) -> Sequence[int]:
    """One step is enough where every row is wanted."""
    return (limit + 1,) if is_plain else [max(limit + 1, size) for size in largest]
