"""Endpoints: what runs, on which baseline, within which limits, and where it stands now."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from cadenza.domain.hint import IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import latest
from cadenza.domain.plan import Plan, Source
from cadenza.domain.planner_policy import USUAL, PlannerPolicy
from cadenza.domain.rule import Rule
from cadenza.domain.value import value

PLATFORM_MIN_INTERVAL = timedelta(seconds=1)
MAX_SPREAD = timedelta(seconds=3)
LATE_AFTER = timedelta(seconds=10)


@value
class Every:
    interval: timedelta


@dataclass(frozen=True, slots=True)
class CronLine:
    expression: str
    timezone: str = "UTC"


@dataclass(frozen=True, slots=True)
class OnDemand:
    """Runs only when a hint or a person asks."""


Baseline = Every | CronLine | OnDemand


@value
class Endpoint:
    """The part of an endpoint that scheduling depends on; what it calls is its Target."""

    id: UUID
    tenant_id: UUID
    job_id: UUID
    name: str
    baseline: Baseline
    created_at: datetime
    min_interval: timedelta | None = None
    max_interval: timedelta | None = None
    backs_off: bool = True  # whether failures make its interval longer

    interval_hint: IntervalHint | None = None
    one_shot_hint: OneShotHint | None = None
    person_pause: Pause | None = None
    planner_pause: Pause | None = None
    job_paused_until: datetime | None = None
    archived_at: datetime | None = None

    failure_count: int = 0
    not_before_at: datetime | None = None  # the target's Retry-After
    last_run_at: datetime | None = None  # the anchor that intervals are measured from
    last_slot_at: datetime | None = None  # the latest slot that a run has had
    plan: Plan | None = None

    running_slot_at: datetime | None = None  # set from claim to finish, also when the lease is lost
    running_is_manual: bool = False
    manual_slot_at: datetime | None = None  # a run-now that waits for a worker
    person_ran_at: datetime | None = None  # the slot of the last run-now that has ended
    planner_changes: tuple[datetime, ...] = ()  # when the planner last changed something
    spread: timedelta = MAX_SPREAD  # how far phase and jitter may move a slot

    @property
    def next_run_at(self) -> datetime | None:
        return self.plan.next_run_at if self.plan else None

    @property
    def next_source(self) -> Source | None:
        return self.plan.source if self.plan else None

    @property
    def in_flight(self) -> bool:
        return self.running_slot_at is not None

    @property
    def ran_at(self) -> datetime | None:
        """Its last run as people count: also the one that somebody asked for."""
        return latest(self.last_run_at, self.person_ran_at)

    @property
    def slowing_failures(self) -> int:
        """Those in a row that make its interval longer."""
        return self.failure_count if self.backs_off else 0

    @property
    def cools_from(self) -> datetime | None:
        """The last run that a person asked for: for hints, min is counted from it, too."""
        running_at = self.running_slot_at if self.running_is_manual else None
        return latest(self.person_ran_at, self.manual_slot_at, running_at)

    def paused_until(self, now: datetime) -> datetime | None:
        """The end of the pause in force: the latest of a person's, the planner's and the job's."""
        if not (self.person_pause or self.planner_pause or self.job_paused_until):
            return None  # as most are: every look asks this of every sibling
        until = latest(
            self.person_pause.until_at if self.person_pause else None,
            self.planner_pause.until_at if self.planner_pause else None,
            self.job_paused_until,
        )
        return until if until is not None and until > now else None


def fresh_hints(
    endpoint: Endpoint, now: datetime
) -> tuple[IntervalHint | None, OneShotHint | None]:
    interval, one_shot = endpoint.interval_hint, endpoint.one_shot_hint
    if interval is not None and interval.expires_at <= now:
        interval = None
    if one_shot is not None and one_shot.expires_at <= now:
        one_shot = None
    return interval, one_shot


class EndpointState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    FAILING = "failing"
    LATE = "late"  # due for a while, and nobody has begun
    HINTED = "hinted"  # a hint bends its baseline now
    ARCHIVED = "archived"


class EndpointOrder(StrEnum):
    CREATED = "created_at"
    NAME = "name"
    NEXT_RUN = "next_run_at"


def is_in_state(endpoint: Endpoint, state: EndpointState | None, now: datetime) -> bool:
    """None: whatever is not archived. One that fails, is late or hinted may be active or paused."""
    if state is EndpointState.ARCHIVED or endpoint.archived_at is not None:
        return state is EndpointState.ARCHIVED and endpoint.archived_at is not None
    if state is EndpointState.FAILING:
        return endpoint.failure_count > 0
    if state is EndpointState.LATE:
        return is_late(endpoint.next_run_at, endpoint, now)
    if state is EndpointState.HINTED:
        return any(fresh_hints(endpoint, now))
    is_paused = endpoint.paused_until(now) is not None
    return state is None or is_paused == (state is EndpointState.PAUSED)


def is_late(next_run_at: datetime | None, endpoint: Endpoint, now: datetime) -> bool:
    """`next_run_at` apart, for an endpoint in a list has no plan."""
    is_due = next_run_at is not None and next_run_at < now - LATE_AFTER
    return is_due and not endpoint.in_flight and endpoint.archived_at is None


@dataclass(frozen=True, slots=True)
class Job:
    """A description in plain English, and the endpoints that serve it."""

    id: UUID
    tenant_id: UUID
    name: str
    description: str = ""
    paused_until: datetime | None = None
    archived_at: datetime | None = None
    rules: tuple[Rule, ...] = ()
    planner: PlannerPolicy = USUAL
