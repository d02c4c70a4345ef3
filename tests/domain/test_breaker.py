"""The breaker: how long a provider that fails is left alone, and who may try it again."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from cadenza.domain.breaker import FIRST_REST, LONGEST_ASKED, LONGEST_REST, Breaker
from tests.factories import NOON, minutes, seconds

LIMIT = minutes(2)


def test_closed_it_lets_every_session_begin() -> None:
    breaker = Breaker()
    for _ in range(10):
        assert breaker.refusal(NOON) is None
        breaker = breaker.begun(NOON, LIMIT)


def test_after_a_failure_nobody_begins_until_the_rest_is_over() -> None:
    breaker = Breaker().failed(NOON, "HTTP 503")
    refusal = breaker.refusal(NOON + FIRST_REST - timedelta.resolution)
    assert refusal == "HTTP 503; it is tried again at 2026-03-02T12:00:05Z"
    assert breaker.refusal(NOON + FIRST_REST) is None


def test_half_open_it_lets_one_session_through() -> None:
    later = NOON + FIRST_REST
    breaker = Breaker().failed(NOON, "HTTP 503").begun(later, LIMIT)
    assert breaker.refusal(later) == "HTTP 503; one session is trying it now"
    assert breaker.answered(later + seconds(3)) == Breaker()


def test_a_trial_that_never_ends_is_given_up_after_the_longest_session() -> None:
    later = NOON + FIRST_REST
    breaker = Breaker().failed(NOON, "HTTP 503").begun(later, LIMIT)
    assert breaker.refusal(later + LIMIT) is None


def test_a_trial_that_never_asked_leaves_its_place_to_another() -> None:
    later = NOON + FIRST_REST
    breaker = Breaker().failed(NOON, "HTTP 503").begun(later, LIMIT).abandoned()
    assert breaker.refusal(later) is None


def test_each_failure_in_a_row_doubles_the_rest_up_to_a_quarter_of_an_hour() -> None:
    breaker, now, rests = Breaker(), NOON, list[timedelta]()
    for _ in range(10):
        breaker = breaker.begun(now, LIMIT).failed(now, "HTTP 500")
        assert breaker.rest_until is not None
        rests.append(breaker.rest_until - now)
        now = breaker.rest_until
    assert rests[:4] == [seconds(5), seconds(10), seconds(20), seconds(40)]
    assert rests[-2:] == [LONGEST_REST, LONGEST_REST]


def test_what_the_provider_asked_for_is_honoured_up_to_an_hour() -> None:
    asked = Breaker().failed(NOON, "HTTP 429", minutes(20))
    assert asked.rest_until == NOON + minutes(20)
    assert Breaker().failed(NOON, "HTTP 429", seconds(1)).rest_until == NOON + FIRST_REST
    assert Breaker().failed(NOON, "HTTP 429", minutes(999)).rest_until == NOON + LONGEST_ASKED


def test_sessions_that_fail_together_count_as_one_failure() -> None:
    breaker = Breaker()
    for _ in range(8):
        breaker = breaker.failed(NOON + seconds(1), "HTTP 500")
    assert breaker.failures == 1
    longer = breaker.failed(NOON + seconds(2), "HTTP 429", minutes(3))
    assert longer.rest_until == NOON + seconds(2) + minutes(3)


def test_an_answer_to_a_session_from_before_the_failure_does_not_end_the_rest() -> None:
    breaker = Breaker().failed(NOON, "HTTP 429", minutes(1))
    assert breaker.answered(NOON + seconds(2)) == breaker


@given(st.lists(st.tuples(st.sampled_from(["begin", "fail", "answer"]), st.integers(0, 400))))
def test_no_history_locks_it_for_longer_than_an_hour(history: list[tuple[str, int]]) -> None:
    breaker, now = Breaker(), NOON
    for act, passed in history:
        now += seconds(passed)
        if act == "begin" and breaker.refusal(now) is None:
            breaker = breaker.begun(now, LIMIT)
        elif act == "fail":
            breaker = breaker.failed(now, "HTTP 429", seconds(passed * 100))
        elif act == "answer":
            breaker = breaker.answered(now)
        assert breaker.refusal(now + LONGEST_ASKED) is None
