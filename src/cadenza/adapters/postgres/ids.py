"""Ids by how they begin."""

from collections.abc import Collection, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.application.ports.ids import MOST_READ, IdKind


class PostgresIds(OverDatabase):
    async def ids_between(
        self,
        tenant_id: UUID,
        kind: IdKind,
        first: UUID,
        last: UUID,
        limit: int,
        job_ids: Collection[UUID] | None = None,
    ) -> Sequence[UUID]:
        values = (tenant_id, str(kind), first, last, MOST_READ, limit)
        if job_ids is None:
            rows = await self._database.fetch(query("ids_between"), *values)
        else:
            statement = query("ids_between_of_jobs")
            rows = await self._database.fetch(statement, *values, list(job_ids))
        return [row["id"] for row in rows]
