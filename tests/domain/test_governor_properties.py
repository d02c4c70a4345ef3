"""What holds for every plan, over situations and histories that nobody would think of.

The examples are the same on every run. To search further, raise EXAMPLES and drop `derandomize`.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cadenza.domain import steering
from cadenza.domain.endpoint import (
    PLATFORM_MIN_INTERVAL,
    Baseline,
    CronLine,
    Endpoint,
    Every,
    OnDemand,
)
from cadenza.domain.errors import Refused
from cadenza.domain.governor import plan_next_run
from cadenza.domain.hint import Author, IntervalHint, OneShotHint, Pause
from cadenza.domain.instants import FOREVER, TICK
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Inputs, Plan, Source
from cadenza.domain.run import FinishedRun, Outcome, RunStatus
from tests.factories import CRON, NOON, id_of, make_claim, make_endpoint, seconds

EXAMPLES = 200
HISTORIES = 120

nasty = settings(
    max_examples=EXAMPLES,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
lived = settings(nasty, max_examples=HISTORIES)

# --- Situations -----------------------------------------------------------------------------

# Few distinct values, so that ties, equal ends and exact hits are common; a microsecond beside
# them, so that one side and the other of every border are seen.
SECONDS = (0, 1, 2, 15, 30, 59, 60, 61, 90, 120, 300, 600, 1800, 3600, 7200)
COUNTS = st.sampled_from(SECONDS)
LENGTHS = st.sampled_from([seconds(each) for each in SECONDS if each])
AROUND_NOON = st.sampled_from(
    [
        NOON + sign * seconds(count) + ticks * TICK
        for sign in (1, -1)
        for ticks in (0, 1, -1)
        for count in SECONDS
    ]
)


def one_of(*values: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


BASELINES: st.SearchStrategy[Baseline] = st.one_of(
    st.builds(Every, LENGTHS),
    one_of(
        CronLine("* * * * *"),
        CronLine("*/5 * * * *"),
        CronLine("0 * * * *", "Asia/Kathmandu"),
        CronLine("30 2 * * *", "Europe/Paris"),
        CronLine("0 0 1 1 *"),
    ),
    st.just(OnDemand()),
)
AUTHORS = st.sampled_from(list(Author))
PAUSES = st.none() | st.none() | st.builds(Pause, AROUND_NOON | st.just(FOREVER))


class Situation(NamedTuple):
    now: datetime
    endpoint: Endpoint
    after_run: bool

    def plan(self, **fields: Any) -> Plan:
        endpoint = replace(self.endpoint, **fields) if fields else self.endpoint
        return plan_next_run(self.now, endpoint, CRON, after_run=self.after_run)

    @property
    def keeps_due_slot(self) -> bool:
        at, paused = self.endpoint.next_run_at, self.endpoint.paused_until(self.now)
        return not self.after_run and paused is None and at is not None and at <= self.now


def situation(
    anchor_at: datetime | None,
    slot_after_anchor: int,
    present: Plan | None,
    after_run: bool,
    **fields: Any,
) -> Situation:
    """An endpoint as it may stand at noon: also with its last slot in the future."""
    last_slot_at = None if anchor_at is None else anchor_at + seconds(slot_after_anchor)
    endpoint = make_endpoint(
        **fields, last_run_at=anchor_at, last_slot_at=last_slot_at, plan=present
    )
    return Situation(NOON, endpoint, after_run and anchor_at is not None)


def present_plan(at: datetime, winner: Source) -> Plan:
    return Plan(at, winner, None, winner, Inputs(NOON, False, None, None, 0, timedelta(0)))


SITUATIONS = st.builds(
    situation,
    anchor_at=maybe(AROUND_NOON),
    # A late start or an overrun leaves the slot before the anchor, a person's run after it.
    slot_after_anchor=one_of(0, 0, 0, -5, -90, 1, 45, 3600),
    present=maybe(st.builds(present_plan, AROUND_NOON, one_of(*Source))),
    after_run=st.booleans(),
    baseline=BASELINES,
    created_at=one_of(NOON, NOON - TICK, NOON - seconds(60), NOON - seconds(7200)),
    min_interval=maybe(LENGTHS),
    max_interval=maybe(LENGTHS),
    interval_hint=maybe(st.builds(IntervalHint, LENGTHS, AROUND_NOON, AUTHORS)),
    one_shot_hint=maybe(st.builds(OneShotHint, AROUND_NOON, AROUND_NOON, AUTHORS)),
    person_pause=PAUSES,
    planner_pause=PAUSES,
    job_paused_until=one_of(None, None, None, NOON + seconds(60), FOREVER),
    failure_count=one_of(0, 0, 1, 2, 5, 9),
    not_before_at=st.none() | st.none() | AROUND_NOON,
    manual_slot_at=one_of(None, None, None, NOON, NOON + TICK),
    spread=one_of(timedelta(0), seconds(3)),
)


def floors(situation: Situation, plan: Plan) -> list[datetime]:
    """Everything that a plan may not be before."""
    endpoint = situation.endpoint
    anchor_at = plan.anchor_at
    if plan.winner is Source.AI_ONESHOT:
        anchor_at = endpoint.last_run_at
    found = [] if anchor_at is None else [anchor_at + min_of(endpoint)]
    if endpoint.not_before_at is not None:
        found.append(endpoint.not_before_at)
    found.extend(each + TICK for each in (endpoint.last_slot_at, endpoint.manual_slot_at) if each)
    return found


def min_of(endpoint: Endpoint) -> timedelta:
    return endpoint.min_interval or PLATFORM_MIN_INTERVAL


# --- One plan -------------------------------------------------------------------------------


@given(SITUATIONS)
@nasty
def test_no_plan_is_before_min_retry_after_or_a_slot_that_exists(situation: Situation) -> None:
    plan = situation.plan()
    if plan.next_run_at is not None and not situation.keeps_due_slot:
        assert plan.next_run_at >= max(floors(situation, plan), default=plan.next_run_at)


@given(SITUATIONS)
@nasty
def test_no_plan_is_after_max_unless_a_floor_or_a_pause_says_so(situation: Situation) -> None:
    plan, endpoint = situation.plan(), situation.endpoint
    if plan.next_run_at is None or plan.anchor_at is None or endpoint.max_interval is None:
        return
    if situation.keeps_due_slot or plan.source is Source.PAUSED:
        return
    if plan.winner is Source.AI_ONESHOT and isinstance(endpoint.baseline, OnDemand):
        return
    ceiling = plan.anchor_at + endpoint.max_interval
    if plan.next_run_at <= max(ceiling, situation.now):
        return
    floor = max(floors(situation, plan))
    if plan.winner is Source.BASELINE_CRON:
        assert floor > min(ceiling, plan.candidates[0].at), "nothing but a floor pushes a cron"
        floor = CRON.next_after(*line_of(endpoint), floor - TICK)
    assert plan.next_run_at == floor


def line_of(endpoint: Endpoint) -> tuple[str, str]:
    assert isinstance(endpoint.baseline, CronLine)
    return endpoint.baseline.expression, endpoint.baseline.timezone


@given(SITUATIONS)
@nasty
def test_no_plan_is_in_the_past_but_a_slot_that_was_already_due(situation: Situation) -> None:
    plan = situation.plan()
    if situation.keeps_due_slot:
        assert plan == situation.endpoint.plan
    elif plan.next_run_at is not None:
        assert plan.next_run_at >= situation.now


@given(SITUATIONS)
@nasty
def test_a_pause_wins(situation: Situation) -> None:
    plan = situation.plan()
    pause_end = situation.endpoint.paused_until(situation.now)
    if pause_end is not None and plan.next_run_at is not None:
        assert plan.next_run_at >= pause_end


NO_PAUSE = {"person_pause": None, "planner_pause": None, "job_paused_until": None}


@given(SITUATIONS)
@nasty
def test_a_pause_never_hastens(situation: Situation) -> None:
    paused, free = situation.plan(), situation.plan(**NO_PAUSE)
    if free.next_run_at is None:
        assert paused.next_run_at is None
    elif paused.next_run_at is not None:
        assert paused.next_run_at >= free.next_run_at


@given(SITUATIONS)
@nasty
def test_no_hint_acts_after_its_expiry(situation: Situation) -> None:
    plan, endpoint = situation.plan(), situation.endpoint
    if situation.keeps_due_slot or plan.next_run_at is None:
        return
    if plan.winner is Source.AI_INTERVAL:
        assert endpoint.interval_hint is not None
        assert plan.next_run_at <= endpoint.interval_hint.expires_at
    if plan.winner is Source.AI_ONESHOT:
        assert endpoint.one_shot_hint is not None
        assert plan.next_run_at < endpoint.one_shot_hint.expires_at


@given(SITUATIONS, COUNTS, COUNTS)
@nasty
def test_expired_hints_change_nothing(situation: Situation, ago: int, length: int) -> None:
    expires_at = situation.now - seconds(ago)
    expired = situation.plan(
        interval_hint=IntervalHint(seconds(length), expires_at),
        one_shot_hint=OneShotHint(situation.now + seconds(length), expires_at),
    )
    assert expired == situation.plan(interval_hint=None, one_shot_hint=None)


@given(SITUATIONS)
@nasty
def test_the_same_input_gives_the_same_plan(situation: Situation) -> None:
    assert situation.plan() == situation.plan(name=situation.endpoint.name)


@given(SITUATIONS)
@nasty
def test_the_winner_is_a_candidate_that_nothing_excluded(situation: Situation) -> None:
    plan = situation.plan()
    if not situation.keeps_due_slot and plan.winner is not None:
        open_sources = [each.source for each in plan.candidates if each.excluded is None]
        assert plan.winner in open_sources


@given(SITUATIONS)
@nasty
def test_a_plan_from_its_record_is_the_same_plan(situation: Situation) -> None:
    plan = situation.plan()
    assert Plan.from_record(plan.record()) == plan


@given(SITUATIONS)
@nasty
def test_a_cron_that_nothing_brought_forward_stays_on_its_grid(situation: Situation) -> None:
    plan = situation.plan()
    if situation.keeps_due_slot or plan.winner is not Source.BASELINE_CRON:
        return
    if plan.source is Source.CLAMPED_MAX or plan.next_run_at in (None, FOREVER):
        return
    line = line_of(situation.endpoint)
    assert CRON.next_after(*line, plan.next_run_at - TICK) == plan.next_run_at


@given(SITUATIONS, one_of(1, 3, 5, 9), COUNTS)
@nasty
def test_a_success_ends_the_backoff_at_once(
    situation: Situation, failures: int, takes: int
) -> None:
    slot_at = situation.now - seconds(takes)
    endpoint = replace(
        situation.endpoint, failure_count=failures, last_slot_at=None, running_slot_at=slot_at
    )
    claim = make_claim(endpoint, slot_at)
    finished = FinishedRun(claim, Outcome(RunStatus.SUCCESS), slot_at, situation.now)
    after_failures = finish_run(endpoint, finished, situation.now, CRON).endpoint
    untroubled = replace(endpoint, failure_count=0)

    assert after_failures.failure_count == 0
    assert after_failures == finish_run(untroubled, finished, situation.now, CRON).endpoint


# --- Histories ------------------------------------------------------------------------------


@dataclass
class Life:
    """An endpoint under one worker, a person, a planner, and a clock that may step back."""

    endpoint: Endpoint
    now: datetime = NOON
    slots: list[datetime] = field(default_factory=list[datetime])  # of scheduled runs, in order
    by_hand: list[datetime] = field(default_factory=list[datetime])
    fired: list[str] = field(default_factory=list[str])  # the one-shots that led to a run
    hints_given: int = 0

    def run_due(
        self, late: int, takes: int, outcome: Outcome, attempt: int, meanwhile: list[Any]
    ) -> None:
        """Wait for what is next and run it; acts may come while it is in flight."""
        endpoint = self.endpoint
        slot_at, is_manual = endpoint.manual_slot_at, endpoint.manual_slot_at is not None
        slot_at = slot_at or endpoint.next_run_at
        if slot_at is None or slot_at >= FOREVER:
            return
        self.note(slot_at, is_manual)
        started_at = max(self.now, slot_at) + seconds(late)
        claimed_at = started_at - timedelta(milliseconds=250)
        claim = make_claim(
            endpoint, slot_at, attempt=attempt, is_manual=is_manual, first_claimed_at=claimed_at
        )
        self.endpoint = replace(
            endpoint, running_slot_at=slot_at, running_is_manual=is_manual, manual_slot_at=None
        )
        self.now = started_at + seconds(takes)
        self.take(meanwhile)
        finished = FinishedRun(claim, outcome, started_at, self.now)
        self.endpoint = finish_run(self.endpoint, finished, self.now, CRON).endpoint

    def take(self, steps: list[Any]) -> None:
        for name, *arguments in steps:
            getattr(self, name)(*arguments)

    def note(self, slot_at: datetime, is_manual: bool) -> None:
        if is_manual:
            self.by_hand.append(slot_at)
            return
        self.slots.append(slot_at)
        plan, shot = self.endpoint.plan, self.endpoint.one_shot_hint
        assert plan is not None
        if plan.winner is Source.AI_ONESHOT and shot is not None and shot.run_at <= slot_at:
            self.fired.append(shot.reason)

    def wait(self, count: int) -> None:
        """Time passes; a negative count steps the clock back."""
        self.now += seconds(count)

    def suggest_interval(self, length: timedelta, ttl: timedelta, author: Author) -> None:
        hint = IntervalHint(length, self.now + ttl, author)
        self._try(lambda: steering.suggest_interval(self.endpoint, hint, self.now, CRON))

    def suggest_run(self, after: int, ttl: timedelta, author: Author) -> None:
        self.hints_given += 1
        run_at = self.now + seconds(after)
        hint = OneShotHint(run_at, self.now + ttl, author, f"one-shot {self.hints_given}")
        self._try(lambda: steering.suggest_run_at(self.endpoint, hint, self.now, CRON))

    def clear(self, author: Author) -> None:
        self._try(lambda: steering.clear_hints(self.endpoint, author, self.now, CRON))

    def pause(self, length: int, author: Author) -> None:
        until_at = self.now + seconds(length)
        self._try(lambda: steering.pause(self.endpoint, until_at, author, "", self.now, CRON))

    def pause_job(self, length: int) -> None:
        until_at = self.now + seconds(length)
        self._try(lambda: steering.set_job_pause(self.endpoint, until_at, self.now, CRON))

    def resume(self, author: Author) -> None:
        self._try(lambda: steering.resume(self.endpoint, author, self.now, CRON))

    def edit(self, baseline: Baseline, least: timedelta | None, most: timedelta | None) -> None:
        self._try(
            lambda: steering.edit(
                self.endpoint,
                baseline=baseline,
                min_interval=least,
                max_interval=most,
                now=self.now,
                cron=CRON,
            )
        )

    def run_now(self) -> None:
        self._try(lambda: steering.request_run_now(self.endpoint, self.now))

    def _try(self, act: Any) -> None:
        with suppress(Refused):
            self.endpoint = act()


OUTCOMES = one_of(
    Outcome(RunStatus.SUCCESS),
    Outcome(RunStatus.FAILURE),
    Outcome(RunStatus.TIMEOUT),
    Outcome(RunStatus.CANCELLED),
    Outcome(RunStatus.FAILURE, retry_after=seconds(0)),
    Outcome(RunStatus.FAILURE, retry_after=seconds(90)),
    Outcome(RunStatus.SUCCESS, retry_after=seconds(86_400)),
)


def step(name: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(name), *arguments)


ACTS = st.one_of(
    step("wait", one_of(0, 1, 30, 60, 600, -1, -60, -3600)),
    step("suggest_interval", LENGTHS, LENGTHS, AUTHORS),
    step("suggest_run", one_of(-60, 0, 1, 30, 60, 600), LENGTHS, AUTHORS),
    step("clear", AUTHORS),
    step("pause", one_of(0, 1, 60, 600, 3600), AUTHORS),
    step("pause_job", one_of(-1, 60, 600)),
    step("resume", AUTHORS),
    step("edit", BASELINES, maybe(LENGTHS), maybe(LENGTHS)),
    step("run_now"),
)
MEANWHILE = st.lists(ACTS, max_size=2)
RUN = step("run_due", one_of(0, 0, 0, 2, 30), COUNTS, OUTCOMES, one_of(1, 1, 1, 2), MEANWHILE)
STEPS = st.lists(st.one_of(RUN, ACTS), min_size=4, max_size=25)


def live(baseline: Baseline, min_interval: timedelta | None, steps: list[Any]) -> Life:
    endpoint = make_endpoint(id=id_of("life"), baseline=baseline, min_interval=min_interval)
    life = Life(steering.begin(endpoint, NOON, CRON))
    life.take(steps)
    return life


@given(BASELINES, maybe(LENGTHS), STEPS)
@lived
def test_over_any_history_slots_strictly_increase(
    baseline: Baseline, min_interval: timedelta | None, steps: list[Any]
) -> None:
    slots = live(baseline, min_interval, steps).slots
    assert slots == sorted(set(slots))


@given(BASELINES, maybe(LENGTHS), STEPS)
@lived
def test_over_any_history_no_two_runs_share_a_slot(
    baseline: Baseline, min_interval: timedelta | None, steps: list[Any]
) -> None:
    life = live(baseline, min_interval, steps)
    every_slot = [*life.slots, *life.by_hand]
    assert len(every_slot) == len(set(every_slot))


@given(BASELINES, maybe(LENGTHS), STEPS)
@lived
def test_over_any_history_a_one_shot_fires_at_most_once(
    baseline: Baseline, min_interval: timedelta | None, steps: list[Any]
) -> None:
    fired = live(baseline, min_interval, steps).fired
    assert len(fired) == len(set(fired))


@given(BASELINES, maybe(LENGTHS), STEPS, COUNTS)
@lived
def test_after_any_history_a_run_is_never_followed_before_min(
    baseline: Baseline, min_interval: timedelta | None, steps: list[Any], takes: int
) -> None:
    life = live(baseline, min_interval, steps)
    life.endpoint = replace(life.endpoint, manual_slot_at=None)
    before = len(life.slots)
    life.run_due(0, takes, Outcome(RunStatus.SUCCESS), 1, [])
    next_run_at = life.endpoint.next_run_at
    if len(life.slots) > before and next_run_at is not None:
        assert next_run_at >= life.slots[-1] + min_of(life.endpoint)
        assert next_run_at >= life.now
