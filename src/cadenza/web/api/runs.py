"""Runs: listed and filtered, and each with how it came to be."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query
from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12, pydantic knows no other

from cadenza.application.ports.run_search import ListedRun, RunInFull, RunSearch
from cadenza.domain.health import Health
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import Source
from cadenza.domain.run import Run, RunStatus
from cadenza.web.api.access import ApiDependencies, Reader
from cadenza.web.api.paging import Cursor, Limit
from cadenza.web.api.routes import router
from cadenza.web.api.schemas import Shown
from cadenza.web.api.time_pages import From, TimePage, To, check_order, read_place, time_page

routes = router("Runs")
Statuses = Annotated[
    list[RunStatus] | None, Query(max_length=5, description="One or several of them.")
]
Sources = Annotated[
    list[Source] | None, Query(max_length=10, description="Why it ran when it did; several.")
]


class RunShown(TypedDict):
    """A dictionary, because runs are listed by hundreds and need no check."""

    id: UUID
    endpoint_id: UUID
    slot_at: Annotated[datetime, Field(description="When it was due.")]
    source: Source
    status: RunStatus
    attempt: int
    is_manual: bool
    started_at: datetime | None
    finished_at: datetime | None
    duration_ms: int | None
    status_code: int | None
    error_kind: str | None
    error_message: str | None
    skipped_slots: Annotated[int, Field(description="Slots that passed while it waited or ran.")]
    skipped_reason: str | None


class LostAttemptShown(Shown):
    attempt: int
    noted_at: datetime


class LateResultShown(Shown):
    status: RunStatus
    received_at: datetime


class RunInFullShown(RunShown):
    claimed_at: datetime
    body: Annotated[Any, Field(description="What the target answered, cut at 64 KiB.")]
    plan: Annotated[
        dict[str, Any] | None,
        Field(
            description="The plan that led to it: every candidate, the winner, clamps and inputs. "
            "null for a run that a person asked for."
        ),
    ]
    lost_attempts: Annotated[
        list[LostAttemptShown], Field(description="Whose worker never answered.")
    ]
    late_results: Annotated[
        list[LateResultShown],
        Field(
            description="Results that came when another worker had taken over; they changed "
            "nothing."
        ),
    ]


@routes.get("/runs")
async def list_runs(
    caller: Reader,
    dependencies: ApiDependencies,
    endpoint_id: UUID | None = None,
    job_id: UUID | None = None,
    status: Statuses = None,
    source: Sources = None,
    is_manual: bool | None = None,
    from_at: From = None,
    to: To = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> TimePage[RunShown]:
    """Newest slot first, without what they answered."""
    check_order(from_at, to)
    search = RunSearch(
        endpoint_id=endpoint_id,
        job_id=job_id,
        statuses=tuple(status or ()),
        sources=tuple(source or ()),
        is_manual=is_manual,
        from_at=from_at,
        to_at=to,
        after=read_place(cursor),
        limit=limit,
    )
    return time_page(await dependencies.reads.runs.search_runs(caller.tenant_id, search), run_shown)


@routes.get("/runs/{run_id}")
async def get_run(run_id: UUID, caller: Reader, dependencies: ApiDependencies) -> RunInFullShown:
    return _run_in_full(await dependencies.reads.runs.get_run(caller.tenant_id, run_id))


class HealthWindowShown(Shown):
    hours: int
    runs: int
    successes: int
    success_rate: float | None = Field(description="From 0 to 1; null where nothing ran.")


class HealthShown(Shown):
    endpoint_id: UUID
    windows: list[HealthWindowShown]
    mean_duration_ms: float | None = Field(description="Over a day; null where nothing ran.")
    failure_streak: int


@routes.get("/endpoints/{endpoint_id}/health")
async def get_health(
    endpoint_id: UUID, caller: Reader, dependencies: ApiDependencies
) -> HealthShown:
    """How its runs ended over the last hour, four hours and day."""
    health = await dependencies.reads.runs.health_of(caller.tenant_id, endpoint_id)
    return _health_shown(endpoint_id, health)


def run_shown(run: ListedRun | Run) -> RunShown:
    started_at, finished_at = run.started_at, run.finished_at
    took = finished_at - started_at if finished_at and started_at else None
    return {
        "id": run.id,
        "endpoint_id": run.endpoint_id,
        "slot_at": run.slot_at,
        "source": run.source,
        "status": run.status,
        "attempt": run.attempt,
        "is_manual": run.is_manual,
        "started_at": started_at,
        "finished_at": finished_at,
        "duration_ms": None if took is None else milliseconds(took),
        "status_code": run.status_code,
        "error_kind": run.error_kind,
        "error_message": run.error_message,
        "skipped_slots": run.skipped_slots,
        "skipped_reason": run.skipped_reason,
    }


def _run_in_full(found: RunInFull) -> RunInFullShown:
    run = found.run
    return RunInFullShown(
        **run_shown(run),
        claimed_at=run.claimed_at,
        body=run.body,
        plan=run.plan,
        lost_attempts=[
            LostAttemptShown(attempt=each.attempt, noted_at=each.noted_at)
            for each in found.lost_attempts
        ],
        late_results=[
            LateResultShown(status=each.status, received_at=each.received_at)
            for each in found.late_results
        ],
    )


def _health_shown(endpoint_id: UUID, health: Health) -> HealthShown:
    mean = health.mean_duration
    return HealthShown(
        endpoint_id=endpoint_id,
        windows=[
            HealthWindowShown(
                hours=int(each.length.total_seconds()) // 3600,
                runs=each.runs,
                successes=each.successes,
                success_rate=each.success_rate,
            )
            for each in health.windows
        ],
        mean_duration_ms=None if mean is None else mean.total_seconds() * 1000,
        failure_streak=health.failure_streak,
    )
