"""One endpoint's life under the rules brain, through the real governor, tools, hints and pauses.

Time is a number that jumps from slot to slot. The store is the one in memory; nothing in it ever
waits, so a coroutine ends at its first step. Where nothing is measured, calm repeats itself, and
what would repeat is copied instead of lived through: see `Life._skip_calm`.
"""

from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID, uuid5

from benchmarks.adaptation.traces import Trace
from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.application.endpoints import add_endpoint
from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.store import Store
from cadenza.application.tools import Toolbox
from cadenza.domain.access import Tenant
from cadenza.domain.analysis import RECENT_RESPONSES, AnalysisContext, Response
from cadenza.domain.endpoint import Endpoint, Every, Job
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.run import Claim, FinishedRun, RunStatus
from cadenza.domain.spending import DAY, Budget
from cadenza.domain.target import HttpTarget

T = TypeVar("T")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SPACE = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
CRON = CronsimCron()
TARGET = HttpTarget("http://trace.invalid/")
NAMES_A_CHANGE = ("Level shift", "Trend", "Threshold")  # the detectors of what is measured
_ZERO = timedelta(0)


@dataclass(slots=True)
class Lived:
    """When an endpoint was probed and whether it was down, and when a session named a change."""

    probes: list[float] = field(default_factory=list[float])
    downs: list[bool] = field(default_factory=list[bool])
    named_at: list[float] = field(default_factory=list[float])


@dataclass(slots=True)
class JumpingClock:
    at: datetime = EPOCH

    def now(self) -> datetime:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        raise AssertionError(f"nothing in a replay waits, and this for {duration}")


class RunningHealth:
    """The health of the day, kept up run by run; the same figures as `health_of`."""

    def __init__(self) -> None:
        self._runs = [deque[tuple[datetime, bool]]() for _ in WINDOWS]
        self._well = [0 for _ in WINDOWS]
        self._changes = deque[tuple[datetime, datetime, bool]]()
        self._last: tuple[datetime, bool] | None = None

    def add(self, at: datetime, is_well: bool) -> None:
        for index, runs in enumerate(self._runs):
            runs.append((at, is_well))
            self._well[index] += is_well
            while runs[0][0] <= at - WINDOWS[index]:
                self._well[index] -= runs.popleft()[1]
        if self._last is not None and self._last[1] is not is_well:
            self._changes.append((self._last[0], at, is_well))
        # A change is known while the run before it is, too.
        while self._changes and self._changes[0][0] <= at - WINDOWS[-1]:
            self._changes.popleft()
        self._last = (at, is_well)

    @property
    def has_changed(self) -> bool:
        """From well to failing or back, within a day."""
        return bool(self._changes)

    def health(self, failure_streak: int) -> Health:
        windows = tuple(
            HealthWindow(length, len(runs), well)
            for length, runs, well in zip(WINDOWS, self._runs, self._well, strict=True)
        )
        outages = sum(not is_well for _, _, is_well in self._changes)
        changed_at = self._changes[-1][1] if self._changes else None
        return Health(windows, _ZERO, failure_streak, outages, changed_at)


class Life:
    def __init__(self, trace: Trace, baseline: float, least: float, phase: float) -> None:
        self.trace = trace
        self.clock = JumpingClock()
        self.tables = Tables(self.clock, lambda: SPACE)
        self.memory = MemoryStores(self.tables)
        tenant_id = uuid5(SPACE, "tenant")
        self.job = Job(SPACE, tenant_id, "replay")
        self.endpoint = Endpoint(
            id=uuid5(SPACE, trace.name),
            tenant_id=tenant_id,
            job_id=self.job.id,
            name=trace.name,
            baseline=Every(timedelta(seconds=baseline)),
            created_at=EPOCH + timedelta(seconds=phase),
            min_interval=timedelta(seconds=least),
            spread=_ZERO,
        )
        step(add_to(self.memory.store, self.job, self.endpoint, TARGET))
        self.recent = deque[Response](maxlen=RECENT_RESPONSES)
        self.health = RunningHealth()
        self.skipped = 0.0  # seconds that the trace is ahead of the clock
        self._calm = dict[object, tuple[float, int]]()  # where the same was before: when, which run

    @property
    def now(self) -> Endpoint:
        """The endpoint as it is by now."""
        return self.tables.endpoints[self.endpoint.id].endpoint

    def live(self, brain: RulesBrain, *, skips: bool = True) -> Lived:
        lived = Lived()
        skips = skips and not self.trace.times
        while (slot_at := self.now.next_run_at) is not None:
            at = (slot_at - EPOCH).total_seconds() + self.skipped
            if at >= self.trace.length:
                break
            self.clock.at = slot_at
            lived.probes.append(at)
            lived.downs.append(self._run(slot_at, at))
            hint = self.now.interval_hint
            if self._look(brain):
                lived.named_at.append(at)
            if skips and (hint is None or hint is not self.now.interval_hint):
                self._skip_calm(lived)
        return lived

    def _skip_calm(self, lived: Lived) -> None:
        """Where all is as it was before, counted from now, it goes on as it went on then.

        The probes since then are repeated up to the next outage, and the trace moves on by as
        much as the clock does not: nobody here knows what time it is, only how long things last.
        """
        if lived.downs[-1] or self.health.has_changed or len(self.recent) < RECENT_RESPONSES:
            self._calm.clear()
            return
        at, state = lived.probes[-1], self._state()
        was_at, index = self._calm.setdefault(state, (at, len(lived.probes)))
        if was_at == at:
            return
        period, ends_at = at - was_at, min(self.trace.next_change(at), self.trace.length)
        times = int((ends_at - at) / period) - 1
        if times > 0:
            again = lived.probes[index:]
            for turn in range(1, times + 1):
                lived.probes.extend([probe + turn * period for probe in again])
            lived.downs.extend([False] * (times * len(again)))
            self.skipped += times * period
        self._calm.clear()

    def _state(self) -> object:
        """Everything that a look and the governor go by, in time from now."""
        endpoint, now = self.now, self.clock.at
        hint = endpoint.interval_hint
        return (
            endpoint.next_run_at and endpoint.next_run_at - now,
            hint and (hint.interval, hint.expires_at - now, hint.reason),
            tuple(
                [
                    now - changed_at
                    for changed_at in endpoint.planner_changes
                    if now - changed_at < DAY
                ]
            ),
            tuple([(now - response.slot_at, response.status) for response in self.recent]),
            min(now - endpoint.created_at, DAY),
            self.health.health(0),
        )

    def _run(self, slot_at: datetime, at: float) -> bool:
        row = self.tables.endpoints[self.endpoint.id]
        outcome = self.trace.answer(at)
        finished = FinishedRun(_claim(row.endpoint, slot_at), outcome, slot_at, slot_at)
        after = finish_run(row.endpoint, finished, slot_at, CRON).endpoint
        self.tables.endpoints[self.endpoint.id] = replace(row, endpoint=after)
        is_well = outcome.status is RunStatus.SUCCESS
        self.health.add(slot_at, is_well)
        answered = Response(
            slot_at, slot_at, outcome.status, outcome.body, _ZERO, outcome.status_code
        )
        self.recent.appendleft(answered)
        return not is_well

    def _look(self, brain: RulesBrain) -> bool:
        """One session, as the planner holds it; whether it named a change of what is measured."""
        endpoint = self.now
        health = self.health.health(endpoint.failure_count)
        context = AnalysisContext(
            self.clock.at, endpoint, self.job, health, (), recent=tuple(self.recent)
        )
        stores = (self.memory.store, self.memory.analysis_queue)
        tools = Toolbox(context, *stores, self.clock, CRON)
        step(brain.analyse(context, tools))
        return tools.submission is not None and names_a_change(tools.submission.reasoning)


def names_a_change(reasoning: str) -> bool:
    sentences = reasoning.split(". ")
    return any(sentence.partition(":")[0] in NAMES_A_CHANGE for sentence in sentences)


def rules_brain(budget: Budget) -> RulesBrain:
    return RulesBrain(CRON, budget=budget)


async def add_to(store: Store, job: Job, endpoint: Endpoint, target: HttpTarget) -> Endpoint:
    """The only endpoint of a store, with its first plan."""
    async with store.transaction() as tx:
        now = await tx.time()
        stored = StoredJob(job, now, now)
        await tx.insert_tenant(Tenant(job.tenant_id, "replay", now))
        await tx.insert_jobs([stored])
        return (await add_endpoint(tx, stored, endpoint, target, CRON)).endpoint


def step(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run what never waits, without a loop."""
    try:
        coroutine.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("something waited in a replay")


def _claim(endpoint: Endpoint, slot_at: datetime) -> Claim:
    return Claim(
        run_id=endpoint.id,
        endpoint_id=endpoint.id,
        tenant_id=endpoint.tenant_id,
        job_id=endpoint.job_id,
        endpoint_name=endpoint.name,
        target=TARGET,
        slot_at=slot_at,
        source=endpoint.next_source or Source.BASELINE_INTERVAL,
        epoch=1,
        first_claimed_at=slot_at,
    )
