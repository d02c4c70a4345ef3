"""A transaction's verbs for what goes along with a change."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.rows import AuditRow
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.records import AuditRecord
from cadenza.application.ports.store import Channel
from cadenza.domain.audit import AuditEntry, IdempotencyRecord, PendingEvent


class MemoryRecordRows(Writes):
    async def time(self) -> datetime:
        return self._now

    async def add_audit(self, entry: AuditEntry) -> None:
        number = next(self._tables.audit_numbers)
        record = AuditRecord(
            UUID(int=number), self._now, entry.actor, entry.action, entry.subject, entry.data
        )
        self._put(self._tables.audit, number, AuditRow(entry.tenant_id, record))

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
