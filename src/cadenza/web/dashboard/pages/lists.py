"""What the lists of several pages share: a page of rows with where the next begins, and names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from uuid import UUID

from fastapi import Request

from cadenza.application.ports.catalogue import (
    EndpointName,
    EndpointOrder,
    EndpointSearch,
    StoredEndpoint,
)
from cadenza.application.ports.search_result import SearchResult
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.cursors import write_endpoint_cursor, write_time_cursor
from cadenza.web.dashboard.query import PAGE, with_query
from cadenza.web.dashboard.visitor import Visitor

Row = TypeVar("Row")
SOON = 8


@dataclass(frozen=True, slots=True)
class Rows(Generic[Row]):
    items: Sequence[Row]
    next_url: str | None = None  # of the page after this one


def rows_of(
    request: Request, rows: Sequence[Row], cursor_of: Callable[[Row], str], limit: int = PAGE
) -> Rows[Row]:
    """Of rows that were asked for with one over the limit: it tells whether there are more."""
    if len(rows) <= limit:
        return Rows(rows)
    return Rows(rows[:limit], with_query(request, cursor=cursor_of(rows[limit - 1])))


def rows_by_time(request: Request, result: SearchResult[Row]) -> Rows[Row]:
    if result.reached is None:
        return Rows(result.items)
    return Rows(result.items, with_query(request, cursor=write_time_cursor(result.reached)))


def endpoint_rows(
    request: Request, rows: Sequence[StoredEndpoint], order: EndpointOrder
) -> Rows[StoredEndpoint]:
    return rows_of(request, rows, lambda row: write_endpoint_cursor(row, order))


async def endpoint_names(
    dependencies: Dependencies, visitor: Visitor, ids: Iterable[UUID]
) -> Mapping[UUID, EndpointName]:
    """Of the endpoints that a list of runs or sessions mentions, in one query."""
    endpoints = dependencies.reads.endpoints
    return await endpoints.endpoint_names(visitor.caller.tenant_id, set(ids))


async def coming_up(
    dependencies: Dependencies, visitor: Visitor, job_id: UUID | None = None, limit: int = SOON
) -> Sequence[StoredEndpoint]:
    """The endpoints that run next."""
    search = EndpointSearch(job_id=job_id, order=EndpointOrder.NEXT_RUN, limit=limit)
    return await dependencies.reads.endpoints.list_endpoints(visitor.caller.tenant_id, search)
