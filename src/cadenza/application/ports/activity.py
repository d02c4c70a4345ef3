"""How much runs, and how: counted by time, family and outcome. Whatever is asked, only so many of
the newest runs are looked at, and the answer says from when on it is whole."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Protocol
from uuid import UUID

from cadenza.domain.family import Family

MOST_RUNS = 50_000  # that are looked at for one answer


@dataclass(frozen=True, slots=True)
class ActivitySearch:
    """Of an endpoint, of a job, or of everything that the tenant has."""

    from_at: datetime
    to_at: datetime
    width: timedelta
    job_id: UUID | None = None
    endpoint_id: UUID | None = None
    job_ids: frozenset[UUID] | None = None  # only of these; None: of all


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Of those runs of a bucket that have it; None where none has."""

    p50: timedelta | None = None
    p95: timedelta | None = None


@dataclass(frozen=True, slots=True)
class ActivityBucket:
    from_at: datetime
    counts: Mapping[Family, int]
    failed: int
    timed_out: int
    cancelled: int = 0
    running: int = 0
    lateness: Percentiles = field(default_factory=Percentiles)  # from slot to start
    duration: Percentiles = field(default_factory=Percentiles)  # from start to end


@dataclass(frozen=True, slots=True)
class Activity:
    """Oldest first, without empty buckets."""

    buckets: Sequence[ActivityBucket]
    known_from: datetime | None = None  # before this there were too many runs; None: all of it


@dataclass(frozen=True, slots=True)
class StateCounts:
    """Endpoints that are not archived. One that fails may be paused, too, and is counted twice;
    those that are none of failing, late, paused and hinted are `ok`."""

    total: int = 0
    ok: int = 0
    failing: int = 0
    late: int = 0
    paused: int = 0
    hinted: int = 0


@dataclass(frozen=True, slots=True)
class DayOfSessions:
    day: date  # in UTC
    sessions: int
    tokens: int
    cost: float


class ActivityReads(Protocol):
    async def run_activity(self, tenant_id: UUID, search: ActivitySearch) -> Activity: ...

    async def job_strips(
        self, tenant_id: UUID, job_ids: Sequence[UUID], from_at: datetime, width: timedelta
    ) -> Mapping[UUID, Activity]:
        """For each of these jobs that ran since then, without percentiles; in one query."""
        ...

    async def count_states(
        self, tenant_id: UUID, job_id: UUID | None = None, job_ids: Collection[UUID] | None = None
    ) -> StateCounts:
        """Of one job, of some, or of all."""
        ...

    async def states_of_jobs(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Mapping[UUID, StateCounts]:
        """Of those that have endpoints; in one query."""
        ...

    async def sessions_by_day(
        self, tenant_id: UUID, since: datetime, job_ids: Collection[UUID] | None = None
    ) -> Sequence[DayOfSessions]:
        """Of some jobs, or of all; oldest first, without days that had none."""
        ...

    async def idle_looks(self, tenant_id: UUID, job_ids: Collection[UUID] | None = None) -> int:
        """How often a brain looked at an endpoint and found nothing to do."""
        ...
