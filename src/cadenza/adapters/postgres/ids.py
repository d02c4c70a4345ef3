"""Ids by how they begin."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.application.ports.ids import MOST_READ, IdKind


class PostgresIds(OverDatabase):
    async def ids_between(
        self, tenant_id: UUID, kind: IdKind, first: UUID, last: UUID, limit: int
    ) -> Sequence[UUID]:
        values = (tenant_id, str(kind), first, last, MOST_READ, limit)
        return [row["id"] for row in await self._database.fetch(query("ids_between"), *values)]
