"""What the score of a job is drawn from: each a bounded read for all of its lanes at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, Protocol
from uuid import UUID

from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.domain.family import Family
from cadenza.domain.plan import Source
from cadenza.domain.run import Body, RunStatus
from cadenza.domain.session import Session

Point = tuple[datetime, float]


@dataclass(frozen=True, slots=True)
class LaneSearch:
    """By name. An endpoint that is archived has a lane where it is asked for by its id."""

    job_id: UUID
    endpoint_ids: tuple[UUID, ...] = ()
    after: tuple[str, UUID] | None = None
    limit: int = 50


class Lanes(NamedTuple):
    endpoints: Sequence[StoredEndpoint]  # with their plans
    total: int


class LaneRun(NamedTuple):
    """A tuple, because they come by thousands; with what is drawn, and no more."""

    id: UUID
    slot_at: datetime
    source: Source
    family: Family
    status: RunStatus
    attempt: int
    started_at: datetime | None
    took_ms: int | None
    status_code: int | None
    error_kind: str | None
    error_message: str | None
    skipped_slots: int
    session_id: UUID | None


class LaneBucket(NamedTuple):
    """The runs of one family within one width; `first_at` is the earliest slot among them."""

    endpoint_id: UUID
    from_at: datetime
    family: Family
    runs: int
    failed: int
    timed_out: int
    first_at: datetime


class ScoreReads(Protocol):
    """Of endpoints that belong to the caller's tenant: `lanes` has looked."""

    async def lanes(self, tenant_id: UUID, search: LaneSearch) -> Lanes: ...

    async def count_runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Mapping[UUID, int]:
        """Counted to so many, and no further."""
        ...

    async def lane_runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime
    ) -> Mapping[UUID, Sequence[LaneRun]]:
        """Of each endpoint, oldest slot first."""
        ...

    async def lane_buckets(
        self,
        endpoint_ids: Sequence[UUID],
        from_at: datetime,
        to_at: datetime,
        width: timedelta,
        most: int,
    ) -> Sequence[LaneBucket]:
        """Oldest first, counted from `from_at`; of each endpoint so many of the newest runs."""
        ...

    async def suggesting_sessions(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Sequence[Session]:
        """Those of so many of the newest that suggested something."""
        ...

    async def recent_bodies(
        self, endpoint_ids: Sequence[UUID], per_endpoint: int
    ) -> Mapping[UUID, Sequence[Body]]:
        """What each answered last, newest first; nothing that is long."""
        ...

    async def answer_values(
        self,
        endpoint_id: UUID,
        path: Sequence[str],
        from_at: datetime,
        to_at: datetime,
        most: int,
    ) -> Sequence[Point]:
        """The numbers at a path of its answers by time; where there are more, some of them."""
        ...
