"""Random lives of one endpoint in the store, checked after every step against a plain model.

Everything that can happen to an endpoint happens here, in any order: hints, pauses, edits, runs,
crashes, takeovers, results that come too late, and a clock that steps forward and back. A failing
life names its seed and what happened last; run that seed alone and it fails again.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces
from uuid import UUID

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain import steering
from cadenza.domain.endpoint import Baseline, CronLine, Endpoint, Every, OnDemand
from cadenza.domain.errors import Refused
from cadenza.domain.governor import floor_at
from cadenza.domain.hint import Author, IntervalHint, OneShotHint
from cadenza.domain.instants import FOREVER, TICK
from cadenza.domain.plan import Source
from cadenza.domain.run import WORKER_LOST, Claim, FinishedRun, Outcome, Run, RunStatus
from tests.application.bench import Bench, simulated
from tests.direct import Transition
from tests.factories import FAILED, OK, minutes, seconds

LIVES = 200
TOGETHER = 10
STEPS = 150
OUTCOMES = (
    OK,
    OK,
    OK,
    FAILED,
    FAILED,
    Outcome(RunStatus.TIMEOUT, "timeout"),
    Outcome(RunStatus.CANCELLED, "worker_stopped"),
    replace(FAILED, retry_after=minutes(7)),
    replace(OK, retry_after=timedelta(0)),
    replace(FAILED, retry_after=timedelta(days=2)),
)
BASELINES: tuple[Baseline, ...] = (
    Every(minutes(1)),
    Every(minutes(10)),
    Every(seconds(5)),
    CronLine("* * * * *"),
    CronLine("*/7 * * * *", "Europe/Berlin"),
    OnDemand(),
)
GUARDRAILS = (
    (None, None),
    (None, None),
    (seconds(30), None),
    (None, minutes(5)),
    (seconds(30), minutes(5)),
    (minutes(4), minutes(4)),
)


@dataclass(slots=True)
class Execution:
    claim: Claim
    started_at: datetime | None = None


@dataclass(slots=True)
class Model:
    """What a person with a pencil would have written down."""

    failures: int = 0
    epoch: int = 0
    person_pause: datetime | None = None
    planner_pause: datetime | None = None
    job_pause: datetime | None = None
    archived: bool = False
    last_scheduled_slot: datetime | None = None
    planned_min: timedelta = timedelta(seconds=1)
    slots: set[datetime] = field(default_factory=set[datetime])
    in_flight: UUID | None = None
    ended: dict[UUID, Run] = field(default_factory=dict[UUID, Run])


class Life:
    def __init__(self, seed: int) -> None:
        self.chance = Random(seed)
        self.bench = Bench(seed)
        self.model = Model()
        self.held: Execution | None = None  # by the worker that flies now
        self.ghosts: list[Execution] = []  # of workers that are gone, and may still come back
        self.story: list[str] = []

    @property
    def now(self) -> datetime:
        return self.bench.now

    @property
    def endpoint(self) -> Endpoint:
        return self.bench.endpoint()

    async def begin(self) -> None:
        least, most = self.chance.choice(GUARDRAILS)
        await self.bench.add(
            baseline=self.chance.choice(BASELINES),
            min_interval=least,
            max_interval=most,
            spread=self.chance.choice([timedelta(0), seconds(3)]),
        )

    async def step(self) -> None:
        happening = self.chance.choice(HAPPENINGS)
        before, was_in_flight = self.endpoint, self.model.in_flight
        self.story.append(happening.__name__.strip("_"))
        await happening(self)
        self._check_everywhere(before)
        if happening in ACTS and was_in_flight:
            assert self.endpoint.plan == before.plan, "an act moved what is in flight"

    # --- Time -----------------------------------------------------------------------------

    async def _time_passes(self) -> None:
        await self.bench.sleep(self.chance.choice([0.000001, 0.1, 1, 5, 20, 31, 61, 200, 900]))

    async def _until_due(self) -> None:
        if self.endpoint.next_run_at is not None:
            wait = (self.endpoint.next_run_at - self.now).total_seconds()
            await self.bench.sleep(min(max(0.0, wait), 3600.0))

    async def _clock_steps(self) -> None:
        self.bench.clock.step(seconds(self.chance.choice([-3600, -90, -1, 1, 90, 3600])))

    # --- Acts -----------------------------------------------------------------------------

    async def _act(self, act: Transition) -> bool:
        """Whether it was accepted; one that is refused changes nothing."""
        before = self.endpoint
        try:
            await self.bench.act("probe", act)
        except Refused:
            assert self.endpoint == before
            return False
        return True

    def _author(self) -> Author:
        return self.chance.choice([Author.PERSON, Author.PLANNER, Author.PLANNER])

    async def _hint(self) -> None:
        before = self.endpoint
        life = minutes(self.chance.choice([1, 3, 15, 240]))
        interval = seconds(self.chance.choice([1, 20, 45, 150, 1200]))
        hint = IntervalHint(interval, self.now + life, self._author())
        if await self._act(lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron)):
            self._check_never_later(before)

    async def _one_shot(self) -> None:
        before = self.endpoint
        run_at = self.now + seconds(self.chance.choice([-50, 0, 0, 10, 100, 800]))
        life = minutes(self.chance.choice([1, 5, 30]))
        hint = OneShotHint(run_at, self.now + life, self._author())
        replaced = before.plan is not None and before.plan.winner == "ai-oneshot"
        if not await self._act(lambda ep, now, cron: steering.suggest_run_at(ep, hint, now, cron)):
            return
        if not replaced:
            self._check_never_later(before)
        after = self.endpoint
        taken = (at for at in (after.last_slot_at, after.manual_slot_at) if at is not None)
        clock_stepped_back = max(taken, default=self.now) > self.now
        asleep = self.model.in_flight or self.model.archived or self._paused_until()
        if not asleep and not clock_stepped_back:
            assert after.next_run_at is not None, "an accepted one-shot leads to a run"

    def _check_never_later(self, before: Endpoint) -> None:
        if before.next_run_at is not None:
            assert self.endpoint.next_run_at is not None
            assert self.endpoint.next_run_at <= before.next_run_at, "a nudge pushed a run back"

    async def _clear(self) -> None:
        author = self._author()
        before = self.endpoint
        await self._act(lambda ep, now, cron: steering.clear_hints(ep, author, now, cron))
        for kept, old in (
            (self.endpoint.interval_hint, before.interval_hint),
            (self.endpoint.one_shot_hint, before.one_shot_hint),
        ):
            theirs = old is not None and old.author is Author.PERSON and old.expires_at > self.now
            if theirs and author is Author.PLANNER:
                assert kept == old

    async def _pause(self) -> None:
        author = self._author()
        length = self.chance.choice([None, 1, 2, 2, 5, 30])
        until_at = None if length is None else self.now + minutes(length)
        end = until_at or FOREVER
        await self._act(lambda ep, now, cron: steering.pause(ep, until_at, author, "", now, cron))
        if author is Author.PLANNER:
            self.model.planner_pause = end
        else:
            self.model.person_pause = end

    async def _resume(self) -> None:
        author, before = self._author(), self.endpoint
        was_paused = self._paused_until() is not None
        accepted = await self._act(lambda ep, now, cron: steering.resume(ep, author, now, cron))
        if not was_paused:
            assert self.endpoint == before, "a resume of what is not paused changed something"
            return
        person_paused = self.model.person_pause is not None and self.model.person_pause > self.now
        assert accepted == (author is Author.PERSON or not person_paused)
        if not accepted:
            return
        self.model.planner_pause = None
        if author is Author.PERSON:
            self.model.person_pause = None
        self._check_resumed()

    def _check_resumed(self) -> None:
        after = self.endpoint
        free = not (self.model.in_flight or self.model.archived or self._paused_until())
        if free and isinstance(after.baseline, Every):
            floor = floor_at(after, after.last_run_at)
            due_at = max(self.now, floor[0] if floor else self.now)
            assert after.next_run_at is not None
            last = max(filter(None, (after.last_slot_at, after.manual_slot_at)), default=None)
            assert after.next_run_at == (due_at if last is None else max(due_at, last + TICK))

    async def _job_pause(self) -> None:
        until_at = self.chance.choice([None, None, self.now + minutes(3), self.now - minutes(3)])
        await self._act(lambda ep, now, cron: steering.set_job_pause(ep, until_at, now, cron))
        self.model.job_pause = until_at if until_at is not None and until_at > self.now else None

    async def _edit(self) -> None:
        least, most = self.chance.choice(GUARDRAILS)
        baseline = self.chance.choice([self.endpoint.baseline, self.chance.choice(BASELINES)])
        await self._act(
            lambda ep, now, cron: steering.edit(
                ep, baseline=baseline, min_interval=least, max_interval=most, now=now, cron=cron
            )
        )

    async def _reset_failures(self) -> None:
        await self._act(steering.reset_failures)
        self.model.failures = 0

    async def _run_now(self) -> None:
        before = self.endpoint
        free = not (self.model.in_flight or self.model.archived or before.manual_slot_at)
        accepted = await self._act(lambda ep, now, _: steering.request_run_now(ep, now))
        assert accepted == free
        assert (self.endpoint.plan, self.endpoint.last_run_at) == (before.plan, before.last_run_at)

    async def _archive(self) -> None:
        if self.chance.random() < 0.1:
            await self._act(steering.archive)
            self.model.archived = True

    # --- Runs -----------------------------------------------------------------------------

    async def _claim(self) -> None:
        ahead = self.chance.choice([timedelta(0), timedelta(milliseconds=250)])
        before = self.endpoint
        request = ClaimRequest("worker", 5, seconds(30), ahead=ahead)
        claims = (await self.bench.queue.claim_due(request)).claims
        assert len(claims) <= 1
        for claim in claims:
            self._claimed(claim, before, ahead)

    async def _sweep(self) -> None:
        before = self.endpoint
        claims = await self.bench.queue.claim_lost(ClaimRequest("sweeper", 5, seconds(30)))
        for claim in claims:
            assert claim.attempt > 1
            self._claimed(claim, before, timedelta(0))

    def _claimed(self, claim: Claim, before: Endpoint, ahead: timedelta) -> None:
        model = self.model
        assert claim.epoch == model.epoch + 1, "an epoch rises by one with every claim"
        model.epoch = claim.epoch
        if claim.attempt > 1:
            assert claim.run_id == model.in_flight, "a takeover is of what was in flight"
            assert claim.slot_at == before.running_slot_at
            if self.held is not None:
                self.ghosts.append(self.held)
        else:
            assert model.in_flight is None, "claimed while in flight"
            assert claim.slot_at not in model.slots, "a slot was given out twice"
            model.slots.add(claim.slot_at)
            model.in_flight = claim.run_id
            assert not model.archived
            if not claim.is_manual:
                self._check_scheduled_claim(claim, before, ahead)
        self.held = Execution(claim)

    def _check_scheduled_claim(self, claim: Claim, before: Endpoint, ahead: timedelta) -> None:
        model = self.model
        assert self._paused_until() is None, "claimed during a pause"
        assert claim.slot_at <= self.now + ahead, "claimed before it was due"
        assert (claim.slot_at, claim.source) == (before.next_run_at, before.next_source)
        last = model.last_scheduled_slot
        assert last is None or claim.slot_at >= last + model.planned_min, "closer than min"
        model.last_scheduled_slot = claim.slot_at

    async def _start(self) -> None:
        flight = self.held
        if flight is not None and flight.started_at is None and self.now >= flight.claim.slot_at:
            flight.started_at = self.now

    async def _renew(self) -> None:
        if self.held is not None:
            has_ended = self.bench.row().is_lost(self.now)
            held = (await self.bench.queue.renew([self.held.claim], seconds(30))).renewed
            assert held == (frozenset() if has_ended else {self.held.claim.run_id})
        for ghost in self.ghosts:
            if ghost.claim.epoch != self.model.epoch:
                assert not (await self.bench.queue.renew([ghost.claim], seconds(30))).renewed

    async def _finish(self) -> None:
        flight = self.held
        if flight is None:
            return
        if flight.claim.must_close:
            await self._finished(flight, WORKER_LOST)
        elif flight.started_at is not None:
            await self._finished(flight, self.chance.choice(OUTCOMES))

    async def _finished(self, flight: Execution, outcome: Outcome) -> None:
        before, claim, model = self.endpoint, flight.claim, self.model
        result = FinishedRun(claim, outcome, flight.started_at, self.now)
        report = await self.bench.queue.finish([result])
        assert report.late == frozenset()
        self.held, model.in_flight = None, None
        if outcome.status is RunStatus.SUCCESS:
            model.failures = 0
        elif outcome.status is not RunStatus.CANCELLED and not (
            claim.is_manual and outcome is WORKER_LOST
        ):
            model.failures += 1
        run, after = self.bench.tables.runs[claim.run_id], self.endpoint
        assert (run.status, run.slot_at, run.attempt) == (
            outcome.status,
            claim.slot_at,
            claim.attempt,
        )
        model.ended[run.id] = run
        self._check_finished(before, after, result)

    def _check_finished(self, before: Endpoint, after: Endpoint, result: FinishedRun) -> None:
        assert not after.in_flight
        for hint in (after.interval_hint, after.one_shot_hint):
            assert hint is None or hint.expires_at > self.now, "an expired hint was kept"
        if result.claim.is_manual:
            assert after.last_run_at == before.last_run_at, "a person's run moved the anchor"
            return
        assert after.last_run_at is not None
        assert after.last_run_at >= result.claim.slot_at
        hint = after.one_shot_hint
        assert hint is None or hint.run_at > result.first_started_at, "a one-shot fires twice"

    async def _whole_run(self) -> None:
        await self._until_due()
        await self._claim()
        if self.held is not None:
            wait = (self.held.claim.slot_at - self.now).total_seconds()
            await self.bench.sleep(max(0.0, min(wait, 1.0)))
            await self._start()
            await self.bench.sleep(self.chance.choice([0, 0.3, 4, 29, 100]))
            await self._finish()

    async def _finish_again(self) -> None:
        """The answer of the store got lost, and the worker says the same once more."""
        flight = self.held
        if flight is None or flight.started_at is None:
            return
        outcome = self.chance.choice(OUTCOMES)
        await self._finished(flight, outcome)
        state = self._everything()
        result = FinishedRun(flight.claim, outcome, flight.started_at, self.now)
        assert not (await self.bench.queue.finish([result])).late
        assert self._everything() == state, "a result was stored twice"

    async def _crash(self) -> None:
        if self.held is not None:
            self.ghosts.append(self.held)
            self.held = None

    async def _late_finish(self) -> None:
        """A worker that was thought dead writes; only where nobody took over does it count."""
        if not self.ghosts:
            return
        ghost = self.ghosts.pop(self.chance.randrange(len(self.ghosts)))
        if ghost.claim.epoch == self.model.epoch and ghost.claim.run_id == self.model.in_flight:
            if ghost.started_at is not None:
                await self._finished(ghost, self.chance.choice(OUTCOMES))
            return
        state, late = self._everything(), len(self.bench.late_results)
        result = FinishedRun(ghost.claim, FAILED, ghost.started_at or self.now, self.now)
        report = await self.bench.queue.finish([result])
        assert self._everything() == state, "a late result changed something"
        run = self.model.ended.get(ghost.claim.run_id)
        told_before = run is not None and run.epoch == ghost.claim.epoch
        assert report.late == (frozenset() if told_before else {ghost.claim.run_id})
        assert len(self.bench.late_results) == late + (not told_before)

    async def _give_back(self) -> None:
        flight = self.held
        if flight is None or flight.started_at is not None or flight.claim.must_close:
            return
        claim = flight.claim
        await self.bench.queue.give_back([claim])
        self.held = None
        self.model.epoch += 1
        if claim.attempt == 1:
            self.model.in_flight = None
            self.model.slots.discard(claim.slot_at)
            assert claim.run_id not in self.bench.tables.runs
            assert not self.endpoint.in_flight
            if not claim.is_manual:
                self.model.last_scheduled_slot = self._slot_before(claim.slot_at)

    def _slot_before(self, slot_at: datetime) -> datetime | None:
        runs = self.bench.runs()
        return max(
            (r.slot_at for r in runs if not r.is_manual and r.slot_at < slot_at), default=None
        )

    # --- What always holds ------------------------------------------------------------------

    def _paused_until(self) -> datetime | None:
        pauses = (self.model.person_pause, self.model.planner_pause, self.model.job_pause)
        end = max((each for each in pauses if each is not None), default=None)
        return end if end is not None and end > self.now else None

    def _everything(self) -> tuple[object, ...]:
        row, tables = self.bench.row(), self.bench.tables
        return (row.endpoint, row.epoch, row.lease_until, row.run_id, dict(tables.runs))

    def _check_everywhere(self, before: Endpoint) -> None:
        model, after, row = self.model, self.endpoint, self.bench.row()
        assert row.epoch == model.epoch
        assert after.failure_count == model.failures
        assert after.in_flight == (model.in_flight is not None)
        assert row.run_id == model.in_flight
        runs = self.bench.tables.runs
        for run_id, run in model.ended.items():
            assert runs[run_id] is run, "a terminal run changed"
        open_runs = [run.id for run in runs.values() if run.status is RunStatus.RUNNING]
        assert open_runs == ([model.in_flight] if model.in_flight else [])
        assert len(runs) == len(model.ended) + len(open_runs)
        assert {run.slot_at for run in runs.values()} == model.slots
        if after.plan is not before.plan and after.plan != before.plan:
            self._check_new_plan(after)
        if model.in_flight:
            return
        if model.archived:
            assert after.next_run_at is None, "planned though archived"
        elif after.next_run_at is None:
            assert isinstance(after.baseline, OnDemand), "nothing is planned"

    def _check_new_plan(self, after: Endpoint) -> None:
        self.model.planned_min = after.min_interval or timedelta(seconds=1)
        plan, next_run_at = after.plan, after.next_run_at
        assert plan is not None
        if next_run_at is None:
            return
        assert next_run_at >= self.now, "planned into the past"
        pause_end = self._paused_until()
        assert pause_end is None or next_run_at >= pause_end, "planned into a pause"
        # After an overrun a one-shot keeps its distance from the true anchor, not from now.
        anchor_at = plan.inputs.anchor_at if plan.winner == "ai-oneshot" else after.last_run_at
        floor = floor_at(after, anchor_at)
        assert floor is None or next_run_at >= floor[0], "planned before the floor"
        last = after.last_slot_at
        assert last is None or next_run_at > last, "slots must increase"
        assert next_run_at not in self.model.slots
        if plan.winner == "ai-interval":
            assert after.interval_hint is not None
            assert next_run_at <= after.interval_hint.expires_at, "a hint outlives its life"
        if plan.winner == "ai-oneshot":
            assert after.one_shot_hint is not None
            assert next_run_at < after.one_shot_hint.expires_at, "a one-shot outlives its life"


StoredEvent = Callable[[Life], Awaitable[None]]
ACTS: tuple[StoredEvent, ...] = (
    Life._hint,
    Life._hint,
    Life._one_shot,
    Life._one_shot,
    Life._clear,
    Life._pause,
    Life._resume,
    Life._resume,
    Life._job_pause,
    Life._edit,
    Life._reset_failures,
    Life._run_now,
    Life._archive,
)
HAPPENINGS: tuple[StoredEvent, ...] = (
    *ACTS,
    *(Life._time_passes,) * 6,
    *(Life._until_due,) * 4,
    Life._clock_steps,
    *(Life._claim,) * 8,
    Life._sweep,
    *(Life._start,) * 6,
    *(Life._finish,) * 5,
    *(Life._whole_run,) * 6,
    Life._finish_again,
    Life._renew,
    *(Life._crash,) * 2,
    Life._late_finish,
    Life._give_back,
)


@pytest.mark.parametrize("first_seed", range(0, LIVES, TOGETHER))
@simulated
async def test_no_history_of_acts_breaks_what_always_holds(first_seed: int) -> None:
    for seed in range(first_seed, first_seed + TOGETHER):
        life = Life(seed)
        await life.begin()
        for _ in range(STEPS):
            try:
                await life.step()
            except Exception as error:
                last = ", ".join(life.story[-12:])
                error.add_note(f"seed {seed}, step {len(life.story)}: {last}")
                raise


@simulated
async def test_the_lives_are_eventful_enough_to_prove_something() -> None:
    statuses: Counter[str] = Counter()
    sources: set[Source] = set()
    taken_over = late = 0
    for seed in range(TOGETHER * 3):
        life = Life(seed)
        await life.begin()
        for _ in range(STEPS):
            await life.step()
        runs = life.bench.tables.runs.values()
        statuses.update(run.status for run in runs)
        taken_over += sum(run.attempt > 1 for run in runs)
        late += len(life.bench.late_results)
        sources.update(run.source for run in runs)
    assert all(statuses[status] >= 5 for status in RunStatus), statuses
    assert taken_over >= 10
    assert late >= 5
    assert len(sources) >= 8, sources
