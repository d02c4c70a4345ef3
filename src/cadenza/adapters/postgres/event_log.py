"""Events, read in the order of their transactions."""

import json
from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.event_log import BEGINNING, Position, StoredEvent


class PostgresEventLog:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def read_after(
        self, tenant_id: UUID, position: Position, limit: int
    ) -> Sequence[StoredEvent]:
        rows = await self._database.fetch(
            query("read_events"), tenant_id, str(position.xact), position.id, limit
        )
        return [_event(row) for row in rows]

    async def last_position(self, tenant_id: UUID) -> Position:
        row = await self._database.fetchrow(query("last_event"), tenant_id)
        return BEGINNING if row is None else Position(int(row["xact"]), row["id"])

    async def is_kept(self, tenant_id: UUID, position: Position) -> bool:
        if position == BEGINNING:
            return True
        return await self._database.fetchval(
            query("event_is_kept"), tenant_id, str(position.xact), position.id
        )

    async def watch(self, tenant_id: UUID) -> None:
        await self._database.execute(query("watch_tenant"), tenant_id)


def _event(row: Row) -> StoredEvent:
    return StoredEvent(
        Position(int(row["xact"]), row["id"]),
        row["at"],
        row["kind"],
        row["job_id"],
        row["endpoint_id"],
        json.loads(row["data"]),
    )
