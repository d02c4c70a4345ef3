"""What a row holds beside the value of the domain that it is about."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cadenza.application.ports.grants import LoggedUse
from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.records import AuditRecord
from cadenza.application.ports.workers import Condition
from cadenza.domain.analysis import Response
from cadenza.domain.billing import Charge, LedgerEntry, VirtualKey
from cadenza.domain.delivery import Delivery
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.grant import Grant
from cadenza.domain.health import Health
from cadenza.domain.known_graph import Announcement
from cadenza.domain.run import Claim, Run
from cadenza.domain.schedule import Concurrency
from cadenza.domain.slot import ScheduleRun, SlotClaim, SlotStatus
from cadenza.domain.target import Secret, Target


@dataclass(frozen=True, slots=True)
class JobRow:
    job: Job
    created_at: datetime
    revision: int = 1

    @property
    def tenant_id(self) -> UUID:
        return self.job.tenant_id


@dataclass(frozen=True, slots=True)
class EndpointRow:
    endpoint: Endpoint
    target: Target  # with its secrets
    revision: int = 1
    epoch: int = 0
    lease_until: datetime | None = None
    run_id: UUID | None = None  # of the run in flight
    started_at: datetime | None = None  # of the same, where it must not be started twice
    latest: Run | None = None  # the run that finished last
    recent: tuple[Response, ...] = ()  # newest first
    last_finished_at: datetime | None = None
    last_failed_at: datetime | None = None
    changed_at: datetime | None = None  # when it last answered other than before
    steered_at: datetime | None = None  # when its hints or pauses changed
    streak_changed_at: datetime | None = None  # when a failure streak began or ended
    asked_at: datetime | None = None  # when a person asked for an analysis
    target_changed_at: datetime | None = None

    @property
    def tenant_id(self) -> UUID:
        return self.endpoint.tenant_id

    def is_lost(self, now: datetime) -> bool:
        """In flight, but nobody holds a lease on it."""
        return self.endpoint.in_flight and (self.lease_until is None or self.lease_until <= now)

    def is_held_by(self, claim: Claim) -> bool:
        """Its epoch still counts."""
        return self.epoch == claim.epoch and self.run_id == claim.run_id


@dataclass(frozen=True, slots=True)
class KnownHealth:
    """What the runs of an endpoint came to, until one more ends or the first leaves a window."""

    health: Health
    latest: Run | None
    until_at: datetime

    def holds(self, row: EndpointRow, now: datetime) -> bool:
        is_of_now = self.latest is row.latest and now < self.until_at
        return is_of_now and self.health.failure_streak == row.endpoint.failure_count


@dataclass(frozen=True, slots=True)
class AnalysisRow:
    """What one brain remembers of an endpoint, and which planner is at it now."""

    analysed_at: datetime | None = None
    next_analysis_at: datetime | None = None
    reasoning: str = ""
    idle_count: int = 0  # analyses that came to nothing
    fired: Mapping[UUID, datetime] = field(default_factory=dict[UUID, datetime])
    memory: Mapping[str, Any] | None = None
    leased_until: datetime | None = None
    leased_by: str | None = None
    streak_looked_at: datetime | None = None  # the last look that a failure streak made urgent
    failed_looks: int = 0  # sessions that failed, in a row
    trouble: str = ""  # why the last one failed, or was not held

    def is_leased(self, now: datetime) -> bool:
        return self.leased_until is not None and self.leased_until > now


@dataclass(frozen=True, slots=True)
class ReservationRow:
    reservation: Reservation
    reserved_at: datetime

    @property
    def tenant_id(self) -> UUID:
        return self.reservation.tenant_id


@dataclass(frozen=True, slots=True)
class AuditRow:
    tenant_id: UUID
    record: AuditRecord


@dataclass(frozen=True, slots=True)
class DeliveryRow:
    delivery: Delivery
    epoch: int = 0
    lease_until: datetime | None = None

    @property
    def tenant_id(self) -> UUID:
        return self.delivery.tenant_id

    def is_leased(self, now: datetime) -> bool:
        return self.lease_until is not None and self.lease_until > now


@dataclass(frozen=True, slots=True)
class SlotRow:
    """A slot of a schedule, and who runs it."""

    run: ScheduleRun
    concurrency: Concurrency
    requires: tuple[str, ...] = ()
    epoch: int = 0
    lease_until: datetime | None = None
    state: bytes | None = None
    answer: Any = None

    @property
    def tenant_id(self) -> UUID:
        return self.run.tenant_id

    @property
    def is_waiting(self) -> bool:
        return self.run.status is SlotStatus.SCHEDULED and not self.run.is_manual

    @property
    def is_running(self) -> bool:
        return self.run.status is SlotStatus.RUNNING

    def is_lost(self, now: datetime) -> bool:
        return self.is_running and self.lease_until is not None and self.lease_until <= now

    def is_held_by(self, claim: SlotClaim, now: datetime) -> bool:
        is_alive = self.lease_until is not None and self.lease_until > now
        return self.is_running and self.epoch == claim.epoch and is_alive


@dataclass(frozen=True, slots=True)
class VirtualKeyRow:
    tenant_id: UUID
    key: VirtualKey
    secret: Secret | None  # gone when it is revoked


@dataclass(frozen=True, slots=True)
class ChargeRow:
    charge: Charge
    at: datetime

    @property
    def tenant_id(self) -> UUID:
        return self.charge.tenant_id


@dataclass(frozen=True, slots=True)
class LedgerRow:
    tenant_id: UUID
    entry: LedgerEntry


@dataclass(frozen=True, slots=True)
class GrantRow:
    grant: Grant
    expiry_notified_at: datetime | None = None

    @property
    def tenant_id(self) -> UUID:
        return self.grant.tenant_id


@dataclass(frozen=True, slots=True)
class GrantUseRow:
    tenant_id: UUID
    logged: LoggedUse


@dataclass(frozen=True, slots=True)
class WorkerRow:
    kind: str
    seen_at: datetime
    announcement: Announcement = field(default_factory=Announcement)
    started_at: datetime | None = None
    condition: Condition = field(default_factory=Condition)
