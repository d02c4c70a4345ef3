"""What a finished run does to its endpoint: failures, Retry-After, missed slots."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.hint import Pause
from cadenza.domain.instants import FOREVER
from cadenza.domain.outcome import MAX_COUNTED_CRON_SKIPS, apply_outcome, finish_run, skipped_slots
from cadenza.domain.plan import Source
from cadenza.domain.run import WORKER_LOST, FinishedRun, Outcome, RunStatus
from tests.factories import (
    CRON,
    FAILED,
    NOON,
    OK,
    interval_hint,
    make_claim,
    make_endpoint,
    make_finished,
    minutes,
    one_shot,
    seconds,
)

HOUR = timedelta(hours=1)
TIMED_OUT = Outcome(RunStatus.TIMEOUT, "timeout", "no answer within 30 s")
CANCELLED = Outcome(RunStatus.CANCELLED, "worker_stopped")


# --- Failures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "before", "after"),
    [
        pytest.param(OK, 4, 0, id="a success ends the streak"),
        pytest.param(FAILED, 4, 5, id="a failure adds one"),
        pytest.param(TIMED_OUT, 4, 5, id="a timeout adds one"),
        pytest.param(CANCELLED, 4, 4, id="a cancelled run says nothing"),
        pytest.param(FAILED, 40, 41, id="the count goes on where the backoff ends"),
    ],
)
@pytest.mark.parametrize("by_person", [False, True], ids=["scheduled", "by a person"])
def test_the_failure_count_follows_the_outcome(
    outcome: Outcome, before: int, after: int, by_person: bool
) -> None:
    endpoint = make_endpoint(failure_count=before)
    finished = make_finished(endpoint, outcome=outcome, is_manual=by_person)

    assert apply_outcome(endpoint, finished, NOON).failure_count == after


@pytest.mark.parametrize(("by_person", "after"), [(False, 1), (True, 0)])
def test_a_lost_worker_is_a_failure_of_a_slot_and_not_of_what_a_person_asked_for(
    by_person: bool, after: int
) -> None:
    """Three workers were lost with the slot; a person's run is closed with the first, unknown."""
    endpoint = make_endpoint()
    finished = make_finished(endpoint, outcome=WORKER_LOST, is_manual=by_person)

    assert apply_outcome(endpoint, finished, NOON).failure_count == after


def test_a_finish_frees_the_endpoint() -> None:
    endpoint = make_endpoint(running_slot_at=NOON, running_is_manual=True)
    settled = finish_run(endpoint, make_finished(endpoint, is_manual=True), NOON, CRON).endpoint

    assert not settled.in_flight
    assert not settled.running_is_manual


def test_a_finish_notes_the_slot_but_never_an_earlier_one() -> None:
    endpoint = make_endpoint(last_slot_at=NOON + seconds(5), last_run_at=NOON - HOUR)
    settled = apply_outcome(endpoint, make_finished(endpoint, NOON), NOON + seconds(9))

    assert settled.last_slot_at == NOON + seconds(5)
    assert settled.last_run_at == NOON


def test_a_persons_run_of_an_endpoint_that_never_ran_gives_it_no_anchor() -> None:
    endpoint = make_endpoint(baseline=OnDemand(), min_interval=HOUR)
    settled = finish_run(endpoint, make_finished(endpoint, is_manual=True), NOON, CRON).endpoint

    assert settled.last_run_at is None
    assert settled.last_slot_at == NOON


def test_a_finish_under_a_pause_plans_for_its_end() -> None:
    endpoint = make_endpoint(person_pause=Pause(FOREVER))
    settled = finish_run(endpoint, make_finished(endpoint), NOON, CRON).endpoint

    assert (settled.next_run_at, settled.next_source) == (FOREVER, Source.PAUSED)


def test_a_finish_of_an_endpoint_that_was_archived_meanwhile_plans_nothing() -> None:
    endpoint = make_endpoint(archived_at=NOON)
    settled = finish_run(endpoint, make_finished(endpoint), NOON, CRON).endpoint

    assert settled.next_run_at is None
    assert settled.last_run_at == NOON


def test_a_run_that_was_closed_after_its_worker_was_lost_consumes_its_one_shot() -> None:
    endpoint = make_endpoint(baseline=OnDemand(), one_shot_hint=one_shot(NOON, NOON + HOUR))
    claim = make_claim(endpoint, attempt=4)
    finished = FinishedRun(claim, WORKER_LOST, None, NOON + minutes(2))
    settled = finish_run(endpoint, finished, NOON + minutes(2), CRON).endpoint

    assert settled.one_shot_hint is None
    assert settled.next_run_at is None


def test_a_one_shot_written_after_the_lost_attempt_began_still_runs() -> None:
    shot = one_shot(NOON + seconds(20), NOON + HOUR)
    endpoint = make_endpoint(baseline=OnDemand(), one_shot_hint=shot)
    claim = make_claim(endpoint, attempt=2, first_claimed_at=NOON + seconds(10))
    finished = FinishedRun(claim, OK, NOON + seconds(40), NOON + seconds(41))
    settled = finish_run(endpoint, finished, NOON + seconds(41), CRON).endpoint

    assert settled.one_shot_hint == shot
    assert settled.next_run_at == NOON + seconds(41)


# --- Retry-After ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "waits"),
    [
        pytest.param(None, None, id="nothing asked"),
        pytest.param(seconds(90), seconds(90), id="as asked"),
        pytest.param(HOUR, HOUR, id="an hour"),
        pytest.param(timedelta(days=3650), HOUR, id="at most an hour"),
        pytest.param(timedelta.max, HOUR, id="at most an hour, whatever is asked"),
        pytest.param(timedelta(0), None, id="no wait is no floor"),
        pytest.param(seconds(-5), None, id="an instant that has passed is no floor"),
    ],
)
def test_retry_after_is_kept_for_an_hour_at_most(
    asked: timedelta | None, waits: timedelta | None
) -> None:
    endpoint = make_endpoint()
    outcome = Outcome(RunStatus.FAILURE, status_code=429, retry_after=asked)
    now = NOON + seconds(3)
    settled = apply_outcome(endpoint, make_finished(endpoint, outcome=outcome), now)

    assert settled.not_before_at == (None if waits is None else now + waits)


def test_retry_after_counts_also_with_a_success_and_decides_the_next_run() -> None:
    endpoint = make_endpoint()
    outcome = Outcome(RunStatus.SUCCESS, status_code=200, retry_after=minutes(10))
    settled = finish_run(endpoint, make_finished(endpoint, outcome=outcome), NOON, CRON).endpoint

    assert (settled.next_run_at, settled.next_source) == (NOON + minutes(10), Source.RETRY_AFTER)


def test_the_next_answer_without_retry_after_ends_it() -> None:
    endpoint = make_endpoint(not_before_at=NOON)

    assert apply_outcome(endpoint, make_finished(endpoint), NOON).not_before_at is None


# --- Missed slots ---------------------------------------------------------------------------


def skipped(
    late_by: timedelta, takes: timedelta, now: datetime | None = None, **fields: Any
) -> tuple[int, str | None]:
    endpoint = make_endpoint(**fields)
    finished = make_finished(endpoint, late_by=late_by, takes=takes)
    return skipped_slots(endpoint, finished, now or finished.finished_at, CRON)


TOOK_LONG = "the run took longer than its interval"
NO_WORKER = "no worker was free in time"
BOTH = "no worker was free in time, then the run took longer than its interval"
NONE = timedelta(0)


@pytest.mark.parametrize(
    ("late_by", "takes", "expected"),
    [
        pytest.param(NONE, seconds(5), (0, None), id="none"),
        pytest.param(NONE, seconds(60), (0, None), id="a run of just its interval"),
        pytest.param(NONE, seconds(61), (1, TOOK_LONG), id="a run of more than its interval"),
        pytest.param(NONE, seconds(185), (3, TOOK_LONG), id="a run of three intervals"),
        pytest.param(seconds(60), seconds(1), (1, NO_WORKER), id="a start at the next slot"),
        pytest.param(seconds(59), seconds(2), (1, NO_WORKER), id="a start just before it"),
        pytest.param(seconds(2), seconds(59), (1, TOOK_LONG), id="a run that ends just after it"),
        pytest.param(seconds(61), seconds(1), (1, NO_WORKER), id="a late start"),
        pytest.param(minutes(90), seconds(1), (90, NO_WORKER), id="a night without workers"),
        pytest.param(seconds(90), seconds(90), (2, BOTH), id="a late start and a long run"),
    ],
)
def test_missed_slots_are_counted_with_the_reason(
    late_by: timedelta, takes: timedelta, expected: tuple[int, str | None]
) -> None:
    assert skipped(late_by, takes) == expected


def test_a_quick_run_is_not_blamed_for_a_result_that_could_not_be_stored() -> None:
    later = NOON + minutes(3.5)
    assert skipped(NONE, seconds(1), now=later) == (3, "its result could not be stored in time")
    assert skipped(NONE, seconds(61), now=later) == (3, TOOK_LONG)


def test_missed_slots_are_those_of_the_hint_in_force() -> None:
    hint = interval_hint(seconds(10), NOON + HOUR)
    expired = interval_hint(seconds(10), NOON)

    assert skipped(NONE, seconds(35), baseline=Every(HOUR), interval_hint=hint) == (3, TOOK_LONG)
    assert skipped(NONE, seconds(35), baseline=Every(HOUR), interval_hint=expired) == (0, None)


def test_a_backed_off_endpoint_misses_only_its_backed_off_slots() -> None:
    assert skipped(NONE, minutes(5), failure_count=2) == (1, TOOK_LONG)


def test_missed_slots_of_a_cron_are_its_occurrences() -> None:
    assert skipped(NONE, minutes(12), baseline=CronLine("*/5 * * * *")) == (2, TOOK_LONG)
    assert skipped(NONE, minutes(10), baseline=CronLine("*/5 * * * *")) == (1, TOOK_LONG)
    assert skipped(minutes(12), seconds(1), baseline=CronLine("*/5 * * * *")) == (2, NO_WORKER)
    assert skipped(minutes(4.9), seconds(9), baseline=CronLine("*/5 * * * *")) == (1, NO_WORKER)


def test_the_count_of_missed_cron_slots_ends_at_a_hundred() -> None:
    count, reason = skipped(timedelta(days=30), seconds(1), baseline=CronLine("* * * * *"))

    assert (count, reason) == (MAX_COUNTED_CRON_SKIPS, NO_WORKER)


def test_a_cron_that_can_no_longer_be_read_missed_nothing() -> None:
    assert skipped(HOUR, seconds(1), baseline=CronLine("* * * * *", "Nowhere")) == (0, None)


def test_an_on_demand_endpoint_misses_nothing() -> None:
    assert skipped(HOUR, HOUR, baseline=OnDemand()) == (0, None)


def test_an_interval_of_nothing_has_no_slots_to_miss() -> None:
    assert skipped(HOUR, HOUR, baseline=Every(timedelta(0))) == (0, None)


def test_a_clock_that_stepped_back_missed_nothing() -> None:
    assert skipped(NONE, NONE, now=NOON - HOUR) == (0, None)


def test_a_finish_carries_the_missed_slots_and_plans_no_burst() -> None:
    endpoint = make_endpoint()
    finished = make_finished(endpoint, late_by=minutes(10), takes=seconds(1))
    finish = finish_run(endpoint, finished, finished.finished_at, CRON)

    assert (finish.skipped_slots, finish.skipped_reason) == (10, NO_WORKER)
    assert finish.endpoint.next_run_at == NOON + minutes(11)


def test_a_persons_run_misses_nothing() -> None:
    endpoint = make_endpoint()
    finished = make_finished(endpoint, takes=minutes(10), is_manual=True)
    finish = finish_run(endpoint, finished, finished.finished_at, CRON)

    assert (finish.skipped_slots, finish.skipped_reason) == (0, None)


def test_slots_that_were_missed_because_a_worker_was_lost_say_so() -> None:
    endpoint = make_endpoint(baseline=Every(seconds(10)))
    finished = make_finished(endpoint, attempt=2, takes=seconds(45))

    assert skipped_slots(endpoint, finished, NOON + seconds(45), CRON) == (4, "its worker was lost")
