"""Runs: listed and filtered, and each with how it came to be."""

from uuid import UUID

from cadenza.application.ports.run_authors import authors_of_runs
from cadenza.application.ports.run_search import ListedRun, RunSearch
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.parsing.cursors import read_time_cursor
from cadenza.web.api.parsing.query import (
    Cursor,
    From,
    Limit,
    Searched,
    Sources,
    StatusCode,
    Statuses,
    To,
    check_order,
)
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.pages import TimePage, time_page_response
from cadenza.web.api.schemas.runs import (
    HealthResponse,
    HealthWindowResponse,
    ListedRunResponse,
    RunDetailResponse,
    listed_run_response,
    run_detail_response,
)

routes = router("Runs")


@routes.get("/runs")
async def list_runs(
    caller: Reader,
    dependencies: ApiDependencies,
    endpoint_id: UUID | None = None,
    job_id: UUID | None = None,
    status: Statuses = None,
    source: Sources = None,
    is_manual: bool | None = None,
    error: Searched = None,
    status_code: StatusCode = None,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[ListedRunResponse]:
    """Newest slot first, without what they answered; `error` is a piece of kind or message."""
    check_order(from_at, to)
    statuses, sources, after = tuple(status or ()), tuple(source or ()), read_time_cursor(cursor)
    criteria = RunSearch(
        from_at,
        to,
        after,
        limit,
        endpoint_id,
        job_id,
        statuses,
        sources,
        is_manual,
        error,
        status_code,
    )
    reads = dependencies.reads
    runs = await reads.runs.search_runs(caller.tenant_id, criteria)
    wanted = {run.endpoint_id for run in runs.items}
    names = await reads.endpoints.endpoint_names(caller.tenant_id, wanted)
    authors = await authors_of_runs(reads.run_authors, runs.items)

    def listed(run: ListedRun) -> ListedRunResponse:
        author = authors.get((run.endpoint_id, run.slot_at)) if authors else None
        return listed_run_response(run, names.get(run.endpoint_id), author)

    return time_page_response(runs, listed)


@routes.get("/runs/{run_id}")
async def get_run(run_id: UUID, caller: Reader, dependencies: ApiDependencies) -> RunDetailResponse:
    reads = dependencies.reads
    stored = await reads.runs.get_run(caller.tenant_id, run_id)
    authors = await authors_of_runs(reads.run_authors, [stored.run])
    return run_detail_response(stored, next(iter(authors.values()), None))


@routes.get("/endpoints/{endpoint_id}/health")
async def get_health(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> HealthResponse:
    """How its runs ended over the last hour, four hours and day."""
    health = await dependencies.reads.runs.health_of(caller.tenant_id, endpoint_id)
    mean = health.mean_duration
    return HealthResponse(
        endpoint_id=endpoint_id,
        windows=[HealthWindowResponse.model_validate(window) for window in health.windows],
        mean_duration_ms=None if mean is None else mean.total_seconds() * 1000,
        failure_streak=health.failure_streak,
    )
