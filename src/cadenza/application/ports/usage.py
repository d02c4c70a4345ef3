"""What a tenant uses, and what it may use."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.quota import Allowance
from cadenza.domain.run import RunStatus


@dataclass(frozen=True, slots=True)
class RunCounts:
    """Runs by how they ended since an instant, and those that run now."""

    since_at: datetime
    by_status: Mapping[RunStatus, int]


@dataclass(frozen=True, slots=True)
class Usage:
    jobs: int
    endpoints: int
    last_hour: RunCounts
    last_day: RunCounts


class UsageReads(Protocol):
    async def usage(self, tenant_id: UUID) -> Usage: ...

    async def quota(self, tenant_id: UUID) -> tuple[str, Allowance]:
        """The month, and what may be spent in it."""
        ...

    async def quotas_of_jobs(
        self, tenant_id: UUID, job_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, Allowance]]:
        """The day, and what each may spend in it; nothing is spent by a job that is not there."""
        ...


class Readiness(Protocol):
    async def check(self) -> Mapping[str, str]:
        """Each part that is needed: "ok", or what is wrong with it."""
        ...
