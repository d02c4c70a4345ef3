from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.application.ports.planning import Reservation
from cadenza.domain.quota import Allowance, QuotaWarning, warnings_of


class MemoryQuota:
    def __init__(
        self,
        tables: Tables,
        tokens_per_month: int | None = None,
        money_per_month: float | None = None,
    ) -> None:
        self._tables = tables
        self._fresh = Allowance(tokens_per_month, cost_limit=money_per_month)
        self._open: set[UUID] = set()

    async def reserve(self, tenant_id: UUID, tokens: int, cost: float = 0.0) -> Reservation | None:
        month = f"{self._tables.clock.now():%Y-%m}"
        allowance = self._tables.allowances.get((tenant_id, month), self._fresh)
        reserved = allowance.reserve(tokens, cost)
        if reserved is None:
            return None
        self._tables.allowances[tenant_id, month] = reserved
        reservation = Reservation(self._tables.new_id(), tenant_id, month, tokens, cost)
        self._open.add(reservation.id)
        return reservation

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        if reservation.id not in self._open:
            return ()
        self._open.discard(reservation.id)
        key = (reservation.tenant_id, reservation.month)
        settled = self._tables.allowances[key].settle(
            reservation.tokens, used, reservation.cost, cost
        )
        self._tables.allowances[key] = settled
        return warnings_of(settled, used, cost)
