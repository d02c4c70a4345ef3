"""What tenants may spend on analysis: set aside before a session, settled after it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.store import Store, Transaction
from cadenza.domain.quota import QuotaWarning, month_of, warnings_of

# No session lasts a day: what was set aside for longer belongs to a planner that died.
LOST_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Quotas:
    store: Store
    new_id: Callable[[], UUID]
    tokens_per_month: int | None = None
    money_per_month: float | None = None

    async def reserve(self, tenant_id: UUID, tokens: int, cost: float = 0.0) -> Reservation | None:
        """Set tokens and money aside for a session; None where the tenant has not enough left."""
        async with self.store.transaction() as tx:
            now = await tx.time()
            for lost in await tx.take_old_reservations(tenant_id, now - LOST_AFTER):
                await _settle(tx, lost, used=0, cost=0.0)
            month = month_of(now)
            stored = await tx.lock_allowance(tenant_id, month)
            limits = {"limit": self.tokens_per_month, "cost_limit": self.money_per_month}
            allowance = replace(stored, **limits)
            reserved = allowance.reserve(tokens, cost)
            if reserved is None:
                refused = replace(allowance, refused_at=allowance.refused_at or now)
                await tx.save_allowance(tenant_id, month, refused)
                return None
            await tx.save_allowance(tenant_id, month, replace(reserved, refused_at=None))
            reservation = Reservation(self.new_id(), tenant_id, month, tokens, cost)
            await tx.insert_reservation(reservation)
        return reservation

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        """Turn what was set aside into what was used; settling it again changes nothing."""
        async with self.store.transaction() as tx:
            taken = await tx.take_reservation(reservation.id)
            return await _settle(tx, taken, used, cost) if taken is not None else ()


async def _settle(
    tx: Transaction, reservation: Reservation, used: int, cost: float
) -> Sequence[QuotaWarning]:
    tenant_id, month = reservation.tenant_id, reservation.month
    allowance = await tx.lock_allowance(tenant_id, month)
    settled = allowance.settle(reservation.tokens, used, reservation.cost, cost)
    await tx.save_allowance(tenant_id, month, settled)
    return warnings_of(settled, used, cost)
