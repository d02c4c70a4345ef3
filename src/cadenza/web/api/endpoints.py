"""Endpoints: created, listed, changed, archived, tested."""

from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Body, Query, Request, Response
from pydantic import ValidationError

from cadenza.application.ports.catalogue import (
    EndpointOrder,
    EndpointSearch,
    EndpointState,
    StoredEndpoint,
)
from cadenza.domain import steering
from cadenza.domain.definition import EndpointDefinition, check_endpoint, warnings_of
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso, milliseconds
from cadenza.domain.plan import Source
from cadenza.domain.preview import next_runs
from cadenza.domain.run import Claim
from cadenza.manifest.models import EndpointDocument
from cadenza.manifest.reading import errors_of, merged, read_endpoint
from cadenza.manifest.writing import endpoint_document
from cadenza.web.api.access import ApiDependencies, Operator, Reader, audit_entry
from cadenza.web.api.conditions import IdempotencyKey, IfMatch, mark_replayed, once, tag
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.paging import (
    Cursor,
    Limit,
    Named,
    Page,
    Searched,
    cut,
    read_cursor,
    write_cursor,
)
from cadenza.web.api.problems import Invalid
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import (
    EndpointCreated,
    EndpointShown,
    Shown,
    endpoint_created,
    endpoint_shown,
)

SHOWN_RUNS = 5
routes = router("Endpoints")
_A_DOCUMENT = {"name": "orders", "every": "5m", "url": "https://shop.example/orders"}


def _patch_schema() -> dict[str, Any]:
    """That of the document, with nothing required, and headers that null takes away."""
    schema = EndpointDocument.model_json_schema()
    for field in ("headers", "secret_headers"):
        schema["properties"][field]["anyOf"][0]["additionalProperties"] = {
            "anyOf": [{"type": "string"}, {"type": "null"}]
        }
    return {"properties": schema["properties"], "additionalProperties": False}


@routes.post("/jobs/{job_id}/endpoints", status_code=201)
async def create_endpoint(
    job_id: UUID,
    body: Annotated[EndpointDocument, Body(examples=[_A_DOCUMENT])],
    request: Request,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    key: IdempotencyKey,
) -> EndpointCreated:
    now = dependencies.clock.now()
    definition = read_endpoint(body)
    check_endpoint(definition, dependencies.door, now, dependencies.cron)
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
        once(request, key, body),
    )
    mark_replayed(response, endpoint_id != endpoint.id)
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    return _with_outlook(dependencies, response, stored)


def _with_outlook(
    dependencies: Dependencies, response: Response, stored: StoredEndpoint
) -> EndpointCreated:
    tag(response, stored.revision)
    now, cron = stored.read_at, dependencies.cron
    upcoming = next_runs(stored.endpoint, now, cron, SHOWN_RUNS)
    return endpoint_created(stored, upcoming, warnings_of(stored.definition, now, cron))


@routes.get("/endpoints")
async def list_endpoints(
    caller: Reader,
    dependencies: ApiDependencies,
    job_id: UUID | None = None,
    name: Named = None,
    search: Searched = None,
    state: Annotated[
        EndpointState | None, Query(description="Left out: all that are not archived.")
    ] = None,
    sort: Annotated[
        EndpointOrder, Query(description="next_run_at: only those that have one.")
    ] = EndpointOrder.CREATED,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[EndpointShown]:
    after = read_cursor(cursor)
    if after is not None and sort is not EndpointOrder.NAME:
        after = (_instant(cursor, after[0]), after[1])
    wanted = EndpointSearch(job_id, name, search, state, sort, after, limit + 1)
    found, more = cut(await dependencies.endpoints.list_endpoints(caller.tenant_id, wanted), limit)
    following = _place(found[-1], sort) if more else None
    return Page[EndpointShown](items=[endpoint_shown(each) for each in found], next=following)


def _place(stored: StoredEndpoint, order: EndpointOrder) -> str:
    by_next_run = order is EndpointOrder.NEXT_RUN
    value = stored.next_run_at if by_next_run else getattr(stored.endpoint, order)
    shown = iso(value) if isinstance(value, datetime) else value
    return write_cursor(shown, stored.endpoint.id)


def _instant(cursor: str | None, value: str) -> str:
    """As we write it: Python reads more ways to write an instant than the database does."""
    try:
        return iso(datetime.fromisoformat(value).astimezone(UTC))
    except (ValueError, OverflowError) as error:
        fix = "it is of a list in another order; leave it out"
        raise InvalidInput("cursor", cursor, fix) from error


@routes.get("/endpoints/{endpoint_id}")
async def get_endpoint(
    endpoint_id: UUID, response: Response, caller: Reader, dependencies: ApiDependencies
) -> EndpointCreated:
    stored = await dependencies.endpoints.get_endpoint(caller.tenant_id, endpoint_id)
    return _with_outlook(dependencies, response, stored)


@routes.patch("/endpoints/{endpoint_id}")
async def change_endpoint(
    endpoint_id: UUID,
    body: Annotated[
        dict[str, Any],
        Body(
            description="A JSON merge patch of the endpoint as it is written: fields that are left "
            "out stay, null takes one away, another baseline or target replaces the present one.",
            examples=[{"every": "10m"}, {"cron": "0 9 * * mon-fri", "timezone": "Europe/Paris"}],
            json_schema_extra=_patch_schema(),
        ),
    ],
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    seen: IfMatch,
) -> EndpointCreated:
    def redefine(present: StoredEndpoint) -> EndpointDefinition:
        wanted = _read(merged(endpoint_document(present.definition), body))
        check_endpoint(wanted, dependencies.door, present.read_at, dependencies.cron)
        return wanted

    done = audit_entry(caller, "endpoint.change", fields=sorted(body))
    stored = await dependencies.endpoints.redefine_endpoint(
        caller.tenant_id, endpoint_id, redefine, done, seen
    )
    return _with_outlook(dependencies, response, stored)


def _read(document: dict[str, Any]) -> EndpointDefinition:
    try:
        return read_endpoint(EndpointDocument.model_validate(document))
    except ValidationError as error:
        raise Invalid(errors_of(error)) from error


@routes.post("/endpoints/{endpoint_id}/archive")
async def archive_endpoint(
    endpoint_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> EndpointShown:
    """Its end; its history stays."""
    stored = await dependencies.endpoints.steer_endpoint(
        caller.tenant_id, endpoint_id, steering.archive, audit_entry(caller, "endpoint.archive")
    )
    tag(response, stored.revision)
    return endpoint_shown(stored)


class TestShown(Shown):
    status: str
    status_code: int | None
    error_kind: str | None
    error_message: str | None
    duration_ms: int
    body: Any


@routes.post("/endpoints/{endpoint_id}/test")
async def test_endpoint(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> TestShown:
    """Call the target once, now. It is no run, and counts for nothing."""
    stored = await dependencies.endpoints.target_to_call(caller.tenant_id, endpoint_id)
    started_at = dependencies.clock.now()
    outcome = await dependencies.dispatcher.dispatch(_test_claim(dependencies, stored, started_at))
    return TestShown(
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
