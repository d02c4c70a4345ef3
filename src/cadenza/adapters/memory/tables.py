"""The rows in memory, and who is told when they change.

Rows are values: a change puts a new row in the place of the old one, so that a transaction can be
undone by putting the old ones back.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from itertools import count
from typing import Any, Protocol, TypeVar
from uuid import UUID

from cadenza.adapters.memory.rows import (
    AnalysisRow,
    AuditRow,
    ChargeRow,
    DeliveryRow,
    EndpointRow,
    GrantRow,
    GrantUseRow,
    JobRow,
    KnownHealth,
    LedgerRow,
    ReservationRow,
    SlotRow,
    VirtualKeyRow,
    WorkerRow,
)
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.event_log import BEGINNING, Position, StoredEvent
from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.billing import Account
from cadenza.domain.delivery import Subscription
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import NotFound
from cadenza.domain.incident import Incident, IncidentKey
from cadenza.domain.notification import Announcement, Channel, Route
from cadenza.domain.people import Invitation
from cadenza.domain.planner_stop import PlannerStop
from cadenza.domain.quota import Allowance, Period
from cadenza.domain.result import AwaitedResult
from cadenza.domain.rule import Modes
from cadenza.domain.run import LateResult, LostAttempt, Run
from cadenza.domain.schedule import Schedule
from cadenza.domain.session import Session
from cadenza.domain.sign_in import SignIn, SignInLink
from cadenza.domain.signing import SigningKey
from cadenza.domain.slot import RunEvent
from cadenza.domain.steering_history import SteeringEntry
from cadenza.domain.target import Secret

EVENTS = "events"  # the channel of those who follow events, beside those of the Channel port


class Tables:
    def __init__(self, clock: Clock, new_id: Callable[[], UUID]) -> None:
        self.clock = clock
        self.new_id = new_id

        self.tenants: dict[UUID, Tenant] = {}
        self.users: dict[UUID, User] = {}
        self.keys: dict[UUID, ApiKey] = {}
        self.signing_keys: dict[UUID, SigningKey] = {}
        self.sign_ins: dict[bytes, SignIn] = {}  # by the hash of their token
        self.sign_in_links: dict[bytes, SignInLink] = {}
        # who asked for a run by hand, by endpoint and slot
        self.asked_runs: dict[tuple[UUID, datetime], UUID] = {}
        self.planner_stops: dict[UUID, PlannerStop] = {}  # by tenant
        self.invitations: dict[UUID, Invitation] = {}
        self.expiring_keys_notified: dict[UUID, None] = {}
        self.watched_until: dict[UUID, datetime] = {}  # by tenant

        self.jobs: dict[UUID, JobRow] = {}
        self.job_names: dict[tuple[UUID, str], UUID] = {}  # by tenant; none that is archived
        self.endpoints: dict[UUID, EndpointRow] = {}
        self.endpoint_names: dict[tuple[UUID, str], UUID] = {}  # by job; none that is archived
        self.ids_of_job = defaultdict[UUID, dict[UUID, None]](dict)  # its endpoints

        # by endpoint and number, in their order
        self.steering = defaultdict[UUID, dict[int, SteeringEntry]](dict)

        self.runs: dict[UUID, Run] = {}
        self.runs_of = defaultdict[UUID, dict[datetime, UUID]](
            dict
        )  # by endpoint, in the order of slots
        self.lost_attempts: dict[UUID, tuple[LostAttempt, ...]] = {}  # by run
        self.late_results: dict[UUID, tuple[LateResult, ...]] = {}  # by run
        self.awaited_results: dict[UUID, tuple[AwaitedResult, ...]] = {}  # by run
        self.known_health: dict[UUID, KnownHealth] = {}  # by endpoint

        self.analyses: dict[tuple[UUID, str], AnalysisRow] = {}  # by endpoint and brain
        self.sessions: dict[UUID, Session] = {}
        # by tenant and month; or by tenant, day and job
        self.allowances: dict[tuple[UUID, str, UUID | None], Allowance] = {}
        self.reservations: dict[UUID, ReservationRow] = {}

        self.accounts: dict[UUID, Account] = {}
        self.schedules: dict[UUID, Schedule] = {}
        self.slots: dict[tuple[UUID, datetime], SlotRow] = {}  # by schedule and slot
        self.run_events: dict[UUID, tuple[RunEvent, ...]] = {}  # by run of a graph
        self.virtual_keys: dict[UUID, VirtualKeyRow] = {}
        self.charges: dict[str, ChargeRow] = {}  # by reference
        self.ledger: dict[int, LedgerRow] = {}
        self.grants: dict[UUID, GrantRow] = {}
        self.grant_uses: dict[tuple[UUID, UUID], GrantUseRow] = {}  # by grant and run

        self.workers: dict[str, WorkerRow] = {}  # by name

        self.incidents: dict[UUID, Incident] = {}
        self.channels: dict[UUID, Channel] = {}
        self.channel_urls: dict[UUID, Secret] = {}
        self.routes: dict[UUID, Route] = {}
        self.announcements: dict[tuple[UUID, IncidentKey], Announcement] = {}  # by route, subject
        self.subscriptions: dict[UUID, Subscription] = {}
        self.deliveries: dict[UUID, DeliveryRow] = {}
        self.feed: dict[None, Position] = {None: BEGINNING}  # up to where events were looked at

        self.audit: dict[int, AuditRow] = {}
        self.events = defaultdict[UUID, list[StoredEvent]](list)  # by tenant, in their order
        self.idempotency: dict[tuple[UUID, str], tuple[bytes, UUID]] = {}

        self.owned_by_tenant: tuple[dict[Any, Any], ...] = (
            *(self.users, self.keys, self.signing_keys, self.jobs, self.endpoints, self.runs),
            *(self.sessions, self.reservations, self.audit),
            *(self.accounts, self.virtual_keys, self.charges, self.ledger),
            *(self.grants, self.grant_uses, self.schedules, self.slots),
            *(self.sign_ins, self.sign_in_links, self.planner_stops, self.invitations),
            *(self.incidents, self.channels, self.routes, self.subscriptions, self.deliveries),
        )
        self.keyed_by_tenant: tuple[dict[Any, Any], ...] = (
            self.allowances,
            self.idempotency,
            self.job_names,
        )

        self.audit_numbers = count(1)
        self.ledger_numbers = count(1)
        self.event_numbers = count(1)
        self.steering_numbers = count(1)
        self.transaction_numbers = count(1)
        self._listeners = defaultdict[str, list[Callable[[], None]]](list)

    def listen(self, channel: str, callback: Callable[[], None]) -> None:
        self._listeners[channel].append(callback)

    def notify(self, channel: str) -> None:
        for callback in self._listeners[channel]:
            callback()

    # --- Rows of one tenant ---------------------------------------------------------------

    def tenant(self, tenant_id: UUID) -> Tenant:
        tenant = self.tenants.get(tenant_id)
        if tenant is None:
            raise NotFound(f"no tenant {tenant_id}")
        return tenant

    def job(self, tenant_id: UUID, job_id: UUID) -> JobRow:
        return _owned(self.jobs, "job", tenant_id, job_id)

    def endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> EndpointRow:
        return _owned(self.endpoints, "endpoint", tenant_id, endpoint_id)

    def run(self, tenant_id: UUID, run_id: UUID) -> Run:
        return _owned(self.runs, "run", tenant_id, run_id)

    def session(self, tenant_id: UUID, session_id: UUID) -> Session:
        return _owned(self.sessions, "session", tenant_id, session_id)

    def user(self, tenant_id: UUID, user_id: UUID) -> User:
        return _owned(self.users, "user", tenant_id, user_id)

    def key(self, tenant_id: UUID, key_id: UUID) -> ApiKey:
        return _owned(self.keys, "key", tenant_id, key_id)

    def schedule(self, tenant_id: UUID, schedule_id: UUID) -> Schedule:
        """With the slot that waits."""
        schedule = self.schedules.get(schedule_id)
        if schedule is None or schedule.tenant_id != tenant_id:
            raise NotFound(f"no schedule {schedule_id}")
        rows = (row for row in self.slots.values() if row.run.schedule_id == schedule_id)
        waiting = (row.run.slot_at for row in rows if row.is_waiting)
        return replace(schedule, next_run_at=next(waiting, None))

    def slot(self, tenant_id: UUID, run_id: UUID) -> SlotRow:
        for row in self.slots.values():
            if row.run.id == run_id and row.tenant_id == tenant_id:
                return row
        raise NotFound(f"no run {run_id}")

    def account(self, tenant_id: UUID, account_id: UUID) -> Account:
        account = self.accounts.get(account_id)
        if account is None or account.tenant_id != tenant_id:
            raise NotFound(f"no account {account_id}")
        return account

    def grant(self, tenant_id: UUID, grant_id: UUID) -> GrantRow:
        row = self.grants.get(grant_id)
        if row is None or row.tenant_id != tenant_id:
            raise NotFound(f"no grant {grant_id}")
        return row

    def incident(self, tenant_id: UUID, incident_id: UUID) -> Incident:
        return _owned(self.incidents, "incident", tenant_id, incident_id)

    def channel(self, tenant_id: UUID, channel_id: UUID) -> Channel:
        return _owned(self.channels, "channel", tenant_id, channel_id)

    def route(self, tenant_id: UUID, route_id: UUID) -> Route:
        return _owned(self.routes, "route", tenant_id, route_id)

    def subscription(self, tenant_id: UUID, subscription_id: UUID) -> Subscription:
        return _owned(self.subscriptions, "webhook", tenant_id, subscription_id)

    def delivery(self, tenant_id: UUID, delivery_id: UUID) -> DeliveryRow:
        return _owned(self.deliveries, "delivery", tenant_id, delivery_id)

    # --- Rows that belong together --------------------------------------------------------

    def members_of(self, job_id: UUID) -> list[EndpointRow]:
        """The endpoints of a job that are not archived."""
        rows = (self.endpoints[endpoint_id] for endpoint_id in self.ids_of_job[job_id])
        return [row for row in rows if row.endpoint.archived_at is None]

    def siblings_of(self, endpoint: Endpoint) -> list[EndpointRow]:
        return [row for row in self.members_of(endpoint.job_id) if row.endpoint.id != endpoint.id]

    def modes_of(self, job_id: UUID) -> Modes:
        """What each brain may do with a job."""
        job = self.jobs[job_id].job
        return job.planner.modes(self.tenants[job.tenant_id].modes)

    def valid_signing_keys(self, tenant_id: UUID) -> list[SigningKey]:
        now = self.clock.now()
        return [
            key
            for key in self.signing_keys.values()
            if key.tenant_id == tenant_id and (key.retires_at is None or key.retires_at > now)
        ]

    def is_watched(self, tenant_id: UUID) -> bool:
        until_at = self.watched_until.get(tenant_id)
        return until_at is not None and until_at > self.clock.now()


def key_of(period: Period) -> tuple[UUID, str, UUID | None]:
    return period.tenant_id, period.name, period.job_id


class OverTables:
    """What every port in memory is made from."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables


class _Owned(Protocol):
    @property
    def tenant_id(self) -> UUID: ...


_Row = TypeVar("_Row", bound=_Owned)


def _owned(rows: Mapping[UUID, _Row], kind: str, tenant_id: UUID, row_id: UUID) -> _Row:
    row = rows.get(row_id)
    if row is None or row.tenant_id != tenant_id:
        raise NotFound(f"no {kind} {row_id}")
    return row
