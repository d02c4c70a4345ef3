"""All endpoints: one of many is found by its state, job, name or address; or several are steered at
once."""

from collections import Counter
from collections.abc import Mapping
from uuid import UUID

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from cadenza.application.bulk import BulkAction, BulkResult
from cadenza.application.ports.catalogue import EndpointSearch
from cadenza.domain.endpoint import EndpointOrder, EndpointState
from cadenza.domain.errors import InvalidInput
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.cursors import read_endpoint_cursor
from cadenza.web.dashboard.forms import Form
from cadenza.web.dashboard.pages.jobs import word_or_none
from cadenza.web.dashboard.pages.lists import endpoint_rows
from cadenza.web.dashboard.policy import HEADERS
from cadenza.web.dashboard.query import PAGE, choice, identifier, word
from cadenza.web.dashboard.rendering import back_or, done, page
from cadenza.web.dashboard.visitor import Operator, PageDependencies, Reader, Sent, Visitor
from cadenza.web.dashboard.words import plural

routes = APIRouter()
ENTRY = "/jobs"
MOST_REASON = 500
ORDERS = {
    EndpointOrder.NAME: "Sort by name",
    EndpointOrder.NEXT_RUN: "Sort by next run",
    EndpointOrder.CREATED: "Oldest first",
}


@routes.get("/jobs/endpoints")
async def list_endpoints(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    order = choice(request, "sort", EndpointOrder) or EndpointOrder.NAME
    search = EndpointSearch(
        job_id=identifier(request, "job"),
        search=word(request, "search"),
        state=choice(request, "state", EndpointState),
        order=order,
        after=read_endpoint_cursor(word_or_none(request, "cursor"), order),
        limit=PAGE + 1,
    )
    rows = await reads.endpoints.list_endpoints(tenant_id, search)
    job = await reads.jobs.get_job(tenant_id, search.job_id) if search.job_id else None
    counts = await _counts(search, visitor, dependencies)
    return await page(
        request,
        "endpoints/list.html",
        entry=ENTRY,
        rows=endpoint_rows(request, rows, order),
        search=search,
        job=job,
        counts=counts,
        matches=_matches(search, counts),
        orders=ORDERS,
    )


async def _counts(
    search: EndpointSearch, visitor: Visitor, dependencies: Dependencies
) -> dict[EndpointState, int | None]:
    """How many there are of each state, whatever else is searched for; archived ones are not
    counted."""
    reads = dependencies.reads.activity
    counts = await reads.count_states(visitor.caller.tenant_id, search.job_id)
    return {
        EndpointState.FAILING: counts.failing,
        EndpointState.LATE: counts.late,
        EndpointState.PAUSED: counts.paused,
        EndpointState.HINTED: counts.hinted,
        EndpointState.ACTIVE: counts.total - counts.paused,
        EndpointState.ARCHIVED: None,
    }


def _matches(search: EndpointSearch, counts: Mapping[EndpointState, int | None]) -> int | None:
    """How many there are on all pages, where that is known already."""
    if search.search is not None:
        return None
    if search.state is not None:
        return counts[search.state]
    active, paused = counts[EndpointState.ACTIVE], counts[EndpointState.PAUSED]
    return (active or 0) + (paused or 0)


# --- Several at once --------------------------------------------------------------------------

_DONE = {
    BulkAction.PAUSE: "paused",
    BulkAction.RESUME: "resumed",
    BulkAction.CLEAR_HINTS: "back on the baseline",
    BulkAction.RESET_FAILURES: "free of their failures",
}


@routes.post("/jobs/endpoints/bulk")
async def act_on_many(form: Sent, visitor: Operator, dependencies: PageDependencies) -> Response:
    back, ids = back_or(form, "/jobs/endpoints"), _chosen(form)
    if not ids:
        return done(back, "Select at least one endpoint first.", is_error=True)
    action, reason = action_of(form), reason_of(form)
    results = await dependencies.bulk_steering.act(visitor.caller, ids, action, None, reason)
    return done(back, counted(action, Counter(results.values())))


def counted(action: BulkAction, counts: Counter[BulkResult]) -> str:
    parts = [f"{plural(counts[BulkResult.DONE], 'endpoint')} {_DONE[action]}"]
    for result, words in (
        (BulkResult.UNCHANGED, "already so"),
        (BulkResult.ARCHIVED, "archived"),
        (BulkResult.NOT_FOUND, "gone"),
    ):
        if counts[result]:
            parts.append(f"{counts[result]} {words}")
    return f"{', '.join(parts)}."


def action_of(form: Form) -> BulkAction:
    try:
        return BulkAction(form.text("act"))
    except ValueError as error:
        raise InvalidInput("act", form.text("act"), f"one of {', '.join(BulkAction)}") from error


def reason_of(form: Form) -> str:
    reason = form.text("reason")
    if len(reason) > MOST_REASON:
        raise InvalidInput("reason", reason, f"at most {MOST_REASON} characters")
    return reason


def _chosen(form: Form) -> list[UUID]:
    try:
        return [UUID(text) for text in form.several("id")]
    except ValueError as error:
        raise InvalidInput("id", "what was sent", "ids of endpoints") from error


@routes.get("/endpoints")
async def move_on(request: Request) -> Response:
    """Where the list was before it belonged to the jobs."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"/jobs/endpoints{query}", 308, HEADERS)
