"""Sessions and the audit log, newest first."""

from uuid import UUID

from cadenza.adapters.memory.searching import contains, newest_first
from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.records import AuditRecord, AuditSearch, SessionSearch
from cadenza.application.ports.search_result import SearchResult, TimeCursor
from cadenza.domain.session import Session


class MemoryRecords:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def search_sessions(
        self, tenant_id: UUID, search: SessionSearch
    ) -> SearchResult[Session]:
        sessions = (
            session
            for session in self._tables.sessions.values()
            if session.tenant_id == tenant_id
            and search.endpoint_id in (None, session.endpoint_id)
            and search.job_id in (None, session.job_id)
            and search.brain in (None, session.brain)
            and contains(session.reasoning, search.search)
        )
        return newest_first(
            *(sessions, _cursor_of_session),
            from_at=search.from_at,
            to_at=search.to_at,
            after=search.after,
            limit=search.limit,
        )

    async def get_session(self, tenant_id: UUID, session_id: UUID) -> Session:
        return self._tables.session(tenant_id, session_id)

    async def search_audit(self, tenant_id: UUID, search: AuditSearch) -> SearchResult[AuditRecord]:
        return self._search_audit(tenant_id, search, search.subjects)

    async def audit_of_job(
        self, tenant_id: UUID, job_id: UUID, search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        subjects = (str(job_id), *map(str, self._tables.ids_of_job[job_id]))
        return self._search_audit(tenant_id, search, subjects)

    def _search_audit(
        self, tenant_id: UUID, search: AuditSearch, subjects: tuple[str, ...]
    ) -> SearchResult[AuditRecord]:
        records = (
            row.record
            for row in self._tables.audit.values()
            if row.tenant_id == tenant_id
            and (not subjects or row.record.subject in subjects)
            and contains(row.record.actor, search.actor)
            and search.action in (None, row.record.action)
        )
        return newest_first(
            *(records, _cursor_of_audit),
            from_at=search.from_at,
            to_at=search.to_at,
            after=search.after,
            limit=search.limit,
        )


def _cursor_of_session(session: Session) -> TimeCursor:
    return session.started_at, session.id


def _cursor_of_audit(record: AuditRecord) -> TimeCursor:
    return record.at, record.id
