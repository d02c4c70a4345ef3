"""A state change starts a burst that decays; it is never fast for as long as it is down."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.detectors.state_change import state_change
from tests.domain.detectors.cases import PACE, case, failing, health
from tests.factories import minutes

WELL = [None] * 12


@pytest.mark.parametrize(
    ("down_for", "interval"),
    [
        (minutes(0), minutes(10) / 6),
        (minutes(5), minutes(10) / 6),
        (minutes(30), minutes(6)),
        (minutes(60), minutes(12)),
        (minutes(300), minutes(20)),
        (minutes(600), minutes(30)),
    ],
)
def test_the_longer_it_is_down_the_less_often_its_end_is_looked_for(
    down_for: timedelta, interval: timedelta
) -> None:
    found = state_change(case(failing(), of=health(outages=1, changed_ago=down_for)), PACE)
    assert found is not None
    assert found.interval == interval


def test_an_outage_of_more_than_a_day_is_still_looked_at() -> None:
    found = state_change(case(failing()), PACE)
    assert found is not None
    assert found.interval == minutes(72)
    assert "for more than a day" in found.sentence


@pytest.mark.parametrize(
    ("outages", "well_for", "is_watched"),
    [
        (1, minutes(0), True),
        (1, minutes(2), False),
        (2, minutes(5), True),
        (2, minutes(20), False),
        (4, minutes(60), True),
        (4, minutes(120), True),
        (4, minutes(20 * 60), False),
    ],
)
def test_the_more_often_it_went_down_the_longer_it_is_watched_after_it_is_back(
    outages: int, well_for: timedelta, is_watched: bool
) -> None:
    found = state_change(case(WELL, of=health(outages=outages, changed_ago=well_for)), PACE)
    assert (found is not None) is is_watched


def test_what_has_not_changed_within_a_day_is_no_finding() -> None:
    assert state_change(case(WELL), PACE) is None


def test_min_is_the_fastest_that_a_burst_asks_for() -> None:
    of = health(outages=1, changed_ago=minutes(1))
    found = state_change(case(failing(), of=of, min_interval=minutes(5)), PACE)
    assert found is not None
    assert found.interval == minutes(5)


@given(
    st.timedeltas(timedelta(0), timedelta(days=1)),
    st.timedeltas(timedelta(0), timedelta(days=1)),
    st.integers(1, 20),
    st.booleans(),
)
def test_a_burst_never_gets_faster_as_time_goes_by(
    one: timedelta, other: timedelta, outages: int, is_down: bool
) -> None:
    early, late = sorted((one, other))
    bodies = failing() if is_down else WELL
    first = state_change(case(bodies, of=health(outages=outages, changed_ago=early)), PACE)
    second = state_change(case(bodies, of=health(outages=outages, changed_ago=late)), PACE)
    if first is None:
        assert second is None
    elif second is not None:
        assert first.interval is not None
        assert second.interval is not None
        assert first.interval <= second.interval
