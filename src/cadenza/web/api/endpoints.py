"""Endpoints: created, listed, changed, archived, tested."""

from datetime import datetime
from functools import partial
from uuid import UUID

from fastapi import Request, Response

from cadenza.application.ports.catalogue import EndpointOrder, EndpointSearch, StoredEndpoint
from cadenza.domain import steering
from cadenza.domain.definition import EndpointDefinition, check_endpoint, warnings_of
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import Source
from cadenza.domain.preview import next_runs
from cadenza.domain.run import Claim
from cadenza.manifest.models import EndpointDocument
from cadenza.manifest.reading import merged, read_endpoint
from cadenza.manifest.writing import endpoint_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.bodies import EndpointPatch, NewEndpoint, validated
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

NEXT_RUNS = 5
routes = router("Endpoints")


@routes.post("/jobs/{job_id}/endpoints", status_code=201)
async def create_endpoint(
    job_id: UUID,
    body: NewEndpoint,
    request: Request,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    key: IdempotencyKey,
) -> EndpointDetailResponse:
    now = dependencies.clock.now()
    definition = read_endpoint(body)
    check_endpoint(definition, dependencies.validation_policy, now, dependencies.cron)
    endpoint = Endpoint(
        id=dependencies.new_id(),
        tenant_id=caller.tenant_id,
        job_id=job_id,
        name=definition.name,
        baseline=definition.baseline,
        created_at=now,
        min_interval=definition.min_interval,
        max_interval=definition.max_interval,
    )
    endpoint_id = await dependencies.endpoints.create_endpoint(
        endpoint,
        definition.target,
        audit_entry(caller, "endpoint.create", name=definition.name),
        idempotency_record(request, key, body),
    )
    mark_replayed(response, endpoint_id != endpoint.id)
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    return _with_outlook(dependencies, response, stored)


def _with_outlook(
    dependencies: Dependencies, response: Response, stored: StoredEndpoint
) -> EndpointDetailResponse:
    tag(response, stored.revision)
    now, cron = stored.read_at, dependencies.cron
    upcoming = next_runs(stored.endpoint, now, cron, NEXT_RUNS)
    return endpoint_detail_response(stored, upcoming, warnings_of(stored.definition, now, cron))


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
    endpoints = await dependencies.endpoints.list_endpoints(caller.tenant_id, criteria)
    cursor_of = partial(write_endpoint_cursor, order=sort)
    return page_response(endpoints, limit, endpoint_response, cursor_of)


@routes.get("/endpoints/{endpoint_id}")
async def get_endpoint(
    endpoint_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> EndpointDetailResponse:
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
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
    def redefine(present: StoredEndpoint) -> EndpointDefinition:
        document = merged(endpoint_document(present.definition), body)
        definition = read_endpoint(validated(EndpointDocument, document))
        policy, now = dependencies.validation_policy, present.read_at
        check_endpoint(definition, policy, now, dependencies.cron)
        return definition

    entry = audit_entry(caller, "endpoint.change", fields=sorted(body))
    stored = await dependencies.endpoints.redefine_endpoint(
        caller.tenant_id, endpoint_id, redefine, entry, seen
    )
    return _with_outlook(dependencies, response, stored)


@routes.post("/endpoints/{endpoint_id}/archive")
async def archive_endpoint(
    endpoint_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Its end; its history stays."""
    stored = await dependencies.endpoints.steer_endpoint(
        caller.tenant_id, endpoint_id, steering.archive, audit_entry(caller, "endpoint.archive")
    )
    tag(response, stored.revision)
    return endpoint_response(stored)


@routes.post("/endpoints/{endpoint_id}/test")
async def test_endpoint(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> TestCallResponse:
    """Call the target once, now. It is no run, and counts for nothing."""
    stored = await dependencies.endpoints.target_to_call(caller.tenant_id, endpoint_id)
    started_at = dependencies.clock.now()
    outcome = await dependencies.dispatcher.dispatch(_test_claim(dependencies, stored, started_at))
    return TestCallResponse(
        status=outcome.status,
        status_code=outcome.status_code,
        error_kind=outcome.error_kind,
        error_message=outcome.error_message,
        duration_ms=milliseconds(dependencies.clock.now() - started_at),
        body=outcome.body,
    )


def _test_claim(dependencies: Dependencies, stored: StoredEndpoint, now: datetime) -> Claim:
    endpoint = stored.endpoint
    return Claim(
        run_id=dependencies.new_id(),
        endpoint_id=endpoint.id,
        tenant_id=endpoint.tenant_id,
        job_id=endpoint.job_id,
        endpoint_name=endpoint.name,
        target=stored.target,
        slot_at=now,
        source=Source.MANUAL,
        epoch=1,
        first_claimed_at=now,
        host=stored.target.host,
        is_manual=True,
    )
