from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Reservation:
    tenant_id: UUID
    month: str
    tokens: int


class Quota(Protocol):
    async def reserve(self, tenant_id: UUID, tokens: int) -> Reservation | None:
        """Set tokens aside for a session; None where the tenant has not enough left."""
        ...

    async def settle(self, reservation: Reservation, used: int) -> None: ...
