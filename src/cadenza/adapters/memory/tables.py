"""The rows, and what wakes those who wait for a change in them."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from cadenza.application.ports.clock import Clock
from cadenza.domain.analysis import Response
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import NotFound
from cadenza.domain.health import Health
from cadenza.domain.quota import Allowance
from cadenza.domain.rule import Modes
from cadenza.domain.run import LateResult, LostAttempt, Run
from cadenza.domain.session import Session
from cadenza.domain.target import Target


class Topic(StrEnum):
    DUE = "due"  # something may run sooner than was known
    FINISHED = "finished"  # runs have ended: a planner may want to look


@dataclass(frozen=True, slots=True)
class KnownHealth:
    """What the runs of an endpoint came to, until one more ends or the first leaves a window."""

    health: Health
    latest: Run | None
    until_at: datetime

    def holds(self, row: "EndpointRow", now: datetime) -> bool:
        is_of_now = self.latest is row.latest and now < self.until_at
        return is_of_now and self.health.failure_streak == row.endpoint.failure_count


@dataclass(slots=True)
class EndpointRow:
    endpoint: Endpoint
    target: Target
    epoch: int = 0
    lease_until: datetime | None = None
    run_id: UUID | None = None  # of the run in flight
    latest: Run | None = None  # the run that finished last
    last_failed_at: datetime | None = None
    changed_at: datetime | None = None  # when response, hints, pause or failure state changed
    asked_at: datetime | None = None  # when a person asked for an analysis
    recent: tuple[Response, ...] = ()  # newest first

    health: KnownHealth | None = None

    def is_lost(self, now: datetime) -> bool:
        """In flight, but nobody holds a lease on it."""
        return self.endpoint.in_flight and (self.lease_until is None or self.lease_until <= now)


@dataclass(slots=True)
class AnalysisState:
    """What one brain remembers of an endpoint."""

    last: Session | None = None
    fired_at: dict[str, datetime] = field(default_factory=dict[str, datetime])
    leased_until: datetime | None = None
    leased_by: str | None = None

    def is_leased(self, now: datetime) -> bool:
        return self.leased_until is not None and self.leased_until > now

    def release(self, holder: str) -> None:
        if self.leased_by == holder:
            self.leased_until = self.leased_by = None


@dataclass(slots=True)
class Tables:
    clock: Clock
    cron: Cron
    new_id: Callable[[], UUID]
    jobs: dict[UUID, Job] = field(default_factory=dict[UUID, Job])
    endpoints: dict[UUID, EndpointRow] = field(default_factory=dict[UUID, EndpointRow])
    ids_of_job: defaultdict[UUID, list[UUID]] = field(
        default_factory=lambda: defaultdict[UUID, list[UUID]](list)
    )
    runs: dict[UUID, Run] = field(default_factory=dict[UUID, Run])
    runs_of: defaultdict[UUID, list[UUID]] = field(
        default_factory=lambda: defaultdict[UUID, list[UUID]](list)
    )
    slots: set[tuple[UUID, datetime]] = field(default_factory=set[tuple[UUID, datetime]])
    lost_attempts: dict[tuple[UUID, int], LostAttempt] = field(
        default_factory=dict[tuple[UUID, int], LostAttempt]
    )
    late_results: list[LateResult] = field(default_factory=list[LateResult])
    sessions: list[Session] = field(default_factory=list[Session])
    looks: dict[tuple[UUID, str], AnalysisState] = field(
        default_factory=dict[tuple[UUID, str], AnalysisState]
    )
    idle_looks: int = 0
    accepted: dict[tuple[UUID, int], str] = field(default_factory=dict[tuple[UUID, int], str])
    modes: defaultdict[UUID, Modes] = field(default_factory=lambda: defaultdict[UUID, Modes](Modes))
    allowances: dict[tuple[UUID, str], Allowance] = field(
        default_factory=dict[tuple[UUID, str], Allowance]
    )
    listeners: dict[Topic, list[Callable[[], None]]] = field(
        default_factory=lambda: {topic: [] for topic in Topic}
    )

    def listen(self, topic: Topic, callback: Callable[[], None]) -> None:
        self.listeners[topic].append(callback)

    def notify(self, topic: Topic) -> None:
        for callback in self.listeners[topic]:
            callback()

    def row(self, tenant_id: UUID, endpoint_id: UUID) -> EndpointRow:
        row = self.endpoints.get(endpoint_id)
        if row is None or row.endpoint.tenant_id != tenant_id:
            raise NotFound(f"no endpoint {endpoint_id}")
        return row

    def add_endpoint(self, row: EndpointRow) -> None:
        self.endpoints[row.endpoint.id] = row
        self.ids_of_job[row.endpoint.job_id].append(row.endpoint.id)

    def add_run(self, run: Run) -> None:
        key = (run.endpoint_id, run.slot_at)
        assert key not in self.slots, f"slot {key} has a run already"
        self.slots.add(key)
        self.runs[run.id] = run
        self.runs_of[run.endpoint_id].append(run.id)

    def remove_run(self, run: Run) -> None:
        self.slots.discard((run.endpoint_id, run.slot_at))
        self.runs_of[run.endpoint_id].remove(run.id)
        del self.runs[run.id]

    def siblings_of(self, endpoint: Endpoint) -> list[EndpointRow]:
        return [row for row in self.members_of(endpoint.job_id) if row.endpoint.id != endpoint.id]

    def members_of(self, job_id: UUID) -> list[EndpointRow]:
        rows = (self.endpoints[each] for each in self.ids_of_job[job_id])
        return [row for row in rows if row.endpoint.archived_at is None]
