"""What three witnesses say of a time of faults: the harness, the receivers and the store.

The same form for real programs over PostgreSQL and for lives in simulation: the checker knows
neither.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, TypeVar
from uuid import UUID

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.run import LateResult, LostAttempt, Run
from tests.chaos.clock_steps import ClockStep, steps_before

T = TypeVar("T")

# Who stands still, or was told a wrong time, does not know that its lease has ended.
STOP, CLOCK, MACHINE = "stop", "clock", "machine"
UNAWARE = (STOP, CLOCK, MACHINE)


@dataclass(frozen=True, slots=True)
class Spec:
    """An endpoint as it was asked for. A plain one is moved by nothing but its baseline."""

    endpoint_id: UUID
    tenant_id: UUID
    name: str
    since: datetime
    every: timedelta | None = None
    cron: str | None = None
    timezone: str = "UTC"
    plain: bool = True


@dataclass(frozen=True, slots=True)
class Delivery:
    """One request as its receiver saw it; its number comes back in the body of the result.

    `began_at` is by the clock that judges what is early, which may be set back; `began` and `ended`
    are seconds that only pass.
    """

    number: int
    endpoint_id: UUID
    key: str
    attempt: int
    began_at: datetime
    began: float
    ended: float  # answered, or its sender is gone
    signed_by: UUID | None = None  # the tenant whose key it bears


@dataclass(frozen=True, slots=True)
class Fault:
    kind: str
    began: float
    ended: float

    @property
    def sort(self) -> str:
        """A clock is set back or forward."""
        return self.kind.partition("_")[0]


@dataclass(frozen=True, slots=True)
class Stall:
    """The machine let everybody wait for so many seconds, between two moments."""

    began: float
    ended: float
    late: float


@dataclass(frozen=True, slots=True)
class EndpointVersion:
    """A committed state of an endpoint, in the order of commits."""

    at: datetime
    endpoint: Endpoint
    epoch: int


@dataclass(frozen=True, slots=True)
class RunVersion:
    """A committed state of a run; None where its row is gone."""

    at: datetime
    run_id: UUID
    run: Run | None
    moment: float = 0.0  # by a clock that is never set


@dataclass(frozen=True, slots=True)
class OwnedRow:
    """A row that belongs to an endpoint, and to a tenant."""

    table: str
    tenant_id: UUID
    endpoint_id: UUID


@dataclass(frozen=True, slots=True)
class GraphStart:
    """User code of a graph began, as it says itself."""

    key: str  # endpoint and slot
    at: datetime


@dataclass(frozen=True, slots=True)
class Charge:
    key: str
    reference: str
    unit: str


@dataclass(slots=True)
class History:
    specs: dict[UUID, Spec]
    began_at: datetime
    ended_at: datetime
    lease: timedelta
    bound: timedelta  # after which nothing may stand still
    longest_run: timedelta = timedelta(0)  # that a target may take
    deliveries: list[Delivery] = field(default_factory=list[Delivery])
    runs: list[Run] = field(default_factory=list[Run])
    lost_attempts: list[LostAttempt] = field(default_factory=list[LostAttempt])
    late_results: list[LateResult] = field(default_factory=list[LateResult])
    endpoint_versions: list[EndpointVersion] = field(default_factory=list[EndpointVersion])
    run_versions: list[RunVersion] = field(default_factory=list[RunVersion])
    owned_rows: list[OwnedRow] = field(default_factory=list[OwnedRow])
    graph_starts: list[GraphStart] = field(default_factory=list[GraphStart])
    charges: list[Charge] = field(default_factory=list[Charge])
    model_calls: list[str] = field(default_factory=list[str])  # by key, as the provider saw them
    faults: list[Fault] = field(default_factory=list[Fault])
    locked: set[UUID] = field(default_factory=set[UUID])  # endpoints whose rows somebody held
    slack: float = 0.0  # seconds by which a sender may see an end later than its receiver
    clock_steps: list[ClockStep] = field(default_factory=list[ClockStep])
    stalls: list[Stall] = field(default_factory=list[Stall])

    def runs_of(self, endpoint_id: UUID) -> list[Run]:
        """Those by schedule, by slot; those of before a clock was set back come first."""
        return self.index.runs.get(endpoint_id, [])

    def set_back_between(self, run: Run, following: Run | None = None) -> ClockStep | None:
        """The last time that the clock was set back after one was claimed and before the other. A
        cron goes on after its last slot, whatever the clock."""
        spec, steps = self.specs.get(run.endpoint_id), self.clock_steps
        if not steps or spec is None or spec.cron is not None:
            return None
        upto = len(steps) if following is None else self.index.steps_before(following)
        between = steps[self.index.steps_before(run) : upto]
        return next((step for step in reversed(between) if step.is_back), None)

    def stalled_between(self, began: float, ended: float) -> float:
        """Seconds that the machine let everybody wait."""
        stalls = (stall for stall in self.stalls if began < stall.ended and stall.began < ended)
        return sum(stall.late for stall in stalls)

    def deliveries_of(self, endpoint_id: UUID) -> list[Delivery]:
        return self.index.deliveries.get(endpoint_id, [])

    @property
    def plain(self) -> Iterable[Spec]:
        return (spec for spec in self.specs.values() if spec.plain)

    @property
    def index(self) -> "Index":
        if self._index is None:
            self._index = Index(self)
        return self._index

    _index: "Index | None" = None


class Index:
    """The same, by what it is asked for."""

    def __init__(self, history: History) -> None:
        self._history = history

    @cached_property
    def runs(self) -> dict[UUID, list[Run]]:
        scheduled = (run for run in self._history.runs if not run.is_manual)
        ordered = sorted(scheduled, key=lambda run: (self._era(run), run.slot_at))
        return grouped(ordered, lambda run: run.endpoint_id)

    def _era(self, run: Run) -> int:
        """How often intervals may have begun anew before it."""
        spec, steps = self._history.specs.get(run.endpoint_id), self._history.clock_steps
        if not steps or spec is None or spec.cron is not None:
            return 0
        return sum(step.is_back for step in steps[: self.steps_before(run)])

    def steps_before(self, run: Run) -> int:
        """Of the clock, before it was claimed."""
        moment = self.claimed.get(run.id, 0.0)
        return steps_before(self._history.clock_steps, run.claimed_at, moment)

    @cached_property
    def claimed(self) -> dict[UUID, float]:
        """When each run was first seen, by a clock that is never set."""
        moments: dict[UUID, float] = {}
        for version in self._history.run_versions:
            moments.setdefault(version.run_id, version.moment)
        return moments

    @cached_property
    def deliveries(self) -> dict[UUID, list[Delivery]]:
        ordered = sorted(self._history.deliveries, key=lambda delivery: delivery.began)
        return grouped(ordered, lambda delivery: delivery.endpoint_id)

    @cached_property
    def by_key(self) -> dict[str, list[Delivery]]:
        ordered = sorted(self._history.deliveries, key=lambda delivery: delivery.began)
        return grouped(ordered, lambda delivery: delivery.key)

    @cached_property
    def by_number(self) -> dict[int, Delivery]:
        return {delivery.number: delivery for delivery in self._history.deliveries}

    @cached_property
    def last_versions(self) -> dict[UUID, EndpointVersion]:
        return {version.endpoint.id: version for version in self._history.endpoint_versions}

    @cached_property
    def lost_attempts(self) -> dict[UUID, list[LostAttempt]]:
        return grouped(self._history.lost_attempts, lambda attempt: attempt.run_id)


def grouped(items: Iterable[T], key: Any) -> dict[Any, list[T]]:
    groups = defaultdict[Any, list[T]](list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def key_of(endpoint_id: UUID, slot_at: datetime) -> str:
    """What a slot is sent under, written here once more: ISO-8601 UTC with Z."""
    return f"{endpoint_id}:{slot_at.isoformat().replace('+00:00', 'Z')}"


def slot_of(key: str) -> datetime | None:
    """None where it names none."""
    try:
        slot_at = datetime.fromisoformat(key.partition(":")[2])
    except ValueError:
        return None
    return slot_at if slot_at.tzinfo else None
