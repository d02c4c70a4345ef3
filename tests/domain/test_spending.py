"""The purse of a job: linear accounts that fade, and a price that they make together."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.hazard import DAY, HOUR
from cadenza.domain.spending import HANDFUL, REACH, Account, Share, purse_of

MINUTE = 60.0
steps = st.lists(
    st.tuples(st.floats(1, 2 * DAY), st.floats(-0.001, 0.01), st.floats(0, 2 * DAY)), max_size=12
)


def shares(*accounts: Account | None, pace: float = MINUTE, can_relax: bool = True) -> list[Share]:
    return [Share(account, pace, can_relax) for account in accounts]


def test_a_purse_holds_a_quarter_of_two_days_of_its_baselines_runs() -> None:
    purse = purse_of(shares(None, None), DAY, extra_runs=0.25, relax=1.0)
    assert purse.size == purse.left == pytest.approx(0.25 * 2 * 2880)


def test_a_slow_job_has_at_least_a_handful() -> None:
    assert purse_of(shares(None, pace=DAY), DAY, 0.25, 1.0).left == HANDFUL
    assert purse_of(shares(None, pace=DAY), DAY, 0.0, 1.0).left == 0


def test_calm_endpoints_pay_for_troubled_ones() -> None:
    spent = Account(DAY, spent=1000.0)
    alone = purse_of(shares(spent), DAY, 0.25, 1.0)
    together = purse_of(shares(spent, None, None, None), DAY, 0.25, 1.0)
    assert alone.left < 0
    assert alone.price == inf
    assert together.left > 0
    assert together.price < inf


def test_the_emptier_the_purse_the_higher_the_price() -> None:
    prices = [purse_of(shares(Account(0, spent)), 0, 0.25, 1.0).price for spent in (0, 300, 700)]
    assert prices == sorted(prices)
    assert prices[0] < prices[-1]


def test_what_is_promised_counts_at_once_and_what_is_not_used_is_given_back() -> None:
    account = Account(0.0).spending(0.1, 0.0, 1000.0)
    assert account.used(0.0) == pytest.approx(100)
    stopped = account.spending(0.0, 200.0, 200.0)
    assert stopped.used(200.0) == pytest.approx(20, rel=0.01)


def test_what_is_only_going_to_be_saved_belongs_to_nobody_yet() -> None:
    account = Account(0.0).spending(-0.01, 0.0, 1000.0)
    assert account.used(0.0) == 0
    assert account.used(1000.0) == pytest.approx(-10, rel=0.01)


def test_a_relaxed_job_has_only_what_it_saved_and_a_cron_beside_it_its_share() -> None:
    assert purse_of(shares(None), DAY, 0.25, 1.5).left == 0
    saved = purse_of(shares(Account(DAY, -50.0)), DAY, 0.25, 1.5)
    assert saved.left == 50
    assert purse_of(shares(None, can_relax=False), DAY, 0.25, 1.5).left == 720


def test_what_a_relaxed_job_saved_is_kept_for_weeks_and_never_beyond_a_full_purse() -> None:
    saved = Account(0.0).spending(-0.001, 0.0, DAY)
    a_week_later = purse_of(shares(saved), 8 * DAY, 0.25, 1.5)
    assert 0.85 * 86.4 < a_week_later.left < 86.4
    assert purse_of(shares(saved), 30 * DAY, 0.25, 1.0).left == pytest.approx(720, rel=1e-3)
    too_much = purse_of(shares(Account(0.0, -1e6)), DAY, 0.25, 1.5)
    assert too_much.left == too_much.size
    assert too_much.price == 1  # at which what is calm runs at its baseline


@given(steps)
def test_an_account_that_is_read_often_says_what_one_says_that_is_read_once(
    changes: list[tuple[float, float, float]],
) -> None:
    often = once = Account(0.0)
    at = 0.0
    for wait, rate, lasts in changes:
        often = often.spending(rate, at, at + lasts)
        once = once.spending(rate, at, at + lasts)
        for part in range(1, 5):
            often = often.settled(at + wait * part / 4)
        at += wait
    assert often.used(at) == pytest.approx(once.used(at), rel=1e-6, abs=1e-6)


@given(st.lists(st.tuples(st.floats(60, HOUR), st.booleans()), min_size=1, max_size=60))
def test_who_spends_only_what_is_left_never_runs_more_than_the_baseline(
    steps: list[tuple[float, bool]],
) -> None:
    """The proof that fading is safe: what is saved fades, so less is spent than was saved."""
    account, at, runs = Account(0.0), 0.0, 0.0
    for lasts, wants_more in steps:
        left = purse_of(shares(account), at, 0.25, 1.5).left
        rate = min(0.05, left / lasts) if wants_more and left > 0 else -1 / MINUTE / 3
        account = account.spending(rate, at, at + lasts)
        runs += rate * lasts
        at += lasts
    assert runs <= 1e-6 * (1 + at / REACH)
