from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from cadenza.domain.quota import QuotaWarning


@dataclass(frozen=True, slots=True)
class Reservation:
    id: UUID
    tenant_id: UUID
    month: str
    tokens: int
    cost: float = 0.0


class Quota(Protocol):
    async def reserve(self, tenant_id: UUID, tokens: int, cost: float = 0.0) -> Reservation | None:
        """Set tokens and money aside for a session; None where the tenant has not enough left."""
        ...

    async def settle(
        self, reservation: Reservation, used: int, cost: float = 0.0
    ) -> Sequence[QuotaWarning]:
        """Turn what was set aside into what was used; settling it again changes nothing."""
        ...
