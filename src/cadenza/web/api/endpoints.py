"""Endpoints: created, listed, changed, archived, tested."""

from functools import partial
from uuid import UUID

from fastapi import Request, Response

from cadenza.application.ports.catalogue import EndpointSearch, StoredEndpoint
from cadenza.domain.endpoint import EndpointOrder
from cadenza.domain.instants import milliseconds
from cadenza.manifest.reading import read_endpoint
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.bodies import EndpointMergePatch, EndpointPatch, NewEndpoint
from cadenza.web.api.parsing.cursors import read_endpoint_cursor, write_endpoint_cursor
from cadenza.web.api.parsing.headers import (
    IdempotencyKey,
    IfMatch,
    idempotency_record,
    mark_replayed,
    tag,
)
from cadenza.web.api.parsing.query import Cursor, Limit, Named, Order, Searched, State
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.endpoints import (
    EndpointDetailResponse,
    EndpointResponse,
    TestCallResponse,
    endpoint_detail_response,
    endpoint_response,
)
from cadenza.web.api.schemas.pages import Page, page_response

routes = router("Endpoints")


@routes.post("/jobs/{job_id}/endpoints", status_code=201)
async def create_endpoint(
    job_id: UUID,
    body: NewEndpoint,
    request: Request,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    key: IdempotencyKey = None,
) -> EndpointDetailResponse:
    record = idempotency_record(request, key, body)
    definition = read_endpoint(body)
    created = await dependencies.endpoints.create(caller, job_id, definition, record)
    mark_replayed(response, created.replayed)
    return _with_outlook(dependencies, response, created.stored)


def _with_outlook(
    dependencies: Dependencies, response: Response, stored: StoredEndpoint
) -> EndpointDetailResponse:
    tag(response, stored.revision)
    return endpoint_detail_response(stored, *dependencies.outlook.next_runs(stored))


@routes.get("/endpoints")
async def list_endpoints(
    caller: Reader,
    dependencies: ApiDependencies,
    job_id: UUID | None = None,
    name: Named = None,
    search: Searched = None,
    state: State = None,
    sort: Order = EndpointOrder.CREATED,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[EndpointResponse]:
    after = read_endpoint_cursor(cursor, sort)
    criteria = EndpointSearch(job_id, name, search, state, sort, after, limit + 1)
    endpoints = await dependencies.reads.endpoints.list_endpoints(caller.tenant_id, criteria)
    cursor_of = partial(write_endpoint_cursor, order=sort)
    return page_response(endpoints, limit, endpoint_response, cursor_of)


@routes.get("/endpoints/{endpoint_id}")
async def get_endpoint(
    endpoint_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> EndpointDetailResponse:
    stored = await dependencies.reads.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    return _with_outlook(dependencies, response, stored)


@routes.patch("/endpoints/{endpoint_id}")
async def change_endpoint(
    endpoint_id: UUID,
    body: EndpointPatch,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    seen: IfMatch,
) -> EndpointDetailResponse:
    patch = EndpointMergePatch(body)
    stored = await dependencies.endpoints.redefine(caller, endpoint_id, patch, seen)
    return _with_outlook(dependencies, response, stored)


@routes.post("/endpoints/{endpoint_id}/archive")
async def archive_endpoint(
    endpoint_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Its end; its history stays."""
    stored = await dependencies.endpoints.archive(caller, endpoint_id)
    tag(response, stored.revision)
    return endpoint_response(stored)


@routes.post("/endpoints/{endpoint_id}/test")
async def test_endpoint(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> TestCallResponse:
    """Call the target once, now. It is no run, and counts for nothing."""
    outcome, took = await dependencies.endpoint_test.call(caller, endpoint_id)
    return TestCallResponse(
        status=outcome.status,
        status_code=outcome.status_code,
        error_kind=outcome.error_kind,
        error_message=outcome.error_message,
        duration_ms=milliseconds(took),
        body=outcome.body,
    )
