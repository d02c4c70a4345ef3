"""What needs a person, and whether the rest is calm."""

from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request
from starlette.responses import Response

from cadenza.application.ports.catalogue import EndpointSearch, JobSearch, StoredEndpoint
from cadenza.application.ports.notifications import IncidentSearch
from cadenza.application.ports.run_search import RunSearch
from cadenza.domain.endpoint import EndpointState
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.authorship import authors_of
from cadenza.web.dashboard.charts import runs_a_minute, strips_of
from cadenza.web.dashboard.pages.lists import coming_up, endpoint_names
from cadenza.web.dashboard.rendering import page
from cadenza.web.dashboard.visitor import PageDependencies, Reader, Visitor

routes = APIRouter()
MOST = 5
LAST_RUNS = 8
JOBS = 8  # with a strip of their last hour


@dataclass(frozen=True, slots=True)
class Concern:
    """A kind of thing that may need a person, with the first few of it."""

    state: EndpointState
    title: str
    calm: str  # what is said where there is none
    endpoints: Sequence[StoredEndpoint]
    count: int


_CONCERNS = (
    (EndpointState.FAILING, "Failing", "Nothing is failing."),
    (EndpointState.LATE, "Late", "Nothing is late."),
    (EndpointState.PAUSED, "Paused", "Nothing is paused."),
    (EndpointState.HINTED, "Off the baseline", "Everything runs on its baseline."),
)


@routes.get("/")
async def show_overview(
    request: Request, visitor: Reader, dependencies: PageDependencies
) -> Response:
    tenant_id, reads = visitor.caller.tenant_id, dependencies.reads
    counts = await reads.activity.count_states(tenant_id)
    concerns = [
        await _concern(dependencies, visitor, concern, getattr(counts, concern[0]))
        for concern in _CONCERNS
    ]
    recent = await reads.runs.search_runs(tenant_id, RunSearch(limit=LAST_RUNS))
    month, allowance = await dependencies.quotas.of_tenant(tenant_id)
    jobs = await reads.jobs.list_jobs(tenant_id, JobSearch(limit=JOBS))
    return await page(
        request,
        "overview.html",
        entry="/",
        concerns=concerns,
        usage=await reads.usage.usage(tenant_id),
        upcoming=await coming_up(dependencies, visitor),
        runs=recent.items,
        authors=await authors_of(dependencies, recent.items),
        names=await endpoint_names(
            dependencies, visitor, (run.endpoint_id for run in recent.items)
        ),
        runs_a_minute=await runs_a_minute(dependencies, visitor),
        jobs=jobs,
        strips=await strips_of(dependencies, visitor, [stored.job.id for stored in jobs]),
        suggestions=await reads.suggestions.open_suggestions(tenant_id, MOST),
        incidents=await reads.notifications.list_incidents(
            tenant_id, IncidentSearch(is_open=True, limit=MOST)
        ),
        month=month,
        allowance=allowance,
        tenant=await reads.tenants.get_tenant(tenant_id),
        stop=await reads.planner_stops.planner_stop(tenant_id),
    )


async def _concern(
    dependencies: Dependencies, visitor: Visitor, kind: tuple[EndpointState, str, str], count: int
) -> Concern:
    state, title, calm = kind
    if not count:
        return Concern(state, title, calm, (), 0)
    search = EndpointSearch(state=state, limit=MOST)
    reads = dependencies.reads.endpoints
    endpoints = await reads.list_endpoints(visitor.caller.tenant_id, search)
    return Concern(state, title, calm, endpoints, max(count, len(endpoints)))
