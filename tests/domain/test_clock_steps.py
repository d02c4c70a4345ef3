"""Endpoints that begin anew at a clock that stepped back: pure, whatever they are."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.clock_steps import NOT_AHEAD, ahead_by, restarted
from cadenza.domain.endpoint import Baseline, CronLine, Every, OnDemand
from tests.factories import CRON, NOON, make_endpoint, minutes, ran_at, seconds

BASELINES: list[Baseline] = [Every(seconds(2)), CronLine("* * * * *"), OnDemand()]


@given(
    baseline=st.sampled_from(BASELINES),
    anchor=st.integers(-200, 200),
    slot=st.integers(-200, 200),
    failures=st.integers(0, 8),
)
def test_nothing_is_ahead_any_more_and_the_next_is_neither_early_nor_before_the_last(
    baseline: Baseline, anchor: int, slot: int, failures: int
) -> None:
    endpoint = make_endpoint(
        baseline=baseline,
        last_run_at=NOON + seconds(anchor),
        last_slot_at=NOON + seconds(slot),
        failure_count=failures,
    )
    anew = restarted(endpoint, NOON, CRON)
    assert ahead_by(anew, NOON) == NOT_AHEAD
    assert restarted(anew, NOON, CRON) == anew
    if anew != endpoint and anew.next_run_at is not None:
        assert anew.last_slot_at is not None
        assert anew.next_run_at >= NOON
        assert anew.next_run_at > anew.last_slot_at


def test_failures_slow_it_down_as_before() -> None:
    endpoint = make_endpoint(baseline=Every(seconds(2)), **ran_at(NOON + seconds(90)))
    failing = replace(endpoint, failure_count=3)
    assert restarted(failing, NOON, CRON).next_run_at == NOON + seconds(16)


@pytest.mark.parametrize("field", ["running_slot_at", "archived_at"])
def test_what_is_in_flight_or_archived_stays_as_it_is(field: str) -> None:
    endpoint = make_endpoint(baseline=Every(seconds(2)), **ran_at(NOON + seconds(90)))
    left_alone = replace(endpoint, **{field: NOON + seconds(90)})
    assert restarted(left_alone, NOON, CRON) == left_alone


@pytest.mark.parametrize("by", [timedelta(0), seconds(1), minutes(2)])
def test_how_far_it_is_ahead_is_measured_from_the_latest(by: timedelta) -> None:
    latest: datetime = NOON + by
    endpoint = make_endpoint(last_run_at=NOON - minutes(1), last_slot_at=latest)
    assert ahead_by(endpoint, NOON) == by
