"""Sessions, the audit log and events."""

import json
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.scanning import scan, steps_of
from cadenza.adapters.postgres.sessions import session_of
from cadenza.adapters.postgres.storable import like, listed
from cadenza.application.ports.event_log import BEGINNING, Position, StoredEvent
from cadenza.application.ports.records import AuditRecord, AuditSearch, SessionSearch
from cadenza.application.ports.search_result import SearchResult
from cadenza.domain.analysis import AnalysisState
from cadenza.domain.errors import NotFound
from cadenza.domain.session import Session

SESSION_STEPS = (500, 2_500)
AUDIT_STEPS = (1_000, 9_000)
LAST = 2**63 - 1


class PostgresRecords(OverDatabase):
    async def search_sessions(
        self, tenant_id: UUID, search: SessionSearch
    ) -> SearchResult[Session]:
        plain = search.brain is None and search.search is None
        return await scan(
            self._database,
            "scan_sessions",
            (tenant_id, search.endpoint_id, search.from_at),
            (search.brain, like(search.search), search.job_id, listed(search.job_ids)),
            start=search.after or (search.to_at, UUID(int=0) if search.to_at else None),
            steps=steps_of(SESSION_STEPS, search.limit, is_plain=plain),
            limit=search.limit,
            value_of=session_of,
            cursor_of=lambda session: (session.started_at, session.id),
        )

    async def get_session(self, tenant_id: UUID, session_id: UUID) -> Session:
        row = await one_row(self._database, "get_session", "session", tenant_id, session_id)
        return session_of(row)

    async def analyses_of(self, tenant_id: UUID, endpoint_id: UUID) -> Sequence[AnalysisState]:
        rows = await self._database.fetch(query("analyses_of"), tenant_id, endpoint_id)
        if not rows:
            raise NotFound(f"no endpoint {endpoint_id}")
        return [AnalysisState(**row) for row in rows if row["brain"] is not None]

    async def search_audit(self, tenant_id: UUID, search: AuditSearch) -> SearchResult[AuditRecord]:
        plain = search.actor is None and search.action is None
        # A timeline's cursor may be that of a run, whose id is no number of ours.
        after = (search.after[0], min(search.after[1].int, LAST)) if search.after else None
        return await scan(
            self._database,
            "scan_audit",
            (tenant_id, list(search.subjects) or None, search.from_at),
            (like(search.actor), search.action),
            start=after or (search.to_at, -1 if search.to_at else None),
            steps=steps_of(AUDIT_STEPS, search.limit, is_plain=plain),
            limit=search.limit,
            value_of=_entry,
            cursor_of=lambda entry: (entry.at, entry.id),
        )

    async def audit_of_job(
        self, tenant_id: UUID, job_id: UUID, search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        rows = await self._database.fetch(query("endpoint_ids_of_job"), tenant_id, job_id)
        subjects = (str(job_id), *(str(row["id"]) for row in rows))
        return await self.search_audit(tenant_id, replace(search, subjects=subjects))


def _entry(row: Row) -> AuditRecord:
    return AuditRecord(
        UUID(int=row["id"]),
        row["at"],
        row["actor"],
        row["action"],
        row["subject"],
        json.loads(row["data"]),
    )


class PostgresEventLog(OverDatabase):
    """Events, read in the order of their transactions."""

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
