"""From findings to one decision."""

from datetime import timedelta
from typing import Any

import pytest

from cadenza.domain.bounds import MAX_TTL
from cadenza.domain.detectors.case import Case, Want
from cadenza.domain.detectors.decide import decide
from cadenza.domain.detectors.memory import account_of, memory_of
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.hazard import DAY
from cadenza.domain.spending import KEPT, Purse
from tests.domain.detectors.cases import PACE, case, failing
from tests.factories import NOON, minutes, seconds

WELL: list[Any] = [None] * 12
EMPTY = Purse(0.0, 100.0)
GROWS = [10, 20, 30, 40, 50, 60]


def remembered(case: Case) -> dict[str, Any]:
    return decide(case).memory.as_json()


def after_an_outage(ago: float, **fields: Any) -> Case:
    """Well now; it failed once, so many seconds ago."""
    created_at = (NOON - minutes(9 * 1440)).timestamp()
    memory, at = memory_of(None, created_at), NOON.timestamp() - ago
    stored = memory.as_json()
    counted = {**stored, "outages": [created_at, at, 1, 1, 1, 1, 1], "failed_at": at}
    return case(WELL, memory={**counted, "seen_at": at}, **fields)


def test_with_nothing_found_nothing_is_done() -> None:
    decision = decide(case(WELL))
    assert decision.action is None
    assert decision.findings == ()


def test_one_that_never_ran_or_waits_to_be_asked_is_left_alone() -> None:
    assert decide(case([])).action is None
    assert decide(case(WELL, baseline=OnDemand())).action is None


def test_what_is_down_is_looked_at_more_often_and_says_for_how_long() -> None:
    action = decide(case(failing())).action
    assert action is not None
    assert action.want is Want.WATCH
    assert action.interval is not None
    assert minutes(10) / 12 <= action.interval < PACE
    assert "Outages: down since 2026-03-02T10:10:00Z: looked at every" in action.text


@pytest.mark.parametrize(
    ("pace", "min_interval", "fastest"),
    [
        *((minutes(10), None, seconds(50)), (seconds(20), None, seconds(5))),
        *((seconds(2), None, seconds(2)), (seconds(20), seconds(1), seconds(20) / 12)),
        (seconds(20), seconds(9), seconds(9)),
    ],
)
def test_what_is_down_is_spared_unless_its_owner_says_what_it_can_take(
    pace: timedelta, min_interval: timedelta | None, fastest: timedelta
) -> None:
    assert case(failing(), min_interval=min_interval).fastest(pace) == fastest


def test_with_an_empty_purse_what_reads_is_looked_at_as_its_baseline_says_not_as_its_backoff() -> (
    None
):
    decision = decide(case(failing(), purse=EMPTY))
    assert decision.action is not None
    assert decision.action.interval == PACE
    assert decision.memory.account.rate == 0


def test_what_does_something_keeps_its_backoff() -> None:
    assert decide(case(failing(), only_reads=False)).action is None


def test_fewer_than_ten_runs_are_no_reason_to_look_more_often() -> None:
    action = decide(case(failing(9))).action
    assert action is not None
    assert action.interval == PACE


@pytest.mark.parametrize(("days", "is_watched"), [(0.01, True), (1, True), (2.9, True), (4, False)])
def test_a_failure_within_days_is_a_reason_and_an_older_one_is_not(
    days: float, is_watched: bool
) -> None:
    action = decide(after_an_outage(days * DAY, purse=Purse(1000.0, 1000.0))).action
    assert (action is not None) is is_watched


def test_what_was_decided_stands_until_its_time_is_over_or_its_state_changes() -> None:
    first = decide(case(failing()))
    later = {**first.memory.as_json(), "seen_at": (NOON - minutes(1)).timestamp()}
    again = decide(case(failing(), memory={**later, "settled_until": NOON.timestamp() + 1}))
    assert again.action is None
    assert not again.is_new
    recovered = decide(case(WELL, memory={**later, "settled_until": NOON.timestamp() + 1}))
    assert recovered.is_new


def test_a_look_after_a_siblings_run_decides_nothing_anew() -> None:
    memory = remembered(case(failing()))
    assert decide(case(failing(), memory=memory)).action is None


def test_what_is_refused_is_not_paid_for() -> None:
    decision = decide(case(failing()))
    assert decision.memory.account.rate > 0
    assert decision.if_refused.account.rate == 0
    assert decision.if_refused.settled_until > decision.if_refused.seen_at


def test_what_numbers_say_is_reported_and_no_reason_to_act() -> None:
    rising = [{"queue_depth": 450 + depth, "queue_max": 500} for depth in [0] * 8 + GROWS]
    decision = decide(case(rising))
    assert decision.action is None
    named = {finding.detector for finding in decision.findings}
    assert {"Threshold", "Level shift", "Trend"} <= named
    assert {finding.want for finding in decision.findings} == {Want.NOTHING}


def test_calm_is_relaxed_where_the_owner_allows_it_by_what_the_purse_lacks() -> None:
    assert decide(case(WELL, purse=EMPTY)).action is None
    action = decide(case(WELL, purse=EMPTY, relax=1.5)).action
    assert action is not None
    assert action.want is Want.RELAX
    assert action.interval == 1.5 * PACE
    assert decide(case(WELL, purse=EMPTY, relax=1.5, max_interval=PACE)).action is None
    assert decide(case(WELL, purse=EMPTY, relax=1.5, baseline=CronLine("* * * * *"))).action is None


def test_a_full_purse_of_savings_lets_what_is_calm_run_at_its_baseline() -> None:
    for left in (1000.0, 920.0):
        saved = Purse(left, 1000.0, reach=KEPT)
        assert decide(case(WELL, purse=saved, relax=1.5)).action is None
    action = decide(case(WELL, purse=Purse(500.0, 1000.0, reach=KEPT), relax=1.5)).action
    assert action is not None
    assert action.want is Want.RELAX


def test_a_relaxed_interval_is_renewed_before_its_hint_could_end() -> None:
    for pace in (10, 30, 60, 90):
        relaxed = case(WELL, purse=EMPTY, relax=1.5, baseline=Every(minutes(pace)))
        action = decide(Case(relaxed.context, minutes(pace), lambda: EMPTY, 1.5)).action
        assert action is not None
        assert action.interval is not None
        assert action.lasts is not None
        assert action.lasts + action.interval <= max(MAX_TTL, 3 * minutes(pace))


def test_a_memory_outlives_json_and_a_strange_one_is_a_new_one() -> None:
    memory = decide(case(failing())).memory
    assert memory_of(memory.as_json(), 0.0) == memory
    assert account_of(memory.as_json()) == memory.account
    for strange in ({}, {"outages": [1]}, {"outages": "x", "account": 3}, {"account": None}):
        assert memory_of(strange, 5.0).outages.known_since == 5.0
