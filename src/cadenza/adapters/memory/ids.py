"""Ids by how they begin."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.ids import IdKind


class MemoryIds(OverTables):
    async def ids_between(
        self, tenant_id: UUID, kind: IdKind, first: UUID, last: UUID, limit: int
    ) -> Sequence[UUID]:
        rows = self._rows(kind)
        ids = [id_ for id_, owner in rows if owner == tenant_id and first <= id_ <= last]
        return sorted(ids)[:limit]

    def _rows(self, kind: IdKind) -> list[tuple[UUID, UUID]]:
        """Ids, each with its tenant."""
        tables = self._tables
        if kind is IdKind.SCHEDULE_RUN:
            runs = (row.run for row in tables.slots.values())
            return [(run.id, run.tenant_id) for run in runs if run.id is not None]
        by_kind: dict[IdKind, dict[UUID, Any]] = {
            IdKind.JOB: tables.jobs,
            IdKind.ENDPOINT: tables.endpoints,
            IdKind.RUN: tables.runs,
            IdKind.SESSION: tables.sessions,
            IdKind.SCHEDULE: tables.schedules,
            IdKind.GRANT: tables.grants,
            IdKind.ACCOUNT: tables.accounts,
        }
        return [(id_, row.tenant_id) for id_, row in by_kind[kind].items()]
