"""Ids by how they begin."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.ids import IdKind


class MemoryIds(OverTables):
    async def ids_between(
        self,
        tenant_id: UUID,
        kind: IdKind,
        first: UUID,
        last: UUID,
        limit: int,
        job_ids: Collection[UUID] | None = None,
    ) -> Sequence[UUID]:
        rows = self._rows(kind)
        ids = [id_ for id_, owner in rows if owner == tenant_id and first <= id_ <= last]
        if job_ids is not None:
            ids = [id_ for id_ in ids if self._job_of(kind, id_) in job_ids]
        return sorted(ids)[:limit]

    def _job_of(self, kind: IdKind, row_id: UUID) -> UUID | None:
        tables = self._tables
        if kind is IdKind.JOB:
            return row_id
        if kind is IdKind.SESSION:
            return tables.sessions[row_id].job_id
        if kind is IdKind.RUN:
            row_id = tables.runs[row_id].endpoint_id
        row = tables.endpoints.get(row_id)
        return None if row is None else row.endpoint.job_id

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
            IdKind.INCIDENT: tables.incidents,
            IdKind.ROUTE: tables.routes,
            IdKind.DELIVERY: tables.deliveries,
        }
        return [(id_, row.tenant_id) for id_, row in by_kind[kind].items()]
