"""How soon something will change."""

from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.hazard import BASE_RATE, DAY, HOUR, MINUTE, Outages, recovery_rate


def after(*ago: float, age: float = 30 * DAY) -> float:
    outages = Outages(-age, -age)
    for each in sorted(ago, reverse=True):
        outages = outages.with_one_more(-each)
    return outages.rate(0.0)


def test_what_never_failed_has_the_base_rate() -> None:
    assert after() == BASE_RATE


def test_what_failed_lately_and_often_fails_sooner() -> None:
    assert after(HOUR, 2 * HOUR, 3 * HOUR) > after(HOUR) > after(DAY) > after(20 * DAY) > after()


def test_an_outage_in_the_first_hour_is_not_taken_for_one_an_hour() -> None:
    assert after(MINUTE, age=HOUR) < 24 * after(MINUTE, age=2 * DAY)
    assert after(MINUTE, age=HOUR) == after(MINUTE, age=DAY)


@given(st.lists(st.floats(0, 60 * DAY), max_size=8), st.floats(0, 30 * DAY))
def test_without_a_new_outage_the_hazard_only_fades(ago: list[float], wait: float) -> None:
    outages = Outages(-90 * DAY, -90 * DAY)
    for each in sorted(ago, reverse=True):
        outages = outages.with_one_more(-each)
    assert BASE_RATE <= outages.rate(wait) <= outages.rate(0.0) * (1 + 1e-9)


def test_what_has_lasted_half_an_hour_ends_soon_and_what_has_lasted_a_day_does_not() -> None:
    assert recovery_rate(30 * MINUTE) > recovery_rate(2 * MINUTE)
    assert recovery_rate(30 * MINUTE) > 10 * recovery_rate(DAY)
    assert recovery_rate(0.0) == recovery_rate(MINUTE)
    assert recovery_rate(9 * DAY) == recovery_rate(2 * DAY) > 0
