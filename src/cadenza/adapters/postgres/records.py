"""Sessions and the audit log."""

import json
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.scanning import scan, steps_of
from cadenza.adapters.postgres.sessions import session_of
from cadenza.adapters.postgres.storable import like
from cadenza.application.ports.records import AuditRecord, AuditSearch, SessionSearch
from cadenza.application.ports.search_result import SearchResult, TimeCursor
from cadenza.domain.errors import NotFound
from cadenza.domain.session import Session

SESSION_STEPS = (500, 2_500)
AUDIT_STEPS = (1_000, 9_000)
LAST = 2**63 - 1


class PostgresRecords:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def search_sessions(
        self, tenant_id: UUID, search: SessionSearch
    ) -> SearchResult[Session]:
        plain = search.brain is None and search.search is None
        async with self._database.connection() as connection:
            return await scan(
                connection,
                "scan_sessions",
                (tenant_id, search.endpoint_id, search.from_at),
                (search.brain, like(search.search), search.job_id),
                start=search.after or (search.to_at, UUID(int=0) if search.to_at else None),
                steps=steps_of(SESSION_STEPS, search.limit, is_plain=plain),
                limit=search.limit,
                value_of=session_of,
                place_of=_session_place,
            )

    async def get_session(self, tenant_id: UUID, session_id: UUID) -> Session:
        row = await self._database.fetchrow(query("get_session"), tenant_id, session_id)
        if row is None:
            raise NotFound(f"no session {session_id}")
        return session_of(row)

    async def search_audit(self, tenant_id: UUID, search: AuditSearch) -> SearchResult[AuditRecord]:
        subjects = list(search.subjects) if search.subjects else None
        return await self._audit(tenant_id, search, subjects)

    async def audit_of_job(
        self, tenant_id: UUID, job_id: UUID, search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        rows = await self._database.fetch(query("endpoint_ids_of_job"), tenant_id, job_id)
        subjects = [str(job_id), *(str(row["id"]) for row in rows)]
        return await self._audit(tenant_id, search, subjects)

    async def _audit(
        self, tenant_id: UUID, search: AuditSearch, subjects: list[str] | None
    ) -> SearchResult[AuditRecord]:
        plain = search.actor is None and search.action is None
        # A timeline's place may be that of a run, whose id is no number of ours.
        after = (search.after[0], min(search.after[1].int, LAST)) if search.after else None
        async with self._database.connection() as connection:
            return await scan(
                connection,
                "scan_audit",
                (tenant_id, subjects, search.from_at),
                (like(search.actor), search.action),
                start=after or (search.to_at, -1 if search.to_at else None),
                steps=steps_of(AUDIT_STEPS, search.limit, is_plain=plain),
                limit=search.limit,
                value_of=_entry,
                place_of=_entry_place,
            )


def _session_place(session: Session) -> TimeCursor:
    return session.started_at, session.id


def _entry_place(entry: AuditRecord) -> TimeCursor:
    return entry.at, entry.id


def _entry(row: Row) -> AuditRecord:
    return AuditRecord(
        UUID(int=row["id"]),
        row["at"],
        row["actor"],
        row["action"],
        row["subject"],
        json.loads(row["data"]),
    )
