"""Detectors about the numbers in the answers: trend, level shift, threshold."""

import random  # noqa: TID251 - seeded, so that a failure reproduces
from math import pi, sin
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.detectors.level_shift import ANOMALY, NAME, SUSPECTED, level_shift
from cadenza.domain.detectors.threshold import threshold
from cadenza.domain.detectors.trend import direction_of, mann_kendall, only_counts, trend
from tests.domain.detectors.cases import PACE, answer, case, down

JITTER = [100.0, 102, 98, 101, 99, 103, 97, 100, 102, 98, 101, 99]


def depths(values: list[Any]) -> list[dict[str, Any]]:
    return [{"queue_depth": value} for value in values]


# --- Trend ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "direction"),
    [
        ([1, 2, 3, 4, 5], "rises"),
        ([5, 4, 3, 2, 1], "falls"),
        ([1, 2, 3, 4], None),
        ([1, 2, 3, 5, 4], None),
        ([5, 5, 5, 5, 5], None),
        ([*JITTER, 110, 120, 130, 140, 150], "rises"),
        ([*JITTER, 110, 120, 130, 140, 101], None),
        ([*JITTER, 95, 90, 85, 80, 75], "falls"),
        ([0, 200, *JITTER, 101, 102, 103, 104, 105], None),
    ],
)
def test_a_trend_is_five_points_or_more_that_break_new_ground(
    values: list[float], direction: str | None
) -> None:
    assert (direction_of(values) if len(values) >= 5 else None) == direction


def test_a_queue_that_grows_is_said() -> None:
    found = trend(case(depths([*JITTER, 110, 120, 130, 140, 150])), PACE)
    assert found is not None
    assert found.text == "Trend: queue_depth rises from 110 to 150"


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (list(range(12)), True),
        ([1_792_000_000 + 601 * n for n in range(48)], True),  # seconds since 1970
        ([100 - 3 * n for n in range(20)], True),  # what is left of something
        ([*range(900, 920), *range(30)], True),  # begun anew
        ([7, 7, 8, 9, 9, 10, 11, 12, 12, 13, 14, 15, 16], True),  # not with every run
        ([*JITTER, 110, 120, 130, 140, 150], False),
        ([0] * 12 + [10, 20, 30, 40, 50], False),  # a queue that was empty
        ([*JITTER, 95, 90, 85, 80, 75], False),
    ],
)
def test_a_counter_that_only_counts_is_no_trend(values: list[float], counts: bool) -> None:
    assert only_counts(values) is counts
    assert (trend(case(depths(values)), PACE) is None) is counts


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=12))
def test_what_rises_falls_when_it_is_turned_around(values: list[float]) -> None:
    assert mann_kendall(values) == pytest.approx(-mann_kendall([-each for each in values]))
    assert mann_kendall(values) == pytest.approx(-mann_kendall(values[::-1]))


@given(st.lists(st.floats(-1e3, 1e3), min_size=5, max_size=12, unique=True))
def test_no_order_is_more_of_a_trend_than_the_sorted_one(values: list[float]) -> None:
    assert abs(mann_kendall(values)) <= mann_kendall(sorted(values)) + 1e-9


# --- Level shift ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("newest", "detector"),
    [
        ([100], None),
        ([104], None),
        ([300], ANOMALY),
        ([300, 100], None),
        ([300, 300], SUSPECTED),
        ([300, 300, 300], NAME),
        ([20, 20, 20], NAME),
        ([300, 20, 300], ANOMALY),
    ],
)
def test_three_points_make_a_shift_two_a_suspicion_and_one_nothing(
    newest: list[float], detector: str | None
) -> None:
    found = level_shift(case(depths([*JITTER, *JITTER, *newest])), PACE)
    assert (found.detector if found else None) == detector


def test_a_single_anomaly_is_said_and_nothing_is_done() -> None:
    found = level_shift(case(depths([*JITTER, 300])), PACE)
    assert found is not None
    assert "once is no reason to act" in found.sentence


def test_points_right_after_each_other_count_for_less() -> None:
    bodies = depths([*JITTER, *JITTER, 300, 300, 300])
    found = level_shift(case(bodies, every=PACE / 12), PACE)
    assert found is not None
    assert found.detector == ANOMALY


@pytest.mark.parametrize("seed", range(5))
def test_a_day_that_is_like_the_day_before_is_no_shift(seed: int) -> None:
    chance = random.Random(seed)
    waves = [100 + 50 * sin(2 * pi * n / 40) + chance.gauss(0, 2) for n in range(130)]
    for end in range(48, 130):
        found = level_shift(case(depths(waves[end - 48 : end])), PACE)
        assert found is None or found.detector != NAME


def test_answers_of_a_failing_run_are_no_points() -> None:
    bodies = [*depths(JITTER), down(), down(), down(), *depths([100])]
    assert level_shift(case(bodies), PACE) is None


@given(
    st.lists(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5),
            st.lists(st.integers(), max_size=2),
        ),
        min_size=10,
        max_size=30,
    )
)  # fmt: skip
def test_whatever_is_in_an_answer_no_detector_fails(values: list[Any]) -> None:
    given_case = case([{"a": value, "a_max": value, "b_limit": value} for value in values])
    for detector in (trend, level_shift, threshold):
        detector(given_case, PACE)


# --- Threshold --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "is_crossed"),
    [
        ({"queue_depth": 250, "queue_warning_threshold": 300}, False),
        ({"queue_depth": 300, "queue_warning_threshold": 300}, True),
        ({"queue_depth": 440, "queue_max": 500}, False),
        ({"queue_depth": 460, "queue_max": 500}, True),
        ({"connections": 95, "connections_limit": 100}, True),
        ({"connections": 95, "sessions_limit": 90}, False),
        ({"queue_depth": "460", "queue_max": 500}, False),
        ({"queue_depth": 460, "queue_max": 0}, False),
        ({"queue_max": 500, "queue_warning_threshold": 300}, False),
        ({"_max": 5, "x": 9}, False),
    ],
)
def test_a_limit_that_the_answer_names_is_found(body: dict[str, Any], is_crossed: bool) -> None:
    found = threshold(case([body, body]), PACE)
    assert (found is not None) is is_crossed


def test_a_limit_that_is_crossed_once_is_no_reason_to_act() -> None:
    calm, crossed = {"q": 1, "q_max": 10}, {"q": 10, "q_max": 10}
    assert threshold(case([calm, crossed]), PACE) is None
    assert threshold(case([crossed]), PACE) is None
    found = threshold(case([crossed, crossed]), PACE)
    assert found is not None
    assert found.text == "Threshold: q is 10 and has reached q_max, which is 10"


def test_text_and_lists_are_no_answers_with_numbers() -> None:
    given_case = case(["up", "up", [1, 2], answer("300")] * 4)
    assert [each(given_case, PACE) for each in (trend, level_shift, threshold)] == [None] * 3
