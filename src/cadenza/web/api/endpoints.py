"""Endpoints: created, listed, changed, archived, tested; and what lies ahead of them."""

from dataclasses import asdict
from functools import partial
from uuid import UUID

from fastapi import Response

from cadenza.application.ports.catalogue import EndpointSearch, StoredEndpoint
from cadenza.domain.endpoint import EndpointOrder
from cadenza.domain.instants import milliseconds
from cadenza.manifest.reading import read_endpoint
from cadenza.web.api.access import ApiDependencies, Operator, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.bodies import (
    EndpointMergePatch,
    EndpointPatch,
    NewDraft,
    NewEndpoint,
)
from cadenza.web.api.parsing.cursors import read_endpoint_cursor, write_endpoint_cursor
from cadenza.web.api.parsing.headers import Idempotency, IfMatch, tag
from cadenza.web.api.parsing.query import (
    Count,
    Cursor,
    DryRun,
    Limit,
    Named,
    Order,
    Searched,
    State,
)
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.endpoints import (
    DraftPreviewResponse,
    EndpointDetailResponse,
    EndpointResponse,
    ExplanationResponse,
    PreviewResponse,
    TestCallResponse,
    UpcomingRunResponse,
    endpoint_detail_response,
    endpoint_response,
    explanation_response,
)
from cadenza.web.api.schemas.pages import Page, page_response
from cadenza.web.api.schemas.removal import RemovalResponse, removal_response

routes = router("Endpoints")
outlook_routes = router("Outlook", "/endpoints/{endpoint_id}")
draft_routes = router("Outlook", "/preview")


@routes.post("/jobs/{job_id}/endpoints", status_code=201)
async def create_endpoint(
    job_id: UUID,
    body: NewEndpoint,
    response: Response,
    caller: Operator,
    dependencies: ApiDependencies,
    idempotency: Idempotency,
) -> EndpointDetailResponse:
    definition, record = read_endpoint(body), idempotency.record(body)
    endpoint, replayed = await dependencies.endpoints.create(caller, job_id, definition, record)
    idempotency.mark(replayed)
    return _with_outlook(dependencies, response, endpoint)


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
    stored, warnings = await dependencies.endpoints.redefine(caller, endpoint_id, patch, seen)
    detail = _with_outlook(dependencies, response, stored)
    return detail.model_copy(update={"warnings": [*warnings, *detail.warnings]})


@routes.post("/endpoints/{endpoint_id}/archive")
async def archive_endpoint(
    endpoint_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> EndpointResponse:
    """Its end; its history stays."""
    stored = await dependencies.endpoints.archive(caller, endpoint_id)
    tag(response, stored.revision)
    return endpoint_response(stored)


@routes.post("/endpoints/{endpoint_id}/restore")
async def restore_endpoint(
    endpoint_id: UUID, response: Response, caller: Operator, dependencies: ApiDependencies
) -> EndpointDetailResponse:
    """Undo its end."""
    stored = await dependencies.archive.restore_endpoint(caller, endpoint_id)
    return _with_outlook(dependencies, response, stored)


@routes.delete("/endpoints/{endpoint_id}")
async def delete_endpoint(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies, dry_run: DryRun = False
) -> RemovalResponse:
    """For good, with its runs and sessions; only what is archived. It does not come back."""
    archive = dependencies.archive
    if dry_run:
        return removal_response(await archive.what_goes(caller, endpoint_id=endpoint_id))
    return removal_response(await archive.delete_endpoint(caller, endpoint_id))


@routes.post("/endpoints/{endpoint_id}/test")
async def test_endpoint(
    endpoint_id: UUID, caller: Operator, dependencies: ApiDependencies
) -> TestCallResponse:
    """Call the target once, now. It is no run, and counts for nothing."""
    outcome, took = await dependencies.endpoint_test.call(caller, endpoint_id)
    return TestCallResponse(duration_ms=milliseconds(took), **asdict(outcome))


@outlook_routes.get("/explain")
async def explain_next_run(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> ExplanationResponse:
    """Why it runs next when it does, what was considered, and what would change it."""
    stored, explanation = await dependencies.outlook.explain(caller.tenant_id, endpoint_id)
    return explanation_response(endpoint_id, stored.read_at, explanation)


@outlook_routes.get("/preview")
async def preview(
    endpoint_id: UUID,
    caller: Reader,
    dependencies: ApiDependencies,
    count: Count = 10,
) -> PreviewResponse:
    """The next runs, if each of them goes well and takes no time."""
    stored, planned, baseline = await dependencies.outlook.preview(
        caller.tenant_id, endpoint_id, count
    )
    return PreviewResponse(
        endpoint_id=endpoint_id,
        at=stored.read_at,
        planned=[UpcomingRunResponse.model_validate(run) for run in planned],
        baseline=[UpcomingRunResponse.model_validate(run) for run in baseline],
    )


@draft_routes.post("")
async def preview_draft(
    body: NewDraft, _caller: Reader, dependencies: ApiDependencies, count: Count = 10
) -> DraftPreviewResponse:
    """The next runs of a schedule that is not saved; nothing is kept of it."""
    now = dependencies.around.clock.now()
    outlook = dependencies.outlook
    upcoming, warnings = await outlook.preview_draft(body.parsed(), now, count)
    runs = [UpcomingRunResponse.model_validate(run) for run in upcoming]
    return DraftPreviewResponse(at=now, next_runs=runs, warnings=warnings)
