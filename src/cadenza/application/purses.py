"""The purse of each job: the runs that detectors may add to its baseline, and what they used."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cadenza.application.ports.purses import PurseMembers, PurseReads
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Every, Job
from cadenza.domain.pace import Pace
from cadenza.domain.spending import Purse, Share, purse_of


@dataclass(frozen=True, slots=True)
class Purses:
    reads: PurseReads
    cron: Cron

    async def of_jobs(
        self, tenant_id: UUID, jobs: Sequence[Job], now: datetime
    ) -> Mapping[UUID, Purse]:
        members = defaultdict[UUID, list[PurseMembers]](list)
        for group in await self.reads.purse_members(tenant_id, [job.id for job in jobs]):
            members[group.job_id].append(group)

        def counted() -> dict[UUID, Purse]:
            pace = Pace(self.cron)
            return {job.id: _purse(job, members[job.id], pace, now) for job in jobs}

        return await asyncio.to_thread(counted)  # a day of a cron line takes long to walk


def _purse(job: Job, members: Iterable[PurseMembers], pace: Pace, now: datetime) -> Purse:
    shares: list[Share] = []
    for _, baseline, account, count in members:
        mean = pace.of_baseline(baseline, now)
        if mean is not None:
            share = Share(account, mean.total_seconds(), isinstance(baseline, Every))
            shares += [share] * count
    policy = job.planner
    return purse_of(shares, now.timestamp(), policy.extra_runs, policy.relax)
