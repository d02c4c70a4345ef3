"""A transaction's verbs for a clock that stepped back."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from cadenza.adapters.memory.catalogue import stored_endpoint
from cadenza.adapters.memory.rows import EndpointRow
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.domain.clock_steps import TOLERANCE, ahead_by


class MemoryClockRows(Writes):
    async def lock_ahead_of_clock(self, limit: int) -> Sequence[StoredEndpoint]:
        rows = [row for row in self._ahead() if not row.endpoint.in_flight]
        return [stored_endpoint(self._tables, row) for row in rows[:limit]]

    async def count_ahead_of_clock(self) -> int:
        return len(self._ahead())

    async def shorten_leases(self, lease: timedelta) -> None:
        ends_at = self._now + lease
        latest_slot_at = self._now + TOLERANCE
        for row in list(self._tables.endpoints.values()):
            slot_at, lease_until = row.endpoint.running_slot_at, row.lease_until
            if slot_at is None or lease_until is None:
                continue
            if slot_at > latest_slot_at and lease_until > ends_at:
                shorter = replace(row, lease_until=ends_at)
                self._put(self._tables.endpoints, row.endpoint.id, shorter)

    def _ahead(self) -> list[EndpointRow]:
        rows = self._tables.endpoints.values()
        return [row for row in rows if ahead_by(row.endpoint, self._now) > TOLERANCE]
