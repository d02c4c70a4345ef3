from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.quota import Reservation
from cadenza.domain.quota import Allowance


class MemoryQuota:
    def __init__(self, tables: Tables, tokens_per_month: int | None = None) -> None:
        self._tables = tables
        self._limit = tokens_per_month

    async def reserve(self, tenant_id: UUID, tokens: int) -> Reservation | None:
        month = f"{self._tables.clock.now():%Y-%m}"
        allowance = self._tables.allowances.get((tenant_id, month), Allowance(self._limit))
        reserved = allowance.reserve(tokens)
        if reserved is None:
            return None
        self._tables.allowances[tenant_id, month] = reserved
        return Reservation(tenant_id, month, tokens)

    async def settle(self, reservation: Reservation, used: int) -> None:
        key = (reservation.tenant_id, reservation.month)
        allowance = self._tables.allowances[key]
        self._tables.allowances[key] = allowance.settle(reservation.tokens, used)
