"""The figures that the design promises, each as a row of a table."""

from datetime import UTC, datetime, timedelta

import pytest

from cadenza.domain import steering
from cadenza.domain.endpoint import CronLine, Endpoint, Every
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Plan, Source
from tests.factories import (
    CRON,
    FAILED,
    NOON,
    OK,
    interval_hint,
    make_endpoint,
    make_finished,
    minutes,
    one_shot,
    ran_at,
    seconds,
)

MIDNIGHT = datetime(2026, 3, 2, tzinfo=UTC)
LATER = NOON + timedelta(hours=4)


def finish(
    endpoint: Endpoint,
    slot_at: datetime,
    *,
    takes: timedelta = timedelta(0),
    late_by: timedelta = timedelta(0),
    fails: bool = False,
) -> Endpoint:
    outcome = FAILED if fails else OK
    finished = make_finished(endpoint, slot_at, takes=takes, late_by=late_by, outcome=outcome)
    return finish_run(endpoint, finished, finished.finished_at, CRON).endpoint


def plan_of(endpoint: Endpoint) -> Plan:
    assert endpoint.plan is not None
    return endpoint.plan


# --- At noon, every 15 seconds --------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "takes", "fails", "next_at", "source"),
    [
        pytest.param({}, 1, False, "12:00:15", "baseline-interval", id="a run of 1 s"),
        pytest.param({}, 15, False, "12:00:15", "baseline-interval", id="a run of just 15 s"),
        pytest.param({}, 20, False, "12:00:35", "baseline-interval", id="a run of 20 s"),
        pytest.param({}, 30, False, "12:00:45", "baseline-interval", id="a run of 30 s"),
        pytest.param(
            {"interval_hint": interval_hint(seconds(30), LATER)},
            35,
            False,
            "12:01:05",
            "ai-interval",
            id="a hint of 30 s and a run of 35 s",
        ),
        pytest.param(
            {"failure_count": 1},
            25,
            True,
            "12:01:00",
            "baseline-interval",
            id="the second failure, with a run of 25 s",
        ),
        pytest.param(
            {"failure_count": 1, "backs_off": False},
            1,
            True,
            "12:00:15",
            "baseline-interval",
            id="the second failure, with no back-off",
        ),
        pytest.param(
            {"failure_count": 1, "backs_off": False},
            25,
            True,
            "12:00:40",
            "baseline-interval",
            id="the second failure, with no back-off and a run of 25 s",
        ),
    ],
)
def test_every_fifteen_seconds_from_noon(
    fields: dict[str, object], takes: int, fails: bool, next_at: str, source: str
) -> None:
    endpoint = make_endpoint(baseline=Every(seconds(15)), **fields)

    plan = plan_of(finish(endpoint, NOON, takes=seconds(takes), fails=fails))

    assert plan.next_run_at is not None
    assert plan.next_run_at.strftime("%H:%M:%S") == next_at
    assert plan.next_run_at.date() == NOON.date()
    assert plan.source == source


# --- At midnight, every minute --------------------------------------------------------------


@pytest.mark.parametrize(
    ("failures", "waits"),
    [(1, 2), (2, 4), (3, 8), (4, 16), (5, 32), (6, 32), (10, 32)],
    ids=str,
)
def test_consecutive_failures_double_the_minute_up_to_thirty_two(failures: int, waits: int) -> None:
    endpoint = make_endpoint(created_at=MIDNIGHT, failure_count=failures - 1)

    plan = plan_of(finish(endpoint, MIDNIGHT, fails=True))

    assert plan.inputs.failure_count == failures
    assert plan.next_run_at == MIDNIGHT + minutes(waits)
    assert plan.source is Source.BASELINE_INTERVAL


@pytest.mark.parametrize(
    ("fields", "fails", "waits", "source"),
    [
        pytest.param(
            {"failure_count": 4, "max_interval": minutes(5)},
            True,
            minutes(5),
            Source.CLAMPED_MAX,
            id="five failures and a max of 5 min",
        ),
        pytest.param(
            {"failure_count": 4, "interval_hint": interval_hint(minutes(2), LATER)},
            True,
            minutes(2),
            Source.AI_INTERVAL,
            id="five failures and a hint of 2 min",
        ),
        pytest.param(
            {
                "interval_hint": interval_hint(minutes(2), LATER),
                "one_shot_hint": one_shot(MIDNIGHT + seconds(90), LATER),
            },
            False,
            seconds(90),
            Source.AI_ONESHOT,
            id="a hint of 2 min and a one-shot at 00:01:30",
        ),
    ],
)
def test_every_minute_from_midnight(
    fields: dict[str, object], fails: bool, waits: timedelta, source: Source
) -> None:
    endpoint = make_endpoint(created_at=MIDNIGHT, **fields)

    plan = plan_of(finish(endpoint, MIDNIGHT, fails=fails))

    assert plan.next_run_at == MIDNIGHT + waits
    assert plan.source is source


def test_four_failures_then_a_success_return_to_the_plain_interval() -> None:
    endpoint, slot_at, gaps = make_endpoint(), NOON, []
    for fails in (True, True, True, True, False, False):
        endpoint = finish(endpoint, slot_at, fails=fails)
        gaps.append(plan_of(endpoint).next_run_at - slot_at)
        slot_at = plan_of(endpoint).next_run_at

    assert gaps == [minutes(each) for each in (2, 4, 8, 16, 1, 1)]


# --- A day ----------------------------------------------------------------------------------


def live_a_day(endpoint: Endpoint) -> list[datetime]:
    """The slots of a day whose runs take 0 to 5 s and start 0 to 50 ms late, all unevenly."""
    slots: list[datetime] = []
    slot_at = MIDNIGHT
    while slot_at < MIDNIGHT + timedelta(days=1):
        slots.append(slot_at)
        count = len(slots)
        endpoint = finish(
            endpoint,
            slot_at,
            takes=timedelta(milliseconds=count * 1_237 % 5_001),
            late_by=timedelta(milliseconds=count * 17 % 51),
        )
        assert endpoint.next_run_at is not None
        slot_at = endpoint.next_run_at
    return slots


EVERY_MINUTE = [MIDNIGHT + minutes(count) for count in range(1440)]


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"baseline": Every(minutes(1))}, id="every 60 s"),
        pytest.param(
            {"baseline": Every(minutes(1)), "min_interval": minutes(1)},
            id="every 60 s with a min of 60 s",
        ),
        pytest.param(
            {"baseline": Every(minutes(1)), "max_interval": minutes(1)},
            id="every 60 s with a max of 60 s",
        ),
        pytest.param({"baseline": CronLine("* * * * *")}, id="a cron of every minute"),
        pytest.param(
            {"baseline": CronLine("* * * * *"), "min_interval": minutes(1)},
            id="a cron of every minute with a min of 60 s",
        ),
    ],
)
def test_a_day_at_a_minute_has_1440_runs_and_no_drift(fields: dict[str, object]) -> None:
    assert live_a_day(make_endpoint(created_at=MIDNIGHT, **fields)) == EVERY_MINUTE


def test_a_hint_of_a_minute_does_not_drift_either() -> None:
    hint = interval_hint(minutes(1), MIDNIGHT + timedelta(days=2))
    endpoint = make_endpoint(baseline=Every(timedelta(hours=1)), interval_hint=hint)

    assert live_a_day(endpoint) == EVERY_MINUTE


# --- The nudge ------------------------------------------------------------------------------


def test_a_hint_of_30_s_written_a_minute_after_the_run_is_due_half_a_minute_later() -> None:
    endpoint = make_endpoint(baseline=Every(minutes(5)), **ran_at(NOON))
    endpoint = steering.begin(endpoint, NOON, CRON)
    assert endpoint.next_run_at == NOON + minutes(5)

    hint = interval_hint(seconds(30), LATER)
    nudged = steering.suggest_interval(endpoint, hint, NOON + seconds(60), CRON)

    assert nudged.next_run_at == NOON + seconds(90)
    assert nudged.next_source is Source.AI_INTERVAL
