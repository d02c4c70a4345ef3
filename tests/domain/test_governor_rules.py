"""The governor's rules, in the order of the design: one clause, one sentence, one test."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from cadenza.domain.backoff import backed_off, jitter, phase
from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.governor import plan_next_run
from cadenza.domain.hint import Pause
from cadenza.domain.instants import FOREVER, TICK
from cadenza.domain.outcome import anchor_of, apply_outcome, finish_run
from cadenza.domain.plan import Candidate, Plan, Source
from cadenza.domain.run import WORKER_LOST, FinishedRun, Outcome, RunStatus
from tests.factories import (
    CRON,
    FAILED,
    NOON,
    OK,
    id_of,
    interval_hint,
    make_claim,
    make_endpoint,
    make_finished,
    minutes,
    one_shot,
    ran_at,
    seconds,
)

HOUR = timedelta(hours=1)
LATER = NOON + 4 * HOUR
HOURLY = CronLine("0 * * * *")
NEW_YORK_NIGHTLY = CronLine("30 3 * * *", "America/New_York")


def plan(now: datetime, *, after_run: bool = True, **fields: Any) -> Plan:
    """The plan of an endpoint whose last slot was at noon, unless the fields say otherwise."""
    endpoint = make_endpoint(**{**ran_at(NOON), **fields})
    return plan_next_run(now, endpoint, CRON, after_run=after_run)


def outside(now: datetime, **fields: Any) -> Plan:
    """The same, but not at the finish of a run."""
    return plan(now, after_run=False, **fields)


def new(**fields: Any) -> dict[str, Any]:
    """The fields of an endpoint that never ran."""
    return {"last_run_at": None, "last_slot_at": None, **fields}


def candidate(made: Plan, source: Source) -> Candidate | None:
    return next((each for each in made.candidates if each.source is source), None)


def planned_at(made: Plan, at: datetime) -> Plan:
    return replace(made, next_run_at=at)


# --- 1. Outcome first -----------------------------------------------------------------------


def test_the_failure_of_the_run_counts_before_the_next_one_is_planned() -> None:
    endpoint = make_endpoint()
    finish = finish_run(endpoint, make_finished(endpoint, outcome=FAILED), NOON, CRON)

    assert finish.endpoint.failure_count == 1
    assert finish.endpoint.next_run_at == NOON + minutes(2)


def test_a_hint_that_expires_at_the_finish_is_gone() -> None:
    now = NOON + seconds(5)
    endpoint = make_endpoint(
        interval_hint=interval_hint(seconds(10), now), one_shot_hint=one_shot(now, now)
    )
    settled = apply_outcome(endpoint, make_finished(endpoint), now)

    assert settled.interval_hint is None
    assert settled.one_shot_hint is None


@pytest.mark.parametrize(
    ("run_at", "kept"),
    [
        pytest.param(NOON - minutes(1), False, id="before the start"),
        pytest.param(NOON + seconds(2), False, id="at the start"),
        pytest.param(NOON + seconds(2) + TICK, True, id="after the start"),
    ],
)
def test_a_one_shot_is_consumed_by_a_run_that_started_at_its_time_or_later(
    run_at: datetime, kept: bool
) -> None:
    endpoint = make_endpoint(one_shot_hint=one_shot(run_at, LATER))
    finished = make_finished(endpoint, late_by=seconds(2), takes=seconds(20))
    settled = apply_outcome(endpoint, finished, finished.finished_at)

    assert (settled.one_shot_hint is not None) is kept


def test_a_one_shot_fires_once_and_not_again_after_its_run() -> None:
    endpoint = make_endpoint(**ran_at(NOON), one_shot_hint=one_shot(NOON + seconds(30), LATER))
    first = plan_next_run(NOON + seconds(1), endpoint, CRON)
    assert (first.next_run_at, first.source) == (NOON + seconds(30), Source.AI_ONESHOT)

    finished = make_finished(endpoint, NOON + seconds(30), takes=seconds(1))
    finish = finish_run(endpoint, finished, finished.finished_at, CRON)

    assert finish.endpoint.one_shot_hint is None
    assert finish.endpoint.next_run_at == NOON + seconds(90)
    assert finish.endpoint.next_source is Source.BASELINE_INTERVAL


# --- 2. Anchor ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("min_interval", "late_by", "from_start"),
    [
        pytest.param(None, seconds(1), False, id="without min, 1 s is on time"),
        pytest.param(None, seconds(1) + TICK, True, id="without min, more than 1 s is late"),
        pytest.param(seconds(20), seconds(2), False, id="a tenth of min is on time"),
        pytest.param(seconds(20), seconds(2) + TICK, True, id="more than a tenth is late"),
        pytest.param(HOUR, seconds(10), False, id="10 s is on time however long min is"),
        pytest.param(HOUR, seconds(10) + TICK, True, id="more than 10 s is always late"),
    ],
)
def test_the_anchor_is_the_slot_unless_the_run_started_late(
    min_interval: timedelta | None, late_by: timedelta, from_start: bool
) -> None:
    endpoint = make_endpoint(min_interval=min_interval)
    finished = make_finished(endpoint, late_by=late_by)

    assert anchor_of(endpoint, finished) == (NOON + late_by if from_start else NOON)


def test_a_late_start_moves_the_cadence_and_keeps_min_between_two_starts() -> None:
    endpoint = make_endpoint(min_interval=minutes(1))
    finished = make_finished(endpoint, late_by=seconds(40), takes=seconds(2))
    finish = finish_run(endpoint, finished, finished.finished_at, CRON)

    assert finish.endpoint.last_run_at == NOON + seconds(40)
    assert finish.endpoint.last_slot_at == NOON
    assert finish.endpoint.next_run_at == NOON + seconds(100)


def test_where_a_lost_worker_left_no_start_the_anchor_is_the_time_of_the_claim() -> None:
    endpoint = make_endpoint(min_interval=minutes(1))
    claim = make_claim(endpoint, first_claimed_at=NOON + seconds(15), attempt=3)
    finished = FinishedRun(claim, OK, NOON + seconds(75), NOON + seconds(76))

    assert anchor_of(endpoint, finished) == NOON + seconds(15)


def test_a_claim_ahead_of_its_slot_is_no_start_before_it() -> None:
    endpoint = make_endpoint(one_shot_hint=one_shot(NOON, LATER))
    claim = make_claim(endpoint, first_claimed_at=NOON - timedelta(milliseconds=250), attempt=2)
    finished = FinishedRun(claim, WORKER_LOST, None, NOON + minutes(1))

    assert finished.first_started_at == NOON
    assert anchor_of(endpoint, finished) == NOON
    assert apply_outcome(endpoint, finished, NOON + minutes(1)).one_shot_hint is None


def test_an_overrun_stores_now_as_the_anchor() -> None:
    endpoint = make_endpoint(baseline=Every(seconds(15)))
    finished = make_finished(endpoint, takes=seconds(20))
    finish = finish_run(endpoint, finished, finished.finished_at, CRON)

    assert finish.endpoint.last_run_at == NOON + seconds(20)
    assert finish.endpoint.plan is not None
    assert finish.endpoint.plan.inputs.overrun
    assert finish.endpoint.plan.inputs.anchor_at == NOON


def test_intervals_and_clamps_are_measured_from_the_anchor_not_from_the_slot() -> None:
    late = {"last_run_at": NOON + seconds(30), "last_slot_at": NOON}
    now = NOON + seconds(31)

    assert plan(now, **late).next_run_at == NOON + seconds(90)
    assert plan(now, **late, min_interval=minutes(3)).next_run_at == NOON + seconds(210)
    assert plan(now, **late, max_interval=seconds(20)).next_run_at == NOON + seconds(50)


def test_min_does_not_apply_to_an_endpoint_that_never_ran() -> None:
    shot = one_shot(NOON + seconds(5), LATER)
    made = outside(NOON, **new(baseline=OnDemand(), min_interval=HOUR, one_shot_hint=shot))

    assert made.next_run_at == NOON + seconds(5)
    assert made.source is Source.AI_ONESHOT


def test_the_first_interval_run_is_at_creation_plus_the_phase() -> None:
    endpoint = make_endpoint(spread=seconds(3))
    made = plan_next_run(NOON, endpoint, CRON, after_run=False)

    assert made.next_run_at == NOON + phase(endpoint.id, minutes(1), seconds(3))
    assert made.next_run_at > NOON


# --- 3. Candidates --------------------------------------------------------------------------


def test_every_is_the_anchor_plus_the_interval() -> None:
    made = plan(NOON + seconds(7))

    assert made.next_run_at == NOON + minutes(1)
    assert made.source is Source.BASELINE_INTERVAL
    assert made.clamps == ()


def test_cron_is_the_first_occurrence_strictly_after_now() -> None:
    assert plan(NOON, baseline=HOURLY).next_run_at == NOON + HOUR
    assert plan(NOON + HOUR - TICK, baseline=HOURLY).next_run_at == NOON + HOUR
    assert plan(NOON + HOUR, baseline=HOURLY).next_run_at == NOON + 2 * HOUR


def test_cron_is_strictly_after_the_last_slot_when_the_clock_has_stepped_back() -> None:
    made = plan(NOON - minutes(30), baseline=HOURLY)

    assert made.next_run_at == NOON + HOUR


def test_cron_is_read_in_the_zone_of_the_endpoint() -> None:
    made = plan(NOON, baseline=NEW_YORK_NIGHTLY)

    assert made.next_run_at == datetime(2026, 3, 3, 8, 30, tzinfo=UTC)
    assert made.source is Source.BASELINE_CRON


def test_cron_knows_no_backoff() -> None:
    assert plan(NOON, baseline=HOURLY, failure_count=5).next_run_at == NOON + HOUR


def test_on_demand_has_no_candidate() -> None:
    made = plan(NOON, baseline=OnDemand())

    assert (made.next_run_at, made.source, made.winner) == (None, None, None)
    assert made.candidates == ()


def test_an_interval_hint_is_the_anchor_plus_its_interval_without_backoff() -> None:
    hint = interval_hint(seconds(20), LATER)
    made = plan(NOON + seconds(1), interval_hint=hint, failure_count=5)

    assert made.next_run_at == NOON + seconds(20)
    assert made.source is Source.AI_INTERVAL


def test_an_interval_hint_on_an_endpoint_that_never_ran_counts_from_now() -> None:
    hint = interval_hint(seconds(20), LATER)
    made = outside(NOON + seconds(7), **new(baseline=OnDemand(), interval_hint=hint))

    assert made.next_run_at == NOON + seconds(27)


def test_an_interval_hint_that_is_overdue_outside_a_finish_counts_from_now_before_the_choice() -> (
    None
):
    now = NOON + minutes(10)
    hint = interval_hint(minutes(5), LATER)
    shot = one_shot(now + minutes(2), LATER)
    made = outside(now, baseline=Every(HOUR), interval_hint=hint, one_shot_hint=shot)

    interval = candidate(made, Source.AI_INTERVAL)
    assert interval is not None
    assert interval.at == now + minutes(5)
    assert made.winner is Source.AI_ONESHOT


def test_an_interval_hint_whose_time_is_just_now_is_due_and_not_overdue() -> None:
    hint = interval_hint(minutes(5), LATER)

    assert outside(NOON + minutes(5), interval_hint=hint).next_run_at == NOON + minutes(5)


def test_a_hint_may_act_at_the_very_instant_of_its_expiry() -> None:
    hint = interval_hint(minutes(5), NOON + minutes(5))

    assert plan(NOON, interval_hint=hint).source is Source.AI_INTERVAL


def test_behind_a_hint_that_would_act_too_late_the_baseline_waits_for_the_expiry() -> None:
    hint = interval_hint(minutes(5), NOON + minutes(5) - TICK)
    made = plan(NOON, interval_hint=hint)

    assert made.next_run_at == hint.expires_at
    assert made.source is Source.BASELINE_INTERVAL
    interval = candidate(made, Source.AI_INTERVAL)
    assert interval is not None
    assert interval.excluded == "it would act after it has expired"


def test_a_baseline_that_is_later_than_the_expiry_keeps_its_own_time() -> None:
    hint = interval_hint(minutes(5), NOON + minutes(4))

    assert plan(NOON, baseline=Every(HOUR), interval_hint=hint).next_run_at == NOON + HOUR


def test_a_hint_that_the_floor_moves_past_its_expiry_is_no_candidate() -> None:
    hint = interval_hint(minutes(5), NOON + minutes(6))
    made = plan(NOON, min_interval=minutes(10), interval_hint=hint)

    assert made.winner is Source.BASELINE_INTERVAL
    assert made.next_run_at == NOON + minutes(10)
    assert made.source is Source.CLAMPED_MIN


def test_behind_a_hint_that_would_act_too_late_a_cron_stays_on_its_grid() -> None:
    hint = interval_hint(3 * HOUR, NOON + minutes(90))
    made = plan(NOON, baseline=HOURLY, interval_hint=hint)

    assert made.next_run_at == NOON + 2 * HOUR
    assert made.source is Source.BASELINE_CRON


def test_a_cron_that_occurs_at_the_very_expiry_takes_that_occurrence() -> None:
    hint = interval_hint(3 * HOUR, NOON + 2 * HOUR)

    assert plan(NOON, baseline=HOURLY, interval_hint=hint).next_run_at == NOON + 2 * HOUR


def test_behind_a_hint_that_would_act_too_late_on_demand_has_nothing() -> None:
    hint = interval_hint(minutes(5), NOON + minutes(4))

    assert plan(NOON, baseline=OnDemand(), interval_hint=hint).next_run_at is None


def test_an_expired_hint_is_not_even_considered() -> None:
    made = outside(
        NOON + seconds(5),
        interval_hint=interval_hint(seconds(10), NOON + seconds(5)),
        one_shot_hint=one_shot(NOON + seconds(6), NOON + seconds(5)),
    )
    assert [each.source for each in made.candidates] == [Source.BASELINE_INTERVAL]


def test_a_one_shot_is_its_time() -> None:
    made = plan(NOON, one_shot_hint=one_shot(NOON + seconds(42), LATER))

    assert made.next_run_at == NOON + seconds(42)
    assert made.source is Source.AI_ONESHOT


def test_a_one_shot_must_run_before_its_expiry_not_at_it() -> None:
    in_time = one_shot(NOON + seconds(42), NOON + seconds(42) + TICK)
    too_late = one_shot(NOON + seconds(42), NOON + seconds(42))

    assert plan(NOON, one_shot_hint=in_time).winner is Source.AI_ONESHOT
    assert plan(NOON, one_shot_hint=too_late).winner is Source.BASELINE_INTERVAL


def test_a_one_shot_that_the_floor_moves_to_its_expiry_is_no_candidate() -> None:
    shot = one_shot(NOON + seconds(42), NOON + minutes(5))
    made = plan(NOON, baseline=OnDemand(), min_interval=minutes(5), one_shot_hint=shot)

    assert made.next_run_at is None
    considered = candidate(made, Source.AI_ONESHOT)
    assert considered is not None
    assert considered.excluded == "it would act after it has expired"


@pytest.mark.parametrize(
    ("after", "wins"),
    [
        pytest.param(minutes(5), True, id="at max"),
        pytest.param(minutes(5) + TICK, False, id="past max"),
    ],
)
def test_a_one_shot_later_than_max_is_no_candidate(after: timedelta, wins: bool) -> None:
    shot = one_shot(NOON + after, LATER)
    made = plan(NOON, baseline=Every(HOUR), max_interval=minutes(5), one_shot_hint=shot)

    assert made.next_run_at == NOON + minutes(5)
    assert (made.winner is Source.AI_ONESHOT) is wins
    assert made.source is (Source.AI_ONESHOT if wins else Source.CLAMPED_MAX)


def test_a_one_shot_for_now_is_a_candidate_also_long_after_max() -> None:
    now = NOON + minutes(30)
    made = outside(
        now, baseline=Every(HOUR), max_interval=minutes(5), one_shot_hint=one_shot(now, LATER)
    )
    assert (made.next_run_at, made.winner) == (now, Source.AI_ONESHOT)


def test_max_never_excludes_a_one_shot_of_an_on_demand_endpoint() -> None:
    shot = one_shot(NOON + HOUR, LATER)
    made = plan(NOON, baseline=OnDemand(), max_interval=minutes(5), one_shot_hint=shot)

    assert made.next_run_at == NOON + HOUR
    assert made.source is Source.AI_ONESHOT


@pytest.mark.parametrize(
    ("expires_after_pause", "acts"),
    [
        pytest.param(timedelta(0), False, id="expires with the pause"),
        pytest.param(TICK, True, id="outlives the pause"),
    ],
)
def test_hints_that_expire_by_the_end_of_a_pause_are_no_candidates(
    expires_after_pause: timedelta, acts: bool
) -> None:
    pause = Pause(NOON + HOUR)
    expires_at = pause.until_at + expires_after_pause
    paused: dict[str, Any] = {"baseline": OnDemand(), "person_pause": pause}
    interval = plan(NOON, **paused, interval_hint=interval_hint(minutes(5), expires_at))
    shot = plan(NOON, **paused, one_shot_hint=one_shot(NOON + minutes(5), expires_at))

    expected = pause.until_at if acts else None
    assert (interval.next_run_at, shot.next_run_at) == (expected, expected)


# --- 4. Choice ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hint", "shot", "winner", "after"),
    [
        pytest.param(None, None, Source.BASELINE_INTERVAL, 60, id="no hint: the baseline"),
        pytest.param(20, None, Source.AI_INTERVAL, 20, id="an earlier interval hint wins"),
        pytest.param(90, None, Source.AI_INTERVAL, 90, id="a later interval hint wins too"),
        pytest.param(60, None, Source.AI_INTERVAL, 60, id="an equal interval hint wins too"),
        pytest.param(None, 30, Source.AI_ONESHOT, 30, id="an earlier one-shot wins"),
        pytest.param(None, 60, Source.AI_ONESHOT, 60, id="a tie with the baseline is a one-shot"),
        pytest.param(None, 90, Source.BASELINE_INTERVAL, 60, id="a later one-shot waits"),
        pytest.param(90, 70, Source.AI_ONESHOT, 70, id="both later: the one-shot is earlier"),
        pytest.param(70, 90, Source.AI_INTERVAL, 70, id="both later: the interval is earlier"),
        pytest.param(20, 30, Source.AI_INTERVAL, 20, id="both earlier: the interval is earlier"),
        pytest.param(90, 90, Source.AI_INTERVAL, 90, id="a tie of both hints is the interval"),
    ],
)
def test_the_choice_between_baseline_and_hints(
    hint: int | None, shot: int | None, winner: Source, after: int
) -> None:
    made = plan(
        NOON,
        interval_hint=None if hint is None else interval_hint(seconds(hint), LATER),
        one_shot_hint=None if shot is None else one_shot(NOON + seconds(shot), LATER),
    )
    assert (made.winner, made.source) == (winner, winner)
    assert made.next_run_at == NOON + seconds(after)


def test_a_one_shot_competes_with_the_baseline_when_the_interval_hint_cannot_act() -> None:
    made = plan(
        NOON,
        interval_hint=interval_hint(minutes(30), NOON + minutes(20)),
        one_shot_hint=one_shot(NOON + minutes(25), LATER),
    )
    assert made.next_run_at == NOON + minutes(20)
    assert made.winner is Source.BASELINE_INTERVAL


# --- 5. Guardrails --------------------------------------------------------------------------


def test_min_is_a_floor_from_the_anchor() -> None:
    made = plan(NOON, min_interval=seconds(30), interval_hint=interval_hint(seconds(10), LATER))
    assert made.next_run_at == NOON + seconds(30)
    assert made.source is Source.CLAMPED_MIN
    assert made.winner is Source.AI_INTERVAL
    assert made.clamps == (Source.CLAMPED_MIN,)


def test_without_a_min_of_the_owner_a_second_is_the_floor() -> None:
    made = plan(NOON, interval_hint=interval_hint(timedelta(milliseconds=1), LATER))

    assert made.next_run_at == NOON + seconds(1)
    assert made.source is Source.CLAMPED_MIN


def test_max_is_a_ceiling_from_the_anchor() -> None:
    made = plan(NOON, max_interval=minutes(2), interval_hint=interval_hint(minutes(10), LATER))
    assert made.next_run_at == NOON + minutes(2)
    assert made.source is Source.CLAMPED_MAX
    assert made.winner is Source.AI_INTERVAL


def test_a_time_that_is_just_max_is_not_clamped() -> None:
    made = plan(NOON, max_interval=minutes(1))

    assert made.next_run_at == NOON + minutes(1)
    assert (made.source, made.clamps) == (Source.BASELINE_INTERVAL, ())


def test_max_brings_even_a_cron_forward() -> None:
    made = plan(NOON, baseline=HOURLY, max_interval=minutes(10))

    assert made.next_run_at == NOON + minutes(10)
    assert made.source is Source.CLAMPED_MAX


def test_where_min_is_above_max_the_floor_wins_and_both_are_told() -> None:
    made = plan(NOON, baseline=Every(HOUR), min_interval=minutes(10), max_interval=minutes(5))
    assert made.next_run_at == NOON + minutes(10)
    assert made.source is Source.CLAMPED_MIN
    assert made.clamps == (Source.CLAMPED_MAX, Source.CLAMPED_MIN)


def test_retry_after_is_a_floor() -> None:
    made = plan(NOON, not_before_at=NOON + minutes(3))

    assert made.next_run_at == NOON + minutes(3)
    assert made.source is Source.RETRY_AFTER


def test_the_later_of_min_and_retry_after_counts() -> None:
    hint = interval_hint(seconds(2), LATER)
    retry_later = plan(
        NOON, min_interval=minutes(1), not_before_at=NOON + minutes(2), interval_hint=hint
    )
    min_later = plan(
        NOON, min_interval=minutes(3), not_before_at=NOON + minutes(2), interval_hint=hint
    )
    assert (retry_later.next_run_at, retry_later.source) == (
        NOON + minutes(2),
        Source.RETRY_AFTER,
    )
    assert (min_later.next_run_at, min_later.source) == (NOON + minutes(3), Source.CLAMPED_MIN)


def test_retry_after_goes_past_max() -> None:
    made = plan(NOON, max_interval=minutes(1), not_before_at=NOON + minutes(30))

    assert made.next_run_at == NOON + minutes(30)
    assert made.source is Source.RETRY_AFTER


def test_retry_after_holds_back_a_one_shot_and_an_endpoint_that_never_ran() -> None:
    shot = one_shot(NOON + seconds(5), LATER)
    asked = NOON + minutes(2)
    ran = plan(NOON, one_shot_hint=shot, not_before_at=asked)
    never_ran = outside(NOON, **new(one_shot_hint=shot, not_before_at=asked))

    assert (ran.next_run_at, ran.source) == (asked, Source.RETRY_AFTER)
    assert (never_ran.next_run_at, never_ran.source) == (asked, Source.RETRY_AFTER)


def test_a_cron_pushed_by_min_stays_on_its_grid() -> None:
    late = {"last_run_at": NOON + minutes(55), "last_slot_at": NOON}
    made = plan(NOON + minutes(56), **late, baseline=HOURLY, min_interval=minutes(20))

    assert made.next_run_at == NOON + 2 * HOUR
    assert made.source is Source.CLAMPED_MIN


def test_a_cron_whose_occurrence_is_the_floor_takes_it() -> None:
    made = plan(NOON, baseline=HOURLY, min_interval=HOUR)

    assert made.next_run_at == NOON + HOUR
    assert made.source is Source.BASELINE_CRON


def test_a_cron_pushed_by_the_floor_stays_on_its_grid_even_past_max() -> None:
    made = plan(NOON, baseline=HOURLY, max_interval=minutes(90), not_before_at=NOON + minutes(70))
    assert made.next_run_at == NOON + 2 * HOUR
    assert made.next_run_at > NOON + minutes(90)
    assert made.source is Source.RETRY_AFTER


# --- 6. Overrun -----------------------------------------------------------------------------


def test_a_run_longer_than_its_interval_is_followed_an_interval_after_its_end() -> None:
    made = plan(NOON + seconds(61))

    assert made.next_run_at == NOON + seconds(121)
    assert made.anchor_at == NOON + seconds(61)


def test_a_failing_overrun_backs_off_from_its_end() -> None:
    made = plan(NOON + minutes(3), failure_count=1)

    assert made.next_run_at == NOON + minutes(5)


def test_a_run_longer_than_its_max_is_clamped_from_its_end() -> None:
    made = plan(NOON + minutes(7), baseline=Every(minutes(10)), max_interval=minutes(5))

    assert made.next_run_at == NOON + minutes(12)
    assert made.source is Source.CLAMPED_MAX


def test_after_an_overrun_min_counts_from_the_end_for_intervals() -> None:
    made = plan(
        NOON + minutes(2), interval_hint=interval_hint(seconds(10), LATER), min_interval=minutes(1)
    )

    assert made.next_run_at == NOON + minutes(3)
    assert made.source is Source.CLAMPED_MIN


def test_a_cron_that_overran_takes_its_next_occurrence() -> None:
    made = plan(NOON + minutes(130), baseline=HOURLY)

    assert made.next_run_at == NOON + 3 * HOUR
    assert not made.inputs.overrun


def test_a_one_shot_that_fell_into_a_long_run_is_due_at_its_end() -> None:
    now = NOON + seconds(90)
    made = plan(now, one_shot_hint=one_shot(NOON + seconds(20), LATER))

    assert made.next_run_at == now
    assert made.source is Source.AI_ONESHOT
    assert made.anchor_at == now


def test_after_an_overrun_a_one_shot_keeps_its_min_from_the_true_anchor() -> None:
    now = NOON + seconds(130)
    shot = one_shot(NOON + seconds(100), LATER)
    made = plan(now, min_interval=minutes(2), baseline=Every(HOUR), one_shot_hint=shot)

    assert made.inputs.overrun
    assert made.next_run_at == now, "from the new anchor it would wait for two more minutes"
    assert made.source is Source.AI_ONESHOT


def test_a_one_shot_that_fell_into_a_run_waits_for_its_min_where_that_is_after_the_end() -> None:
    shot = one_shot(NOON + seconds(100), LATER)
    made = plan(NOON + seconds(110), min_interval=minutes(2), one_shot_hint=shot)

    assert not made.inputs.overrun
    assert (made.next_run_at, made.source) == (NOON + minutes(2), Source.CLAMPED_MIN)


def test_a_hint_that_an_overrun_moves_past_its_expiry_gives_way_to_the_baseline() -> None:
    now = NOON + seconds(35)
    hint = interval_hint(seconds(30), now + seconds(20))
    made = plan(now, baseline=Every(seconds(15)), interval_hint=hint)

    assert made.winner is Source.BASELINE_INTERVAL
    assert made.next_run_at == hint.expires_at


def test_outside_a_finish_an_overdue_every_is_due_now() -> None:
    now = NOON + HOUR
    made = outside(now)

    assert made.next_run_at == now
    assert made.anchor_at == NOON


def test_outside_a_finish_an_overdue_interval_hint_restarts_from_now() -> None:
    now = NOON + HOUR
    made = outside(now, interval_hint=interval_hint(minutes(5), LATER))

    assert made.next_run_at == now + minutes(5)


def test_outside_a_finish_an_overdue_one_shot_and_an_overdue_max_are_due_now() -> None:
    now = NOON + HOUR
    shot = outside(now, baseline=Every(2 * HOUR), one_shot_hint=one_shot(NOON, LATER))
    ceiling = outside(now, baseline=Every(2 * HOUR), max_interval=minutes(5))

    assert (shot.next_run_at, shot.source) == (now, Source.AI_ONESHOT)
    assert (ceiling.next_run_at, ceiling.source) == (now, Source.CLAMPED_MAX)


def test_outside_a_finish_a_slot_already_due_stays() -> None:
    due = planned_at(plan(NOON), NOON + minutes(1))
    made = outside(NOON + minutes(5), plan=due, baseline=HOURLY)

    assert made is due


def test_a_slot_that_is_due_just_now_stays() -> None:
    due = planned_at(plan(NOON), NOON + minutes(1))

    assert outside(NOON + minutes(1), plan=due, baseline=HOURLY) is due
    assert outside(NOON + minutes(1) - TICK, plan=due, baseline=HOURLY) is not due


def test_a_slot_already_due_does_not_stay_under_a_pause() -> None:
    due = planned_at(plan(NOON), NOON + minutes(1))
    made = outside(NOON + minutes(5), plan=due, person_pause=Pause(NOON + HOUR))

    assert made.next_run_at == NOON + HOUR
    assert made.source is Source.PAUSED


def test_at_the_finish_of_a_run_the_slot_it_had_does_not_stay() -> None:
    due = planned_at(plan(NOON), NOON)
    made = plan(NOON + seconds(5), plan=due)

    assert made.next_run_at == NOON + minutes(1)


# --- 7. Pause wins --------------------------------------------------------------------------


def test_a_pause_holds_the_next_run_back_to_its_end() -> None:
    made = plan(NOON, person_pause=Pause(NOON + HOUR))

    assert made.next_run_at == NOON + HOUR
    assert made.source is Source.PAUSED
    assert made.winner is Source.BASELINE_INTERVAL


def test_a_pause_never_brings_a_run_forward() -> None:
    made = plan(NOON, baseline=Every(2 * HOUR), person_pause=Pause(NOON + HOUR))

    assert made.next_run_at == NOON + 2 * HOUR
    assert made.source is Source.BASELINE_INTERVAL


def test_a_pause_that_ends_as_the_next_run_is_due_does_not_decide() -> None:
    made = plan(NOON, person_pause=Pause(NOON + minutes(1)))

    assert made.next_run_at == NOON + minutes(1)
    assert made.source is Source.BASELINE_INTERVAL


def test_a_pause_that_has_ended_does_nothing() -> None:
    assert plan(NOON + seconds(5), person_pause=Pause(NOON + seconds(5))).next_run_at == (
        NOON + minutes(1)
    )


def test_a_paused_cron_takes_its_first_occurrence_at_or_after_the_end() -> None:
    at_the_end = plan(NOON, baseline=HOURLY, person_pause=Pause(NOON + 2 * HOUR))
    after_the_end = plan(NOON, baseline=HOURLY, person_pause=Pause(NOON + 2 * HOUR + TICK))

    assert (at_the_end.next_run_at, at_the_end.source) == (NOON + 2 * HOUR, Source.PAUSED)
    assert (after_the_end.next_run_at, after_the_end.source) == (
        NOON + 3 * HOUR,
        Source.PAUSED,
    )


@pytest.mark.parametrize("baseline", [Every(minutes(1)), NEW_YORK_NIGHTLY], ids=["every", "cron"])
def test_an_endless_pause_is_the_far_instant_itself(baseline: Any) -> None:
    made = plan(NOON, baseline=baseline, person_pause=Pause(FOREVER))

    assert made.next_run_at == FOREVER
    assert made.source is Source.PAUSED


def test_a_paused_on_demand_endpoint_without_hints_has_nothing_to_wait_for() -> None:
    assert plan(NOON, baseline=OnDemand(), person_pause=Pause(FOREVER)).next_run_at is None


@pytest.mark.parametrize(
    ("person", "planner", "job", "ends"),
    [
        pytest.param(60, None, None, 60, id="a person's"),
        pytest.param(None, 60, None, 60, id="the planner's"),
        pytest.param(None, None, 60, 60, id="the job's"),
        pytest.param(30, 60, None, 60, id="the planner's is later than the person's"),
        pytest.param(60, 30, None, 60, id="the person's is later than the planner's"),
        pytest.param(30, 20, 60, 60, id="the job's is the latest"),
        pytest.param(-5, None, 60, 60, id="one of them has ended"),
    ],
)
def test_of_all_pauses_the_latest_counts(
    person: int | None, planner: int | None, job: int | None, ends: int
) -> None:
    made = plan(
        NOON,
        person_pause=None if person is None else Pause(NOON + minutes(person)),
        planner_pause=None if planner is None else Pause(NOON + minutes(planner)),
        job_paused_until=None if job is None else NOON + minutes(job),
    )
    assert made.next_run_at == NOON + minutes(ends)
    assert made.source is Source.PAUSED


def test_a_pause_is_stronger_than_max() -> None:
    made = plan(NOON, max_interval=minutes(5), planner_pause=Pause(NOON + HOUR))

    assert made.next_run_at == NOON + HOUR


# --- 8. Slots strictly increase -------------------------------------------------------------


@pytest.mark.parametrize(
    "baseline", [Every(minutes(1)), CronLine("* * * * *")], ids=["every", "cron"]
)
def test_slots_go_on_from_the_last_one_when_the_clock_steps_back(baseline: Any) -> None:
    made = plan(NOON - HOUR, baseline=baseline)

    assert made.next_run_at == NOON + minutes(1)


def test_a_slot_that_was_taken_by_a_person_is_passed_by_a_microsecond() -> None:
    made = outside(NOON, last_run_at=NOON - minutes(1), last_slot_at=NOON + seconds(5))

    assert made.next_run_at == NOON + seconds(5) + TICK


def test_a_cron_passes_a_taken_slot_on_its_grid() -> None:
    made = outside(
        NOON, baseline=HOURLY, last_run_at=NOON - HOUR, last_slot_at=NOON + HOUR, min_interval=HOUR
    )
    assert made.next_run_at == NOON + 2 * HOUR


def test_a_run_that_a_person_asked_for_has_taken_its_slot_before_it_is_claimed() -> None:
    shot = one_shot(NOON, LATER)
    made = outside(NOON, **new(one_shot_hint=shot, manual_slot_at=NOON))

    assert made.next_run_at == NOON + TICK


def test_a_hint_that_a_taken_slot_would_push_past_its_expiry_is_no_candidate() -> None:
    now = NOON + minutes(5)
    taken = {"last_run_at": NOON, "last_slot_at": now + seconds(30)}
    hint = interval_hint(seconds(310), now + seconds(20))
    shot = one_shot(now + seconds(10), now + seconds(20))

    for field in ({"interval_hint": hint}, {"one_shot_hint": shot}):
        made = outside(now, **taken, **field, baseline=OnDemand())
        assert made.next_run_at is None


# --- 9. Sources and the record --------------------------------------------------------------


def test_every_source_has_its_name_on_the_wire() -> None:
    assert {each.value for each in Source} == {
        "baseline-cron",
        "baseline-interval",
        "ai-interval",
        "ai-oneshot",
        "clamped-min",
        "clamped-max",
        "paused",
        "retry-after",
        "resumed",
        "manual",
    }


def busy_plan() -> Plan:
    """A plan that has something in every field of its record."""
    return plan(
        NOON + minutes(3),
        baseline=Every(minutes(2)),
        failure_count=2,
        spread=seconds(3),
        min_interval=minutes(10),
        max_interval=minutes(5),
        interval_hint=interval_hint(minutes(7), NOON + minutes(9)),
        one_shot_hint=one_shot(NOON + minutes(5) + TICK, LATER),
    )


def test_the_plan_keeps_every_candidate_the_winner_the_clamps_and_the_inputs() -> None:
    made = busy_plan()
    jittered = jitter(id_of("probe"), NOON, minutes(8), seconds(3))

    assert made.candidates == (
        Candidate(Source.BASELINE_INTERVAL, NOON + minutes(9)),
        Candidate(Source.AI_INTERVAL, NOON + minutes(7), "it would act after it has expired"),
        Candidate(Source.AI_ONESHOT, NOON + minutes(5) + TICK, "it is later than max allows"),
    )
    assert made.winner is Source.BASELINE_INTERVAL
    assert made.clamps == (Source.CLAMPED_MAX, Source.CLAMPED_MIN)
    assert made.source is Source.CLAMPED_MIN
    assert made.inputs.now == NOON + minutes(3)
    assert made.inputs.anchor_at == NOON
    assert made.inputs.last_slot_at == NOON
    assert made.inputs.failure_count == 2
    assert made.inputs.jitter == jittered > timedelta(0)


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(busy_plan(), id="with everything"),
        pytest.param(plan(NOON, baseline=OnDemand()), id="with nothing"),
        pytest.param(plan(NOON + minutes(2)), id="after an overrun"),
        pytest.param(plan(NOON, person_pause=Pause(FOREVER)), id="paused for ever"),
        pytest.param(plan(NOON, baseline=CronLine("0 0 31 2 *")), id="with a note"),
        pytest.param(outside(NOON, **new()), id="of an endpoint that never ran"),
    ],
)
def test_the_record_of_a_plan_survives_json(made: Plan) -> None:
    assert Plan.from_record(json.loads(json.dumps(made.record()))) == made


def test_the_record_writes_instants_in_utc_with_a_z_and_durations_in_milliseconds() -> None:
    record = busy_plan().record()

    assert record["next_run_at"] == "2026-03-02T12:10:00Z"
    assert record["inputs"]["now"] == "2026-03-02T12:03:00Z"
    assert record["candidates"][2]["at"] == "2026-03-02T12:05:00.000001Z"
    assert record["inputs"]["jitter_ms"] == 1681


def test_the_backed_off_slot_is_exactly_what_its_record_says() -> None:
    made = plan(NOON, failure_count=3, spread=seconds(3))
    record = made.record()["inputs"]

    assert made.next_run_at == NOON + minutes(8) + timedelta(milliseconds=record["jitter_ms"])


# --- Spread (section 4.9) -------------------------------------------------------------------


def many_ids() -> list[Any]:
    return [id_of(f"endpoint {number}") for number in range(500)]


@pytest.mark.parametrize(
    ("interval", "most"),
    [(seconds(1), seconds(0.1)), (seconds(20), seconds(2)), (HOUR, seconds(3))],
    ids=["every second", "every 20 s", "every hour"],
)
def test_phases_are_spread_over_three_seconds_and_less_than_a_tenth(
    interval: timedelta, most: timedelta
) -> None:
    phases = [phase(each, interval, seconds(3)) for each in many_ids()]

    assert timedelta(0) <= min(phases) < most * 0.02
    assert most * 0.98 < max(phases) < most
    assert len(set(phases)) > 490


def test_jitter_is_up_to_three_seconds_and_differs_by_endpoint_and_by_slot() -> None:
    by_endpoint = [jitter(each, NOON, HOUR, seconds(3)) for each in many_ids()]
    by_slot = [
        jitter(id_of("probe"), NOON + minutes(count), HOUR, seconds(3)) for count in range(500)
    ]
    for jitters in (by_endpoint, by_slot):
        assert timedelta(0) <= min(jitters) < seconds(0.1)
        assert seconds(2.9) < max(jitters) < seconds(3)
        assert len(set(jitters)) > 400


def test_phase_and_jitter_are_the_same_for_the_same_endpoint_and_slot() -> None:
    endpoint_id = id_of("probe")

    assert phase(endpoint_id, HOUR, seconds(3)) == phase(endpoint_id, HOUR, seconds(3))
    assert jitter(endpoint_id, NOON, HOUR, seconds(3)) == timedelta(milliseconds=1681)


def test_jitter_is_added_before_the_clamps() -> None:
    made = plan(NOON, failure_count=5, spread=seconds(3), max_interval=minutes(5))

    assert made.next_run_at == NOON + minutes(5)


def test_jitter_comes_from_the_slot_also_where_the_anchor_is_a_late_start() -> None:
    late = {"last_run_at": NOON + seconds(30), "last_slot_at": NOON}
    made = plan(NOON + seconds(31), **late, failure_count=1, spread=seconds(3))

    assert made.inputs.jitter == jitter(id_of("probe"), NOON, minutes(2), seconds(3))
    assert made.next_run_at == NOON + seconds(150) + made.inputs.jitter


def test_only_backed_off_slots_get_jitter() -> None:
    spread = {"spread": seconds(3)}
    shot = one_shot(NOON + seconds(30), LATER)
    hint = interval_hint(seconds(30), LATER)

    assert plan(NOON, **spread).next_run_at == NOON + minutes(1)
    assert plan(NOON, **spread, baseline=HOURLY, failure_count=3).next_run_at == NOON + HOUR
    for hints in ({"one_shot_hint": shot}, {"interval_hint": hint}):
        made = plan(NOON, **spread, **hints, failure_count=3)
        assert made.next_run_at == NOON + seconds(30)


def test_backoff_doubles_at_most_five_times() -> None:
    waits = [backed_off(seconds(1), failures) // seconds(1) for failures in range(8)]

    assert waits == [1, 2, 4, 8, 16, 32, 32, 32]


# --- What is not on any list ----------------------------------------------------------------


def test_an_archived_endpoint_sleeps() -> None:
    made = plan(NOON, archived_at=NOON, one_shot_hint=one_shot(NOON + seconds(5), LATER))

    assert made.next_run_at is None
    assert made.source is None


def test_a_cron_that_can_no_longer_be_read_sleeps_and_says_why() -> None:
    made = plan(NOON, baseline=CronLine("0 3 * * *", "Europe/Atlantis"))

    assert made.next_run_at is None
    assert made.note is not None
    assert "Europe/Atlantis" in made.note


def test_a_hint_still_wakes_an_endpoint_whose_cron_can_no_longer_be_read() -> None:
    made = plan(
        NOON,
        baseline=CronLine("0 3 * * *", "Europe/Atlantis"),
        one_shot_hint=one_shot(NOON + seconds(5), LATER),
    )
    assert made.next_run_at == NOON + seconds(5)
    assert made.note is not None


def test_a_retry_after_of_nothing_does_not_have_a_long_run_followed_at_once() -> None:
    endpoint = make_endpoint(baseline=Every(seconds(15)))
    refused = Outcome(RunStatus.FAILURE, "status", status_code=503, retry_after=timedelta(0))
    finished = make_finished(endpoint, takes=seconds(40), outcome=refused)
    finish = finish_run(endpoint, finished, finished.finished_at, CRON)

    assert finish.endpoint.next_run_at == NOON + seconds(70)


def test_planning_does_not_change_the_endpoint() -> None:
    endpoint = make_endpoint(**ran_at(NOON), one_shot_hint=one_shot(NOON, LATER))
    before: Endpoint = replace(endpoint)
    plan_next_run(NOON + seconds(5), endpoint, CRON)

    assert endpoint == before


# --- Run now, and the cooldown of hints -------------------------------------------------------


def test_a_persons_run_starts_the_cooldown_of_a_one_shot() -> None:
    ran = {"baseline": OnDemand(), "min_interval": minutes(10), "person_ran_at": NOON + minutes(5)}
    made = plan(NOON + minutes(11), after_run=False, one_shot_hint=one_shot(NOON, LATER), **ran)
    assert (made.next_run_at, made.source) == (NOON + minutes(15), Source.CLAMPED_MIN)


def test_a_persons_run_starts_the_cooldown_of_an_interval_hint() -> None:
    ran = {"baseline": Every(HOUR), "min_interval": minutes(10)}
    hint = interval_hint(minutes(10), LATER)
    fields = {**ran, "interval_hint": hint, "person_ran_at": NOON + minutes(8)}
    made = plan(NOON + minutes(9), after_run=False, **fields)
    assert (made.next_run_at, made.winner) == (NOON + minutes(18), Source.AI_INTERVAL)


@pytest.mark.parametrize("baseline", [Every(minutes(30)), CronLine("30 * * * *")])
def test_a_persons_run_leaves_the_baselines_grid_alone(baseline: Every | CronLine) -> None:
    fields = {"baseline": baseline, "min_interval": minutes(20)}
    at = NOON + minutes(26)
    made = plan(at, after_run=False, person_ran_at=NOON + minutes(25), **fields)
    assert made.next_run_at == NOON + minutes(30)


def test_a_hint_that_cools_down_after_a_persons_run_holds_up_no_baseline() -> None:
    fields = {"baseline": Every(minutes(30)), "min_interval": minutes(20)}
    hint = interval_hint(minutes(20), LATER)
    person_ran_at, at = NOON + minutes(15), NOON + minutes(16)
    fields = {**fields, "interval_hint": hint, "person_ran_at": person_ran_at}
    made = plan(at, after_run=False, **fields)
    assert (made.next_run_at, made.winner) == (NOON + minutes(30), Source.BASELINE_INTERVAL)


def test_a_hint_that_came_due_during_a_persons_run_waits_for_its_min() -> None:
    fields = {"baseline": OnDemand(), "min_interval": minutes(10), "last_run_at": None}
    due = make_endpoint(one_shot_hint=one_shot(NOON, LATER), **fields)
    due = replace(due, plan=plan_next_run(NOON, due, CRON, after_run=False))
    running = replace(due, running_slot_at=NOON + seconds(1), running_is_manual=True)
    done = make_finished(running, NOON + seconds(1), takes=seconds(4), is_manual=True)
    finish = finish_run(running, done, NOON + seconds(5), CRON)
    assert finish.plan.next_run_at == NOON + seconds(1) + minutes(10)
    assert finish.settled.person_ran_at == NOON + seconds(1)


# --- Without a back-off ----------------------------------------------------------------------


@pytest.mark.parametrize("failures", [1, 2, 5, 40])
@pytest.mark.parametrize("after_run", [True, False])
def test_without_a_backoff_failures_do_not_move_the_next_run(
    failures: int, after_run: bool
) -> None:
    endpoint = make_endpoint(backs_off=False, failure_count=failures, **ran_at(NOON))
    plain = make_endpoint(**ran_at(NOON))
    now = NOON + seconds(1)
    planned = plan_next_run(now, endpoint, CRON, after_run=after_run)
    assert planned.next_run_at == plan_next_run(now, plain, CRON, after_run=after_run).next_run_at
    assert planned.inputs.failure_count == failures


def test_without_a_backoff_there_is_no_jitter_either() -> None:
    endpoint = make_endpoint(backs_off=False, failure_count=3, spread=seconds(3), **ran_at(NOON))
    plan = plan_next_run(NOON + seconds(1), endpoint, CRON)
    assert plan.next_run_at == NOON + minutes(1)
    assert plan.inputs.jitter == timedelta(0)


def test_without_a_backoff_retry_after_and_hints_still_count() -> None:
    waits = make_endpoint(
        backs_off=False, failure_count=2, not_before_at=NOON + minutes(5), **ran_at(NOON)
    )
    assert plan_next_run(NOON + seconds(1), waits, CRON).source is Source.RETRY_AFTER
    hinted = replace(
        waits, not_before_at=None, interval_hint=interval_hint(seconds(10), NOON + minutes(9))
    )
    assert plan_next_run(NOON + seconds(1), hinted, CRON).next_run_at == NOON + seconds(10)
