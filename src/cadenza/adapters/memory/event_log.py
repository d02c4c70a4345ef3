"""Events, in the order of their transactions."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.event_log import BEGINNING, Position, StoredEvent

WATCHED_FOR = timedelta(minutes=10)


class MemoryEventLog:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

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
