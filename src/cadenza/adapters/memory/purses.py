"""What the purses of jobs are made of, in memory."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.purses import PurseMembers
from cadenza.domain.detectors.memory import account_of


class MemoryPurses(OverTables):
    async def purse_members(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Sequence[PurseMembers]:
        tables, now = self._tables, self._tables.clock.now()
        members: list[PurseMembers] = []
        for row in (row for job_id in job_ids for row in tables.members_of(job_id)):
            endpoint = row.endpoint
            if row.tenant_id == tenant_id and endpoint.paused_until(now) is None:
                look = tables.analyses.get((endpoint.id, "rules"))
                account = account_of(look.memory) if look is not None else None
                members.append(PurseMembers(endpoint.job_id, endpoint.baseline, account, 1))
        return members
