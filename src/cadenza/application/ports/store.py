"""The store: a transaction with plain verbs. It locks, reads and writes, and knows no rule.

What a use case does in one transaction is all there at its end, or none of it is. A row that is
locked stays as it was read until then; rows are locked in one order everywhere (tenant, job,
endpoints by id), so that no two transactions wait for each other in a circle. StoreUnavailable at
the end may mean that it was stored or not.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from cadenza.application.ports.accounts import AccountRows
from cadenza.application.ports.awaited_results import ResultRows
from cadenza.application.ports.billing import BillingRows
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.grants import GrantRows, Starting
from cadenza.application.ports.notifications import DeliveryRows, IncidentRows, NotificationRows
from cadenza.application.ports.people import PeopleRows
from cadenza.application.ports.planner_stops import PlannerStopRows
from cadenza.application.ports.planning import PlannerRows
from cadenza.application.ports.run_authors import RunAuthorRows
from cadenza.application.ports.schedules import ScheduleRows, SlotRows
from cadenza.application.ports.sign_ins import SignInRows
from cadenza.application.ports.steering_history import SteeringRows
from cadenza.domain.audit import AuditEntry, IdempotencyRecord, PendingEvent
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.run import Claim, Finish, FinishedRun
from cadenza.domain.target import Secret, Target


class Channel(StrEnum):
    """Who is woken when a transaction has been stored."""

    DUE = "due"  # schedulers: something may run sooner than was known
    FINISHED = "finished"  # planners: runs have ended, or a person asked for an analysis
    SLOTS = "slots"  # graph workers: a slot may be due sooner than was known
    CANCELLED = "cancelled"  # graph workers: a run that one of them has is to end
    DELIVERIES = "deliveries"  # notifiers: something is to be sent
    RESULTS = "results"  # schedulers: a result was reported that one of them may wait for


class Records(Protocol):
    """What goes along with a change."""

    async def time(self) -> datetime:
        """By the store's clock, the only one that counts."""
        ...

    async def add_audit(self, entry: AuditEntry) -> None: ...

    async def add_audits(self, entries: Sequence[AuditEntry]) -> None: ...

    async def add_events(self, events: Sequence[PendingEvent]) -> None: ...

    async def notify(self, channel: Channel) -> None: ...

    async def take_idempotency_key(
        self, tenant_id: UUID, record: IdempotencyRecord, created_id: UUID
    ) -> tuple[bytes, UUID] | None:
        """None where it was free, and is taken now; else the fingerprint and the id it was taken
        for. Of two at once the second waits here for the first."""
        ...


class JobRows(Protocol):
    """AlreadyThere where a name is taken, NotFound for what is not there or of another tenant."""

    async def insert_jobs(self, jobs: Sequence[StoredJob]) -> None: ...

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob: ...

    async def lock_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob: ...

    async def share_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        """Locked against changes of it, not against others who share it."""
        ...

    async def save_jobs(self, jobs: Sequence[StoredJob]) -> None: ...

    async def lock_jobs(self, tenant_id: UUID) -> None:
        """All that are not archived: they stay as they are until this transaction ends."""
        ...

    async def declared_jobs(self, tenant_id: UUID) -> Sequence[StoredJob]:
        """Those that are not archived, by name."""
        ...


@dataclass(frozen=True, slots=True)
class EndpointChange:
    """An endpoint as it is to be stored; its definition only where that changed."""

    endpoint: Endpoint
    is_news: bool  # for its siblings' analyses
    target: Target | None = None  # a secret that is KEPT stays as it is stored
    raises_revision: bool = False


class EndpointRows(Protocol):
    async def insert_endpoints(self, endpoints: Sequence[tuple[Endpoint, Target]]) -> None: ...

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint: ...

    async def lock_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint: ...

    async def lock_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[StoredEndpoint]:
        """Those that are there, without their secrets."""
        ...

    async def lock_own_endpoints(
        self, tenant_id: UUID, endpoint_ids: Sequence[UUID]
    ) -> Sequence[StoredEndpoint]:
        """The same, but none of another tenant."""
        ...

    async def lock_endpoints_of_job(
        self, tenant_id: UUID, job_id: UUID
    ) -> Sequence[StoredEndpoint]:
        """Those that are not archived."""
        ...

    async def lock_archived_endpoints(
        self, tenant_id: UUID, job_id: UUID, since_at: datetime
    ) -> Sequence[StoredEndpoint]:
        """Those that were archived at that instant or later."""
        ...

    async def declared_endpoints(self, tenant_id: UUID) -> Sequence[StoredEndpoint]:
        """Those that are not archived, by name, with their secrets."""
        ...

    async def save_endpoints(self, changes: Sequence[EndpointChange]) -> None: ...

    async def sibling_ids(self, endpoint: Endpoint) -> Mapping[str, UUID]:
        """By name, of those in the same job that are not archived."""
        ...

    async def secrets_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[Secret]:
        """Of all its endpoints, also of archived ones; without those that do not open."""
        ...

    async def ask_for_analysis(self, endpoint_id: UUID) -> None: ...

    async def jobs_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> frozenset[UUID]: ...


class RemovalRows(Protocol):
    """For good. History: runs that have ended, with what hangs on them, and sessions."""

    async def endpoint_ids_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[UUID]:
        """Those that it has and had."""
        ...

    async def count_history(self, endpoint_ids: Sequence[UUID], most: int) -> int: ...

    async def delete_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        """At most so many rows; how many went."""
        ...

    async def delete_endpoints(self, endpoint_ids: Sequence[UUID]) -> None: ...

    async def delete_job(self, job_id: UUID) -> None:
        """With its endpoints."""
        ...


@dataclass(frozen=True, slots=True)
class HeldRuns:
    """The endpoints whose claims are still held, by run, locked; and whose tenants are watched."""

    now: datetime
    endpoints: Mapping[UUID, Endpoint]
    watched_tenants: frozenset[UUID] = frozenset()
    locked: frozenset[UUID] = frozenset()  # held, too, but somebody else has their rows


class RunRows(Protocol):
    """Set-based: each is one statement, however many runs there are."""

    async def lock_held(self, claims: Sequence[Claim], *, with_plans: bool = False) -> HeldRuns:
        """Those whose epoch still counts; it waits for nobody's lock. A finish replaces the plan of
        a scheduled run, and does not ask for it."""
        ...

    async def close_runs(
        self, finishes: Sequence[tuple[FinishedRun, Finish]], now: datetime
    ) -> None:
        """Store outcomes and next plans, free the leases, and wake the planners."""
        ...

    async def note_late(self, finished: Sequence[FinishedRun]) -> frozenset[UUID]:
        """Keep results that came with an old epoch, but not the same result a second time."""
        ...

    async def lock_starting_runs(
        self, claims: Sequence[Claim]
    ) -> tuple[Sequence[Starting], frozenset[UUID]]:
        """Of graphs: those that are still ours; and of those the ones whose rows somebody else has
        locked."""
        ...

    async def note_runs_started(self, claims: Sequence[Claim]) -> None:
        """From here on they are never started again."""
        ...

    async def undo_claims(self, claims: Sequence[Claim]) -> None:
        """Free the leases; a run that nobody ever sent is forgotten, another one waits for the
        next worker."""
        ...


class ClockRows(Protocol):
    """For a clock that stepped back: what lies more than a second in its future."""

    async def lock_ahead_of_clock(self, limit: int) -> Sequence[StoredEndpoint]:
        """Endpoints that count from there and have no run in flight, but none that others lock."""
        ...

    async def count_ahead_of_clock(self) -> int:
        """The same, with those in flight and those that others lock."""
        ...

    async def shorten_leases(self, lease: timedelta) -> None:
        """Leases of claims that were made there end as if they were made now."""
        ...


class Transaction(
    Records,
    JobRows,
    EndpointRows,
    RemovalRows,
    RunRows,
    ClockRows,
    PlannerRows,
    AccountRows,
    ScheduleRows,
    SlotRows,
    BillingRows,
    GrantRows,
    SignInRows,
    PeopleRows,
    SteeringRows,
    PlannerStopRows,
    IncidentRows,
    NotificationRows,
    DeliveryRows,
    RunAuthorRows,
    ResultRows,
    Protocol,
): ...


class Store(Protocol):
    def transaction(self) -> AbstractAsyncContextManager[Transaction]: ...


@dataclass(frozen=True, slots=True)
class JoinedStore:
    """A store whose transactions are all part of one that is under way."""

    joined: Transaction

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Transaction]:
        yield self.joined
