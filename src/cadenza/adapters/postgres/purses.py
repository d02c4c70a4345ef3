"""What the purses of jobs are made of."""

import json
from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import baseline_of
from cadenza.application.ports.purses import PurseMembers
from cadenza.domain.detectors.memory import account_of


class PostgresPurses(OverDatabase):
    async def purse_members(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Sequence[PurseMembers]:
        rows = await self._database.fetch(query("purse_members"), tenant_id, list(job_ids))
        return [
            PurseMembers(
                row["job_id"],
                baseline_of(row),
                account_of({"account": json.loads(row["account"])}) if row["account"] else None,
                row["count"],
            )
            for row in rows
        ]
