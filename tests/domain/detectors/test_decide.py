"""From findings to one decision, within the day's budget."""

from datetime import timedelta
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.detectors.case import Want
from cadenza.domain.detectors.decide import NOTHING, decide
from cadenza.domain.endpoint import OnDemand
from cadenza.domain.spending import DAY, Budget, affordable
from tests.domain.detectors.cases import PACE, case, failing, health
from tests.factories import minutes

WELL = [None] * 12


def test_fewer_than_ten_runs_are_no_reason_to_act_and_it_says_so() -> None:
    decision = decide(case(failing(9), of=health(outages=1, changed_ago=minutes(1))))
    assert decision.action is None
    assert [each.text for each in decision.findings] == [
        "History: it has run 9 times; fewer than 10 say too little"
    ]


def test_one_that_never_ran_or_waits_to_be_asked_is_left_alone() -> None:
    assert decide(case([])) == NOTHING
    assert decide(case(WELL, baseline=OnDemand())) == NOTHING


def test_long_stability_relaxes() -> None:
    decision = decide(case(WELL))
    assert decision.action is not None
    assert decision.action.want is Want.RELAX
    assert decision.action.interval == 1.25 * PACE


@pytest.mark.parametrize("most", [minutes(11), PACE, minutes(5)])
def test_relaxing_stops_at_max(most: timedelta) -> None:
    action = decide(case(WELL, max_interval=most)).action
    assert action is None or (action.interval is not None and action.interval <= max(most, PACE))


def test_a_failure_among_the_last_ten_is_no_stability() -> None:
    decision = decide(case([*WELL, failing(1)[0], None, None], of=health(outages=1)))
    assert decision.action is None


def test_the_most_urgent_wish_is_the_one_that_counts() -> None:
    body = {"queue_depth": 500, "queue_max": 500}
    of = health(outages=3, changed_ago=minutes(1))
    decision = decide(case([body] * 12, of=of))
    assert decision.action is not None
    assert decision.action.detector == "State change"
    assert {each.detector for each in decision.findings} == {"State change", "Threshold"}


def test_a_spent_day_is_paid_back() -> None:
    of = health(runs=144, outages=1, changed_ago=minutes(1))
    decision = decide(case(failing(), of=of, budget=Budget()))
    assert decision.action is not None
    assert decision.action.detector == "Spending"
    assert decision.action.interval == 2 * 1.25 * PACE
    assert {each.detector for each in decision.findings} == {"State change", "Spending"}


def test_the_owner_can_allow_more() -> None:
    of = health(runs=144, outages=1, changed_ago=minutes(1))
    action = decide(case(failing(), of=of, budget=Budget(factor=2.0))).action
    assert action is not None
    assert action.detector == "State change"


@given(
    st.timedeltas(timedelta(seconds=1), timedelta(days=2)),
    st.floats(-100, 1000) | st.just(inf),
    st.timedeltas(timedelta(seconds=10), timedelta(days=1)),
)
def test_the_less_is_left_the_longer_is_the_wait(
    wanted: timedelta, left: float, pace: timedelta
) -> None:
    now = affordable(wanted, left, pace, None, Budget())
    after_one_more = affordable(wanted, left - 1, pace, None, Budget())
    assert wanted <= now <= after_one_more <= max(wanted, 2 * Budget().calm(pace, None))


def test_a_budget_is_what_the_baseline_would_use_in_a_day() -> None:
    assert Budget().left(minutes(30), 40, DAY) == 7
    assert Budget(factor=1.5).left(minutes(30), 40, 9 * DAY) == 31
    assert Budget().left(minutes(30), 10, DAY / 4) == 1
