"""What a brain may do at most."""

from datetime import timedelta
from typing import Any

import pytest

from cadenza.domain import bounds
from cadenza.domain.bounds import Bounded, bounded, longest_ttl
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from tests.factories import CRON, NOON, make_endpoint, minutes, seconds

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MAX_TOOL_CALLS", 15),
        ("MAX_CHANGES_PER_HOUR", 30),
        ("MIN_INTERVAL", seconds(1)),
        ("MAX_INTERVAL", 30 * DAY),
        ("MIN_TTL", minutes(1)),
        ("MAX_TTL", minutes(240)),
        ("LONGEST_TTL", 7 * DAY),
        ("MAX_PAUSE", DAY),
        ("MIN_NEXT_ANALYSIS", timedelta(milliseconds=300_000)),
        ("MAX_NEXT_ANALYSIS", timedelta(milliseconds=86_400_000)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_bounds_are_those_of_the_design(name: str, value: object) -> None:
    assert getattr(bounds, name) == value


@pytest.mark.parametrize(
    ("wanted", "value", "told"),
    [
        pytest.param(seconds(30), minutes(1), "ttl raised to 60 s", id="too little"),
        pytest.param(-DAY, minutes(1), "ttl raised to 60 s", id="negative"),
        pytest.param(minutes(1), minutes(1), None, id="the least"),
        pytest.param(minutes(30), minutes(30), None, id="within"),
        pytest.param(HOUR, HOUR, None, id="the most"),
        pytest.param(timedelta.max, HOUR, "ttl cut to 1 h", id="too much"),
    ],
)
def test_a_duration_is_brought_within_its_bounds_and_that_is_told(
    wanted: timedelta, value: timedelta, told: str | None
) -> None:
    assert bounded("ttl", wanted, minutes(1), HOUR) == Bounded(value, told)


@pytest.mark.parametrize(
    ("baseline", "longest"),
    [
        pytest.param(Every(minutes(1)), 4 * HOUR, id="four hours for a quick baseline"),
        pytest.param(Every(minutes(80)), 4 * HOUR, id="three intervals are just four hours"),
        pytest.param(Every(6 * HOUR), 18 * HOUR, id="three intervals of a slow one"),
        pytest.param(Every(30 * DAY), 7 * DAY, id="a week at most"),
        pytest.param(OnDemand(), 4 * HOUR, id="four hours on demand"),
        pytest.param(CronLine("*/5 * * * *"), 4 * HOUR, id="four hours for a quick cron"),
        pytest.param(CronLine("0 3 * * *"), 3 * DAY, id="three days for a nightly cron"),
        pytest.param(CronLine("0 3 1 * *"), 7 * DAY, id="a week for a monthly cron"),
        pytest.param(CronLine("0 3 * * *", "Nowhere"), 4 * HOUR, id="four hours for a broken cron"),
    ],
)
def test_a_hint_may_live_for_four_hours_or_three_intervals_of_its_baseline(
    baseline: Any, longest: timedelta
) -> None:
    assert longest_ttl(make_endpoint(baseline=baseline), NOON, CRON) == longest


def test_what_it_was_brought_to_is_told_in_words_and_to_the_minute() -> None:
    """It read `pause cut to 0:59:59.760534`."""
    nearly = HOUR - timedelta(milliseconds=239)
    assert bounded("pause", 2 * HOUR, minutes(1), nearly) == Bounded(nearly, "pause cut to 1 h")
