"""A job's life under the rules brain: the real governor, tools and hints over the store in memory.

Time jumps from run to run. Nothing in the store ever waits, so a coroutine ends at its first step.
Where nothing can change, runs are not lived through: until an endpoint's target changes, or what
the brain decided for it ends, runs come one interval after the other and no look does a thing.
Those runs are counted, the last of them is lived again (`skips`; a test holds both ways together).
"""

from collections import deque
from collections.abc import Coroutine
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from math import ceil
from typing import Any, TypeVar
from uuid import UUID, uuid5

from benchmarks.adaptation.probes import Probes, unchanged_until
from benchmarks.adaptation.traces import DAY, Group, Trace
from cadenza.adapters.brains.rules.brain import RulesBrain
from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.application.endpoints import add_endpoint
from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.store import Store
from cadenza.application.tools import Toolbox
from cadenza.domain.access import Tenant
from cadenza.domain.analysis import RECENT_RESPONSES, AnalysisContext, Response, SiblingState
from cadenza.domain.detectors.memory import memory_of
from cadenza.domain.detectors.watch import failed_lately
from cadenza.domain.endpoint import Endpoint, Every, Job
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.run import Claim, FinishedRun, RunStatus
from cadenza.domain.target import HttpTarget
from cadenza.domain.value import replace

T = TypeVar("T")
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
SPACE = UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")
CRON = CronsimCron()
TARGET = HttpTarget("http://trace.invalid/")
_ZERO = timedelta(0)
_WINDOWS = tuple(HealthWindow(length, 0, 0) for length in WINDOWS)
_SAME_MOMENT = 1e-3


@dataclass(slots=True)
class JumpingClock:
    at: datetime = EPOCH

    def now(self) -> datetime:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        raise AssertionError(f"nothing in a replay waits, and this for {duration}")


@dataclass(eq=False)
class Member:
    """One endpoint of the job: its trace, and what is known of it."""

    trace: Trace
    id: UUID
    first: float  # when it first runs
    probes: Probes
    recent: deque[Response]
    outages: deque[datetime]  # when it was seen to go down, within a day
    memory: dict[str, Any] | None = None
    state: SiblingState | None = None  # as its siblings see it; None before it has run
    turn: int = 0  # an entry of the queue with another number is out of date


class JobLife:
    """`policy` None: no brain at all, which is the plain product with its backoff."""

    def __init__(
        self,
        group: Group,
        baseline: float,
        least: float,
        phases: list[float],
        policy: PlannerPolicy | None,
        *,
        skips: bool = True,
    ) -> None:
        self.clock = JumpingClock()
        self.tables = Tables(self.clock, lambda: SPACE)
        self.memory = MemoryStores(self.tables)
        tenant_id = uuid5(SPACE, "tenant")
        self.job = Job(SPACE, tenant_id, "replay", planner=policy or PlannerPolicy())
        self.brain = RulesBrain(CRON) if policy is not None else None
        self.skips = skips and not any(trace.times for trace in group)
        self.baseline = baseline
        self.members = [
            Member(
                trace,
                uuid5(SPACE, f"{number} {trace.name}"),
                trace.begin + phase,
                Probes(),
                deque(maxlen=RECENT_RESPONSES),
                deque(),
            )
            for number, (trace, phase) in enumerate(zip(group, phases, strict=True))
        ]
        endpoints = [
            Endpoint(
                id=member.id,
                tenant_id=tenant_id,
                job_id=self.job.id,
                name=f"{number} {member.trace.name}",
                baseline=Every(timedelta(seconds=baseline)),
                created_at=EPOCH + timedelta(seconds=member.first),
                min_interval=timedelta(seconds=least),
                spread=_ZERO,
            )
            for number, member in enumerate(self.members)
        ]
        step(add_to(self.memory.store, self.job, endpoints))
        self._queue: list[tuple[float, int, int]] = []

    def endpoint(self, member: Member) -> Endpoint:
        return self.tables.endpoints[member.id].endpoint

    def live(self) -> list[Probes]:
        for number in range(len(self.members)):
            self._put_in_queue(number)
        while self._queue:
            at, number, turn = heappop(self._queue)
            member = self.members[number]
            if turn != member.turn:
                continue
            self._live_until(number, at)
        return [member.probes for member in self.members]

    # --- One run, and what is between two of them -----------------------------------------------

    def _live_until(self, number: int, at: float) -> None:
        """Count the runs that change nothing, live the one that is due, look, and go on."""
        member = self.members[number]
        self._skip_to(member, at)
        slot_at = self.endpoint(member).next_run_at
        assert slot_at is not None
        if seconds_of(slot_at) >= member.trace.end:
            return
        self.clock.at = slot_at
        was_down = bool(member.recent) and not member.recent[0].is_well
        is_down = self._run(member, slot_at)
        if is_down and not was_down:
            member.outages.append(slot_at)
        if self.brain is not None:
            self._look(member)
            if is_down and not was_down:
                self._tell_siblings(number)
        self._put_in_queue(number)

    def _put_in_queue(self, number: int) -> None:
        """At its next run at which anything can change."""
        member = self.members[number]
        member.turn += 1
        next_run_at = self.endpoint(member).next_run_at
        assert next_run_at is not None
        first = seconds_of(next_run_at)
        count = self._skippable(member, first) if self.skips else 0
        at = first + count * self._step(member)
        heappush(self._queue, (min(at, member.trace.end), number, member.turn))

    def _skippable(self, member: Member, first: float) -> int:
        """How many runs can be counted, before one has to be lived."""
        endpoint = self.endpoint(member)
        if len(member.recent) < RECENT_RESPONSES or endpoint.one_shot_hint is not None:
            return 0
        down, ends_at = not member.recent[0].is_well, member.trace.end
        hint = endpoint.interval_hint
        if self.brain is not None:
            memory = memory_of(member.memory, 0.0)
            is_open = down or failed_lately(memory) or self.job.planner.relax > 1
            if is_open or hint is not None:
                ends_at = min(ends_at, memory.settled_until - seconds_of_epoch())
        if hint is not None:  # the last run under it is planned otherwise
            ends_at = min(ends_at, seconds_of(hint.expires_at - hint.interval))
        assert endpoint.last_run_at is not None
        if abs(first - seconds_of(endpoint.last_run_at) - self._step(member)) > _SAME_MOMENT:
            return 0  # a backoff, which grows, or the end of a hint
        return unchanged_until(member.trace, first, self._step(member), down, ends_at)

    def _step(self, member: Member) -> float:
        hint = self.endpoint(member).interval_hint
        return self.baseline if hint is None else hint.interval.total_seconds()

    def _skip_to(self, member: Member, at: float) -> None:
        """Up to the run before this moment all is counted; the state is as if it had been lived."""
        next_run_at = self.endpoint(member).next_run_at
        assert next_run_at is not None
        first, interval = seconds_of(next_run_at), self._step(member)
        count = ceil((at - first) / interval - _SAME_MOMENT)
        if count > 0:
            self._count(member, first, count)

    def _count(self, member: Member, first: float, count: int) -> None:
        row, down = self.tables.endpoints[member.id], not member.recent[0].is_well
        endpoint, interval = row.endpoint, timedelta(seconds=self._step(member))
        assert endpoint.plan is not None
        assert endpoint.next_run_at is not None
        member.probes.add(first, interval.total_seconds(), count, down)
        last_at = endpoint.next_run_at + (count - 1) * interval
        after = replace(
            endpoint,
            last_run_at=last_at,
            last_slot_at=last_at,
            failure_count=endpoint.failure_count + count if down else 0,
            plan=replace(endpoint.plan, next_run_at=last_at + interval),
        )
        self.tables.endpoints[member.id] = replace(row, endpoint=after)
        newest = replace(member.recent[0], slot_at=last_at, finished_at=last_at)
        member.recent.appendleft(newest)
        if member.memory is not None:
            memory = {**member.memory, "seen_at": last_at.timestamp()}
            member.memory = {**memory, "failed_at": last_at.timestamp()} if down else memory
        member.state = SiblingState(after, newest, member.memory)

    def _run(self, member: Member, slot_at: datetime) -> bool:
        row = self.tables.endpoints[member.id]
        at = seconds_of(slot_at)
        outcome = member.trace.answer(at)
        finished = FinishedRun(_claim(row.endpoint, slot_at), outcome, slot_at, slot_at)
        after = finish_run(row.endpoint, finished, slot_at, CRON).endpoint
        self.tables.endpoints[member.id] = replace(row, endpoint=after)
        answered = Response(
            slot_at, slot_at, outcome.status, outcome.body, _ZERO, outcome.status_code
        )
        member.recent.appendleft(answered)
        member.state = SiblingState(after, answered, member.memory)
        down = outcome.status is not RunStatus.SUCCESS
        member.probes.add(at, 0.0, 1, down)
        return down

    # --- Looks ----------------------------------------------------------------------------------

    def _tell_siblings(self, number: int) -> None:
        """As after every run of a sibling; only a failure that begins is news to them."""
        now = seconds_of(self.clock.at)
        for other, member in enumerate(self.members):
            if other == number or member.state is None or now >= member.trace.end:
                continue
            self._skip_before(member, now)
            before = self.endpoint(member).next_run_at
            self._look(member)
            if self.endpoint(member).next_run_at != before:
                self._put_in_queue(other)

    def _skip_before(self, member: Member, now: float) -> None:
        """What has run before this moment has run."""
        next_run_at = self.endpoint(member).next_run_at
        assert next_run_at is not None
        first = seconds_of(next_run_at)
        if first < now:
            interval = self._step(member)
            self._count(member, first, ceil((now - first) / interval))

    def _look(self, member: Member) -> None:
        """One session, as the planner holds it."""
        assert self.brain is not None
        context = self._context(member)
        stores = (self.memory.store, self.memory.analysis_queue)
        tools = Toolbox(context, *stores, self.clock, CRON, session_id=SPACE, brain="rules")
        usage = step(self.brain.analyse(context, tools))
        if usage.memory is not None:
            member.memory = dict(usage.memory)
        if member.recent:
            member.state = SiblingState(self.endpoint(member), member.recent[0], member.memory)

    def _context(self, member: Member) -> AnalysisContext:
        endpoint, now = self.endpoint(member), self.clock.at
        while member.outages and member.outages[0] <= now - timedelta(seconds=DAY):
            member.outages.popleft()
        health = Health(_WINDOWS, _ZERO, endpoint.failure_count, len(member.outages))
        at = seconds_of(now)
        siblings = tuple(
            [
                other.state
                for other in self.members
                if other.state is not None and other is not member and at < other.trace.end
            ]
        )
        return AnalysisContext(
            now,
            endpoint,
            self.job,
            health,
            (),
            recent=tuple(member.recent),
            siblings=siblings,
            memory=member.memory,
        )


def seconds_of(instant: datetime) -> float:
    return (instant - EPOCH).total_seconds()


def seconds_of_epoch() -> float:
    return EPOCH.timestamp()


async def add_to(store: Store, job: Job, endpoints: list[Endpoint]) -> None:
    async with store.transaction() as tx:
        now = await tx.time()
        stored = StoredJob(job, now, now)
        await tx.insert_tenant(Tenant(job.tenant_id, "replay", now))
        await tx.insert_jobs([stored])
        for endpoint in endpoints:
            await add_endpoint(tx, stored, endpoint, TARGET, CRON)


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
