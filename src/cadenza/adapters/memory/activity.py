"""How much runs, and how, in memory."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.searching import is_among
from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.activity import (
    MOST_RUNS,
    Activity,
    ActivityBucket,
    ActivitySearch,
    DayOfSessions,
    Percentiles,
    StateCounts,
)
from cadenza.domain.endpoint import Endpoint, EndpointState, is_in_state
from cadenza.domain.family import family_of
from cadenza.domain.run import Run, RunStatus
from cadenza.domain.session import Session

_STATES = (
    EndpointState.FAILING,
    EndpointState.LATE,
    EndpointState.PAUSED,
    EndpointState.HINTED,
)


class MemoryActivityReads(OverTables):
    async def run_activity(self, tenant_id: UUID, search: ActivitySearch) -> Activity:
        runs = [
            run
            for run in self._runs(tenant_id, search.from_at)
            if run.slot_at < search.to_at
            and search.endpoint_id in (None, run.endpoint_id)
            and search.job_id in (None, self._job_of(run))
            and is_among(self._job_of(run), search.job_ids)
        ]
        return _activity(runs, search.from_at, search.width)

    async def job_strips(
        self, tenant_id: UUID, job_ids: Sequence[UUID], from_at: datetime, width: timedelta
    ) -> Mapping[UUID, Activity]:
        by_job: defaultdict[UUID, list[Run]] = defaultdict(list)
        for run in self._runs(tenant_id, from_at):
            by_job[self._job_of(run)].append(run)
        wanted = [job_id for job_id in job_ids if job_id in by_job]
        return {job_id: _plain(_activity(by_job[job_id], from_at, width)) for job_id in wanted}

    async def count_states(
        self, tenant_id: UUID, job_id: UUID | None = None, job_ids: Collection[UUID] | None = None
    ) -> StateCounts:
        endpoints = self._endpoints(tenant_id)
        wanted = [
            endpoint
            for endpoint in endpoints
            if job_id in (None, endpoint.job_id) and is_among(endpoint.job_id, job_ids)
        ]
        return _states(wanted, self._tables.clock.now())

    async def states_of_jobs(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Mapping[UUID, StateCounts]:
        by_job: defaultdict[UUID, list[Endpoint]] = defaultdict(list)
        for endpoint in self._endpoints(tenant_id):
            by_job[endpoint.job_id].append(endpoint)
        now = self._tables.clock.now()
        return {job_id: _states(by_job[job_id], now) for job_id in job_ids if job_id in by_job}

    async def sessions_by_day(
        self, tenant_id: UUID, since: datetime, job_ids: Collection[UUID] | None = None
    ) -> Sequence[DayOfSessions]:
        by_day: defaultdict[date, list[Session]] = defaultdict(list)
        for session in self._tables.sessions.values():
            is_wanted = session.tenant_id == tenant_id and is_among(session.job_id, job_ids)
            if is_wanted and session.started_at >= since:
                by_day[session.started_at.date()].append(session)
        return [
            DayOfSessions(
                day,
                len(own),
                sum(session.tokens for session in own),
                sum(session.cost for session in own),
            )
            for day, own in sorted(by_day.items())
        ]

    async def idle_looks(self, tenant_id: UUID, job_ids: Collection[UUID] | None = None) -> int:
        tables = self._tables
        return sum(
            row.idle_count
            for (endpoint_id, _), row in tables.analyses.items()
            if tables.endpoints[endpoint_id].tenant_id == tenant_id
            and is_among(tables.endpoints[endpoint_id].endpoint.job_id, job_ids)
        )

    def _job_of(self, run: Run) -> UUID:
        return self._tables.endpoints[run.endpoint_id].endpoint.job_id

    def _runs(self, tenant_id: UUID, from_at: datetime) -> list[Run]:
        runs = self._tables.runs.values()
        return [run for run in runs if run.tenant_id == tenant_id and run.slot_at >= from_at]

    def _endpoints(self, tenant_id: UUID) -> list[Endpoint]:
        rows = self._tables.endpoints.values()
        own = [row.endpoint for row in rows if row.tenant_id == tenant_id]
        return [endpoint for endpoint in own if endpoint.archived_at is None]


def _activity(runs: Iterable[Run], begin: datetime, width: timedelta) -> Activity:
    newest = sorted(runs, key=lambda run: run.slot_at, reverse=True)
    read = newest[:MOST_RUNS]
    by_time: dict[datetime, list[Run]] = {}
    for run in reversed(read):
        by_time.setdefault(begin + (run.slot_at - begin) // width * width, []).append(run)
    buckets = [_bucket(from_at, own) for from_at, own in by_time.items()]
    return Activity(buckets, read[-1].slot_at if len(read) == MOST_RUNS else None)


def _bucket(from_at: datetime, runs: Sequence[Run]) -> ActivityBucket:
    by_status = Counter(run.status for run in runs)
    late = [run.started_at - run.slot_at for run in runs if run.started_at is not None]
    took = [run.duration for run in runs if run.duration is not None]
    return ActivityBucket(
        from_at,
        Counter(family_of(run.source, run.plan, is_manual=run.is_manual) for run in runs),
        by_status[RunStatus.FAILURE],
        by_status[RunStatus.TIMEOUT],
        by_status[RunStatus.CANCELLED],
        by_status[RunStatus.RUNNING],
        _percentiles(late),
        _percentiles(took),
    )


def _plain(activity: Activity) -> Activity:
    buckets = [
        replace(bucket, lateness=Percentiles(), duration=Percentiles())
        for bucket in activity.buckets
    ]
    return Activity(buckets, activity.known_from)


def _percentiles(values: list[timedelta]) -> Percentiles:
    """The smallest that so many are not above, as the database has it."""
    if not values:
        return Percentiles()
    values = sorted(values)
    return Percentiles(*(values[-(-len(values) * share // 100) - 1] for share in (50, 95)))


def _states(endpoints: Sequence[Endpoint], now: datetime) -> StateCounts:
    counts, ok = Counter[EndpointState](), 0
    for endpoint in endpoints:
        states = [state for state in _STATES if is_in_state(endpoint, state, now)]
        counts.update(states)
        ok += not states
    return StateCounts(len(endpoints), ok, *(counts[state] for state in _STATES))
