"""Who runs what: due slots are claimed under a lease, and finished under its epoch."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from cadenza.domain.claiming import ClaimRequest


class Leased(Protocol):
    """A slot that a worker may execute until its lease ends; the epoch fences its result."""

    @property
    def run_id(self) -> UUID: ...

    @property
    def tenant_id(self) -> UUID: ...

    @property
    def subject_id(self) -> UUID: ...

    @property
    def subject_name(self) -> str: ...

    @property
    def host(self) -> str: ...

    @property
    def slot_at(self) -> datetime: ...

    @property
    def epoch(self) -> int: ...

    @property
    def attempt(self) -> int: ...

    @property
    def must_close(self) -> bool:
        """Its worker was lost, and it may not be done again."""
        ...


class Finished(Protocol):
    @property
    def claim(self) -> Leased: ...

    @property
    def status(self) -> str: ...


class ObservedClaim(Leased, Protocol):
    """One that is counted and traced: a run, or a slot of a graph."""

    @property
    def source(self) -> str:
        """What chose its slot."""
        ...


class ObservedFinish(Finished, Protocol):
    @property
    def claim(self) -> ObservedClaim: ...

    @property
    def started_at(self) -> datetime | None: ...

    @property
    def finished_at(self) -> datetime: ...


C = TypeVar("C", bound=Leased)
F_contra = TypeVar("F_contra", bound=Finished, contravariant=True)


@dataclass(frozen=True, slots=True)
class ClaimBatch(Generic[C]):
    claims: Sequence[C]
    next_due_at: datetime | None  # the earliest slot beyond those that are due
    backlog: bool = False  # more was due than could be claimed


@dataclass(frozen=True, slots=True)
class FinishReport:
    late: frozenset[UUID] = frozenset()  # came with an old epoch: counted, and changed nothing
    next_due_at: datetime | None = None  # the earliest of the next runs that were planned
    locked: frozenset[UUID] = frozenset()  # not stored: somebody else holds their rows


@dataclass(frozen=True, slots=True)
class Renewal:
    renewed: frozenset[UUID]
    locked: frozenset[UUID] = frozenset()  # as they were: somebody else holds their rows


class Claims(Protocol[C]):
    """Each method is one transaction; StoreUnavailable may mean that it happened or not."""

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[C]:
        """Lease what is due and record it as running; also slots of lost workers."""
        ...

    async def claim_lost(self, request: ClaimRequest) -> Sequence[C]:
        """Lease every running run that has no live lease, due or not: the sweep."""
        ...

    async def renew(self, claims: Sequence[C], lease: timedelta) -> Renewal:
        """Extend the leases that are still ours; by the ids of their runs."""
        ...


class Stores(Protocol[F_contra]):
    async def finish(self, finished: Sequence[F_contra]) -> FinishReport:
        """Fence, store the results (at most one of a run), plan what follows, free the leases."""
        ...


class RunQueue(Claims[C], Stores[F_contra], Protocol[C, F_contra]):
    """What a worker works off."""

    async def give_back(self, claims: Sequence[C]) -> None:
        """Undo claims of which nothing was sent, as if they had never been made."""
        ...
