"""Sessions, the audit log and events."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.rows import AuditRow
from cadenza.adapters.memory.searching import contains, is_among, newest_first
from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.event_log import BEGINNING, Position, StoredEvent
from cadenza.application.ports.records import AuditRecord, AuditSearch, SessionSearch
from cadenza.application.ports.search_result import SearchResult
from cadenza.application.ports.store import Channel
from cadenza.domain.analysis import AnalysisState
from cadenza.domain.audit import AuditEntry, IdempotencyRecord, PendingEvent
from cadenza.domain.session import Session

WATCHED_FOR = timedelta(minutes=10)


class MemoryRecords(OverTables):
    async def search_sessions(
        self, tenant_id: UUID, search: SessionSearch
    ) -> SearchResult[Session]:
        sessions = (
            session
            for session in self._tables.sessions.values()
            if session.tenant_id == tenant_id
            and search.endpoint_id in (None, session.endpoint_id)
            and search.job_id in (None, session.job_id)
            and is_among(session.job_id, search.job_ids)
            and search.brain in (None, session.brain)
            and contains(session.reasoning, search.search)
        )
        return newest_first(sessions, lambda session: (session.started_at, session.id), search)

    async def get_session(self, tenant_id: UUID, session_id: UUID) -> Session:
        return self._tables.session(tenant_id, session_id)

    async def analyses_of(self, tenant_id: UUID, endpoint_id: UUID) -> Sequence[AnalysisState]:
        self._tables.endpoint(tenant_id, endpoint_id)
        return [
            AnalysisState(
                brain, row.analysed_at, row.next_analysis_at, row.failed_looks, row.trouble
            )
            for (of_endpoint, brain), row in sorted(self._tables.analyses.items())
            if of_endpoint == endpoint_id
        ]

    async def search_audit(self, tenant_id: UUID, search: AuditSearch) -> SearchResult[AuditRecord]:
        records = (
            row.record
            for row in self._tables.audit.values()
            if row.tenant_id == tenant_id
            and (not search.subjects or row.record.subject in search.subjects)
            and contains(row.record.actor, search.actor)
            and search.action in (None, row.record.action)
        )
        return newest_first(records, lambda record: (record.at, record.id), search)

    async def audit_of_job(
        self, tenant_id: UUID, job_id: UUID, search: AuditSearch
    ) -> SearchResult[AuditRecord]:
        subjects = (str(job_id), *map(str, self._tables.ids_of_job[job_id]))
        return await self.search_audit(tenant_id, replace(search, subjects=subjects))


class MemoryEventLog(OverTables):
    """Events, in the order of their transactions."""

    async def read_after(
        self, tenant_id: UUID, position: Position, limit: int
    ) -> Sequence[StoredEvent]:
        events = self._tables.events.get(tenant_id, [])
        start = bisect_right(events, position, key=lambda event: event.position)
        return events[start : start + limit]

    async def last_position(self, tenant_id: UUID) -> Position:
        events = self._tables.events.get(tenant_id)
        return events[-1].position if events else BEGINNING

    async def is_kept(self, tenant_id: UUID, position: Position) -> bool:
        events = self._tables.events.get(tenant_id, [])
        return position == BEGINNING or any(event.position == position for event in events)

    async def watch(self, tenant_id: UUID) -> None:
        if tenant_id in self._tables.tenants:
            self._tables.watched_until[tenant_id] = self._tables.clock.now() + WATCHED_FOR


class MemoryRecordRows(Writes):
    """A transaction's verbs for what goes along with a change."""

    async def time(self) -> datetime:
        return self._now

    async def add_audit(self, entry: AuditEntry) -> None:
        number = next(self._tables.audit_numbers)
        record = AuditRecord(
            UUID(int=number), self._now, entry.actor, entry.action, entry.subject, entry.data
        )
        self._put(self._tables.audit, number, AuditRow(entry.tenant_id, record))

    async def add_audits(self, entries: Sequence[AuditEntry]) -> None:
        for entry in entries:
            await self.add_audit(entry)

    async def add_events(self, events: Sequence[PendingEvent]) -> None:
        now = self._now
        self._events += [(event, now) for event in events]

    async def notify(self, channel: Channel) -> None:
        self._channels[channel] = None

    async def take_idempotency_key(
        self, tenant_id: UUID, record: IdempotencyRecord, created_id: UUID
    ) -> tuple[bytes, UUID] | None:
        key = (tenant_id, record.key)
        taken = self._tables.idempotency.get(key)
        if taken is None:
            self._put(self._tables.idempotency, key, (record.fingerprint, created_id))
        return taken
