"""Health over its windows, and what a tenant may spend."""

from datetime import datetime, timedelta

import pytest

from cadenza.domain.health import Health, health_of
from cadenza.domain.plan import Source
from cadenza.domain.quota import Allowance, Limits, Period, over_limit, warnings_of
from cadenza.domain.run import Run, RunStatus
from tests.factories import NOON, id_of, minutes, seconds

HOUR = timedelta(hours=1)
A_SECOND = timedelta(seconds=1)
MONTH = Period(id_of("tenant"), "2026-03")
DAY = Period(id_of("tenant"), "2026-03-02", id_of("job"))


def run(
    ago: timedelta,
    status: RunStatus = RunStatus.SUCCESS,
    takes: timedelta | None = A_SECOND,
    now: datetime = NOON,
) -> Run:
    finished_at = None if status is RunStatus.RUNNING else now - ago
    started_at = None if takes is None or finished_at is None else finished_at - takes
    return Run(
        id=id_of(f"run {ago}"),
        endpoint_id=id_of("probe"),
        tenant_id=id_of("tenant"),
        slot_at=now - ago,
        source=Source.BASELINE_INTERVAL,
        status=status,
        attempt=1,
        epoch=1,
        claimed_at=now - ago,
        started_at=started_at,
        finished_at=finished_at,
    )


def counts(health: Health) -> list[tuple[int, int]]:
    return [(each.runs, each.successes) for each in health.windows]


# --- Health ---------------------------------------------------------------------------------


def test_the_windows_are_one_four_and_twenty_four_hours() -> None:
    health = health_of([], 0, NOON)

    assert [each.length for each in health.windows] == [HOUR, 4 * HOUR, 24 * HOUR]


def test_a_run_counts_in_every_window_that_it_falls_into() -> None:
    runs = [run(minutes(5)), run(minutes(90)), run(5 * HOUR), run(30 * HOUR)]

    assert counts(health_of(runs, 0, NOON)) == [(1, 1), (2, 2), (3, 3)]


def test_a_run_of_just_an_hour_ago_is_no_longer_of_this_hour() -> None:
    runs = [run(HOUR), run(HOUR - timedelta(microseconds=1))]

    assert counts(health_of(runs, 0, NOON))[0] == (1, 1)


def test_a_recovery_shows_in_the_hour_while_the_day_still_remembers() -> None:
    bad = [run(3 * HOUR + minutes(each), RunStatus.FAILURE) for each in range(3)]
    good = [run(minutes(each)) for each in range(1, 2)]
    hour, _, day = health_of(bad + good, 0, NOON).windows

    assert (hour.success_rate, day.success_rate) == (1.0, 0.25)


def test_no_runs_is_not_nought_percent() -> None:
    health = health_of([], 0, NOON)

    assert [each.success_rate for each in health.windows] == [None, None, None]
    assert health.mean_duration is None


def test_failures_and_timeouts_count_cancelled_and_running_runs_do_not() -> None:
    statuses = list(RunStatus)
    runs = [run(minutes(1 + each), status) for each, status in enumerate(statuses)]
    health = health_of(runs, 2, NOON)

    assert counts(health)[0] == (3, 1)
    assert health.failure_streak == 2


def test_the_mean_duration_is_that_of_the_day_and_of_runs_that_were_sent() -> None:
    runs = [
        run(minutes(1), takes=seconds(2)),
        run(5 * HOUR, takes=seconds(4)),
        run(minutes(2), RunStatus.TIMEOUT, takes=None),
        run(25 * HOUR, takes=seconds(600)),
    ]
    assert health_of(runs, 0, NOON).mean_duration == seconds(3)


def test_a_run_from_before_the_clock_stepped_back_still_counts() -> None:
    assert counts(health_of([run(-minutes(5))], 0, NOON)) == [(1, 1)] * 3


# --- Quota ----------------------------------------------------------------------------------


def test_reserved_tokens_count_as_spent_until_they_are_settled() -> None:
    allowance = Allowance(limit=1_000, used=200).reserve(500)

    assert allowance is not None
    assert allowance.left == 300
    assert allowance.settle(500, 120).left == 680


def test_parallel_sessions_cannot_overspend() -> None:
    first = Allowance(limit=1_000).reserve(600)
    assert first is not None

    assert first.reserve(401) is None
    assert first.reserve(400) is not None


def test_a_reservation_of_all_that_is_left_is_granted() -> None:
    allowance = Allowance(limit=1_000, used=1_000)

    assert allowance.reserve(0) is not None
    assert allowance.reserve(1) is None


def test_without_a_limit_everything_is_granted_and_still_counted() -> None:
    allowance = Allowance(limit=None).reserve(10**9)

    assert allowance is not None
    assert allowance.left is None
    assert allowance.settle(10**9, 7).used == 7


def test_a_session_that_used_more_than_it_reserved_is_charged_in_full() -> None:
    allowance = Allowance(limit=1_000).reserve(100)
    assert allowance is not None
    settled = allowance.settle(100, 1_300)

    assert (settled.used, settled.reserved, settled.left) == (1_300, 0, 0)


@pytest.mark.parametrize("limit", [0, 10])
def test_a_limit_that_was_lowered_below_what_is_used_grants_nothing(limit: int) -> None:
    assert Allowance(limit=limit, used=50).reserve(1) is None


def test_settling_twice_does_not_free_more_than_was_reserved() -> None:
    allowance = Allowance(limit=1_000).reserve(100)
    assert allowance is not None
    twice = allowance.settle(100, 50).settle(100, 0)

    assert twice.left == 950


def test_money_is_reserved_like_tokens_and_either_can_refuse() -> None:
    allowance = Allowance(limit=1_000, cost_limit=2.0).reserve(100, 1.5)
    assert allowance is not None

    assert allowance.reserve(100, 0.6) is None
    assert allowance.reserve(901, 0.1) is None
    assert allowance.settle(100, 50, 1.5, 0.25).cost_left == 1.75


def test_a_warning_comes_once_with_the_use_that_reached_it() -> None:
    allowance, told = Allowance(limit=1_000, cost_limit=1.0), list[tuple[str, int]]()
    for _ in range(12):
        allowance = allowance.settle(0, 100, 0.0, 0.05)
        told += [
            (each.limit_name, each.percent) for each in warnings_of(MONTH, allowance, 100, 0.05)
        ]

    assert told == [("tokens_per_month", 80), ("tokens_per_month", 100)]


def test_one_use_can_reach_both_marks_of_both_limits() -> None:
    allowance = Allowance(limit=10, cost_limit=1.0).settle(0, 50, 0.0, 5.0)
    warnings = warnings_of(DAY, allowance, 50, 5.0)
    told = [(each.limit_name, each.percent, each.used) for each in warnings]

    tokens, money = "tokens_per_day", "money_per_day"
    assert told == [(tokens, 80, 50), (tokens, 100, 50), (money, 80, 5), (money, 100, 5)]


def test_without_a_limit_nobody_is_warned() -> None:
    assert warnings_of(MONTH, Allowance(limit=None).settle(0, 10**9), 10**9, 0.0) == ()


def test_who_is_over_a_limit_learns_which_and_how_much_is_left() -> None:
    allowance = Allowance(limit=500_000, used=440_000, reserved=20_000, cost_limit=2.0)
    over = over_limit(DAY, allowance, 50_000, 0.1)

    assert over is not None
    assert str(over) == (
        "the limit tokens_per_day of the job is reached for 2026-03-02: 40,000 of 500,000 are left,"
        " and a session may take 50,000"
    )
    assert over_limit(DAY, allowance, 40_000, 2.0) is None
    money = over_limit(DAY, allowance, 40_000, 2.01)
    assert money is not None
    assert (money.limit_name, money.limit, money.left) == ("money_per_day", 2.0, 2.0)


def test_an_owner_may_set_another_limit_or_none_at_all() -> None:
    usual = Limits(500_000, 2.0)

    assert usual.overridden(None, None) == usual
    assert usual.overridden(1000, 0.5) == Limits(1000, 0.5)
    assert usual.overridden(0, 0) == Limits(None, None)
