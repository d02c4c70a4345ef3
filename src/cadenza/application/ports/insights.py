"""What a planner reads: who needs a look, and the material for it."""

from collections.abc import Collection, Sequence
from typing import Protocol
from uuid import UUID

from cadenza.domain.analysis import Attention, Material, Response, SiblingState
from cadenza.domain.session import Session


class Insights(Protocol):
    async def find_for_analysis(
        self, attention: Attention, limit: int, without: Collection[UUID] = ()
    ) -> Sequence[UUID]:
        """Endpoints that need a look, those whose state changed first, but not of some tenants."""
        ...

    async def material_for(self, endpoint_ids: Sequence[UUID]) -> Sequence[Material]: ...

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        """Newest first."""
        ...

    async def siblings(self, endpoint_id: UUID) -> Sequence[SiblingState]:
        """The other endpoints of the same job, each with its latest response."""
        ...

    async def record_look(self, session: Session) -> None:
        """Remember that the endpoint was looked at, and store the session if it is worth it."""
        ...
