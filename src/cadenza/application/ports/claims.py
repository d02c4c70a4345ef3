"""Who runs what: due slots are claimed under a lease, and finished under its epoch."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

from cadenza.domain.claiming import ClaimRequest
from cadenza.domain.run import Claim, FinishedRun


@dataclass(frozen=True, slots=True)
class ClaimBatch:
    claims: Sequence[Claim]
    next_due_at: datetime | None  # the earliest slot beyond those that are due
    backlog: bool = False  # more was due than could be claimed


@dataclass(frozen=True, slots=True)
class FinishReport:
    late: frozenset[UUID] = frozenset()  # came with an old epoch: counted, and changed nothing
    next_due_at: datetime | None = None  # the earliest of the next runs that were planned


class Claims(Protocol):
    """Each method is one statement; StoreUnavailable may mean that it happened or not."""

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
        """Lease due endpoints and record their runs as running; also slots of lost workers."""
        ...

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        """Lease every running run that has no live lease, due or not: the sweep."""
        ...

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> frozenset[UUID]:
        """Extend the leases that are still ours; gives back the run ids of those."""
        ...


class RunQueue(Claims, Protocol):
    """What a scheduler works off."""

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        """Fence, apply outcomes to fresh endpoints, plan next runs, close runs, free leases."""
        ...

    async def give_back(self, claims: Sequence[Claim]) -> None:
        """Undo claims of which nothing was sent, as if they had never been made."""
        ...
