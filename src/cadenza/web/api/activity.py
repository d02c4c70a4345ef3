"""How much runs, and how: runs by time and family, endpoints by state, what planners spend."""

from datetime import timedelta
from uuid import UUID

from cadenza.application.ports.activity import ActivitySearch
from cadenza.application.scores import EARLIEST
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import iso, milliseconds
from cadenza.domain.score import LONGEST_RANGE, bucket_width
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.parsing.query import Buckets, Days, From, JobIds, To, check_order
from cadenza.web.api.routes import router
from cadenza.web.api.schemas.activity import (
    ActivityResponse,
    JobStripsResponse,
    PlannerDaysResponse,
    StateCountsResponse,
    activity_response,
    job_strip_response,
)

routes = router("Activity")
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MINUTE = timedelta(minutes=1)


@routes.get("/activity")
async def get_activity(
    caller: Reader,
    dependencies: ApiDependencies,
    from_at: From = None,
    to: To = None,
    buckets: Buckets = 60,
    job_id: UUID | None = None,
    endpoint_id: UUID | None = None,
) -> ActivityResponse:
    """Runs by family and outcome, and how late and how long they were; the last hour where nothing
    else is asked for."""
    to_at = to or dependencies.around.clock.now()
    from_at = from_at or max(to_at, EARLIEST) - HOUR
    check_order(from_at, to_at)
    if to_at - from_at > LONGEST_RANGE:
        raise InvalidInput("from", iso(from_at), "at most 31 days before `to`")
    await _check_ours(dependencies, caller.tenant_id, job_id, endpoint_id)
    width = bucket_width(to_at - from_at, buckets)
    search = ActivitySearch(from_at, to_at, width, job_id, endpoint_id)
    activity = await dependencies.reads.activity.run_activity(caller.tenant_id, search)
    return activity_response(activity, from_at, to_at, width)


async def _check_ours(
    dependencies: Dependencies, tenant_id: UUID, job_id: UUID | None, endpoint_id: UUID | None
) -> None:
    if job_id is not None:
        await dependencies.reads.jobs.get_job(tenant_id, job_id)
    if endpoint_id is not None:
        await dependencies.reads.endpoints.get_endpoint(tenant_id, endpoint_id)


@routes.get("/activity/jobs")
async def get_job_strips(
    caller: Reader, dependencies: ApiDependencies, job_id: JobIds = None
) -> JobStripsResponse:
    """Of each of these jobs the last hour by minute, and its endpoints by state."""
    now = dependencies.around.clock.now()
    from_at = now.replace(second=0, microsecond=0) - 59 * MINUTE
    reads = dependencies.reads.activity
    wanted = list(dict.fromkeys(job_id or ()))
    states = await reads.states_of_jobs(caller.tenant_id, wanted)
    strips = await reads.job_strips(caller.tenant_id, wanted, from_at, MINUTE)
    return JobStripsResponse(
        from_at=from_at,
        bucket_ms=milliseconds(MINUTE),
        items=[
            job_strip_response(own, states.get(own), strips.get(own))
            for own in wanted
            if own in states or own in strips
        ],
    )


@routes.get("/activity/states")
async def get_states(
    caller: Reader, dependencies: ApiDependencies, job_id: UUID | None = None
) -> StateCountsResponse:
    """How many endpoints are in which state."""
    await _check_ours(dependencies, caller.tenant_id, job_id, None)
    counts = await dependencies.reads.activity.count_states(caller.tenant_id, job_id)
    return StateCountsResponse.model_validate(counts)


@routes.get("/activity/planner")
async def get_planner_days(
    caller: Reader, dependencies: ApiDependencies, days: Days = 30
) -> PlannerDaysResponse:
    """Sessions, tokens and cost by day in UTC, and how often planners looked and did nothing."""
    today = dependencies.around.clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
    reads = dependencies.reads.activity
    rows = await reads.sessions_by_day(caller.tenant_id, today - (days - 1) * DAY)
    looks = await reads.idle_looks(caller.tenant_id)
    return PlannerDaysResponse.model_validate({"items": rows, "idle_looks": looks})
