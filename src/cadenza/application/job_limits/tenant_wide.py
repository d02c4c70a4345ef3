"""What belongs to no job, for a person who has a role for single jobs only: it is empty."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.application.job_limits.reads import LimitedActivity, LimitedCatalogue
from cadenza.application.ports.activity import Activity, ActivitySearch
from cadenza.application.ports.catalogue import JobSearch
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.usage import RunCounts, Usage, UsageReads
from cadenza.domain.errors import NotFound
from cadenza.domain.people import MOST_JOBS
from cadenza.domain.quota import Allowance
from cadenza.domain.run import RunStatus

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


class Nothing:
    """Schedules, accounts, grants: lists are empty, and every id is NotFound."""

    def __getattr__(self, verb: str) -> Any:
        async def none(*_asked: object, **_more: object) -> Sequence[Any]:
            if verb.startswith("list_"):
                return ()
            raise NotFound("there is no such thing for you")

        return none


@dataclass(frozen=True, slots=True)
class LimitedUsage:
    """Counted from the runs of the caller's jobs, a bounded number of the newest."""

    usage_reads: UsageReads
    catalogue: LimitedCatalogue
    activity: LimitedActivity
    clock: Clock

    async def usage(self, tenant_id: UUID) -> Usage:
        jobs = await self.catalogue.list_jobs(tenant_id, JobSearch(limit=MOST_JOBS))
        states = await self.activity.count_states(tenant_id)
        now = self.clock.now()
        hour = await self._counts(tenant_id, now, HOUR)
        return Usage(len(jobs), states.total, hour, await self._counts(tenant_id, now, DAY))

    async def _counts(self, tenant_id: UUID, now: datetime, length: timedelta) -> RunCounts:
        search = ActivitySearch(now - length, now, length)
        activity = await self.activity.run_activity(tenant_id, search)
        return RunCounts(now - length, _by_status(activity))

    async def quota(self, tenant_id: UUID) -> tuple[str, Allowance]:
        """The tenant's quota: it may be why a session of the caller's job is refused."""
        return await self.usage_reads.quota(tenant_id)

    async def quotas_of_jobs(
        self, tenant_id: UUID, job_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, Allowance]]:
        own = self.catalogue.guard.readable_of(job_ids)
        return await self.usage_reads.quotas_of_jobs(tenant_id, own)


def _by_status(activity: Activity) -> Mapping[RunStatus, int]:
    buckets = activity.buckets
    counts = {
        RunStatus.FAILURE: sum(bucket.failed for bucket in buckets),
        RunStatus.TIMEOUT: sum(bucket.timed_out for bucket in buckets),
        RunStatus.CANCELLED: sum(bucket.cancelled for bucket in buckets),
        RunStatus.RUNNING: sum(bucket.running for bucket in buckets),
    }
    total = sum(sum(bucket.counts.values()) for bucket in buckets)
    return {RunStatus.SUCCESS: total - sum(counts.values()), **counts}
