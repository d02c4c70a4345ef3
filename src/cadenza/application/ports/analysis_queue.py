"""Which endpoints need an analysis, leased to one planner at a time, and what it reads of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from cadenza.domain.analysis import (
    AnalysisContext,
    AnalysisReason,
    Attention,
    Response,
    SiblingState,
)
from cadenza.domain.track_record import Ending


@dataclass(frozen=True, slots=True)
class AnalysisRequest:
    """Which endpoints a planner would look at now, and for how long it wants them to itself."""

    brain: str  # its kind
    attention: Attention
    holder: str
    limit: int
    lease: timedelta
    without: frozenset[UUID] = frozenset()  # tenants and jobs that are passed over
    since: datetime | None = None  # only jobs in which something has happened since; None: all


class AnalysisQueue(Protocol):
    async def claim_for_analysis(self, request: AnalysisRequest) -> Mapping[UUID, AnalysisReason]:
        """Lease endpoints that need a look, and why: what people ask for first, then those whose
        state changed.

        Nobody else is given them for this brain until they are recorded, released, or the lease
        is over. Those of jobs in which the brain may do nothing are left alone.
        """
        ...

    async def contexts_for(
        self, endpoint_ids: Sequence[UUID], brain: str
    ) -> Sequence[AnalysisContext]:
        """In the same order; without those that are gone by now."""
        ...

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        """Newest first."""
        ...

    async def siblings(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[SiblingState]:
        """The other endpoints of the same job by name, each with its latest response."""
        ...

    async def endings(self, endpoint_id: UUID, limit: int) -> Sequence[Ending]:
        """How its latest runs ended, newest first."""
        ...

    async def release(self, endpoint_ids: Sequence[UUID], brain: str, holder: str) -> None:
        """Give back what was claimed and not looked at."""
        ...
