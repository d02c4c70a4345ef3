"""When an endpoint needs a look, for each kind of attention."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.domain.analysis import (
    REASONS,
    AnalysisReason,
    Attention,
    Facts,
    back_off,
    reason_to_analyse,
)
from tests.factories import NOON, minutes, seconds

BEFORE, LOOK, SINCE = NOON - minutes(30), NOON - minutes(20), NOON - minutes(10)
EVERYONE = list(Attention)
MICROSECOND = timedelta(microseconds=1)


def reason(attention: Attention, now: datetime = NOON, **facts: Any) -> AnalysisReason | None:
    return reason_to_analyse(Facts(**facts), attention, now)


@pytest.mark.parametrize("attention", EVERYONE)
def test_nothing_happened_is_no_reason(attention: Attention) -> None:
    assert reason(attention) is None
    assert reason(attention, looked_at=LOOK, last_finished_at=BEFORE) is None


@pytest.mark.parametrize("attention", EVERYONE)
def test_a_person_may_always_ask(attention: Attention) -> None:
    assert reason(attention, asked_at=SINCE) == AnalysisReason.ASKED
    assert reason(attention, asked_at=SINCE, looked_at=LOOK) == AnalysisReason.ASKED


@pytest.mark.parametrize("attention", EVERYONE)
def test_a_person_who_asked_before_the_last_look_has_been_answered(attention: Attention) -> None:
    assert reason(attention, asked_at=BEFORE, looked_at=LOOK) is None
    assert reason(attention, asked_at=LOOK, looked_at=LOOK) is None


@pytest.mark.parametrize("attention", [Attention.EVERY_RUN, Attention.OWN_RUNS])
def test_a_cheap_brain_looks_after_every_run(attention: Attention) -> None:
    assert reason(attention, last_finished_at=SINCE, looked_at=LOOK) == AnalysisReason.RAN
    assert reason(attention, last_finished_at=BEFORE) == AnalysisReason.RAN


def test_only_the_brain_that_looks_at_every_run_looks_when_a_sibling_ran() -> None:
    facts = {"sibling_finished_at": SINCE, "looked_at": LOOK, "last_finished_at": BEFORE}

    assert reason(Attention.EVERY_RUN, **facts) == AnalysisReason.SIBLING_RAN
    assert reason(Attention.OWN_RUNS, **facts) is None
    assert reason(Attention.ON_CHANGE, **facts) is None


def test_a_siblings_run_before_the_look_is_no_reason() -> None:
    assert reason(Attention.EVERY_RUN, sibling_finished_at=BEFORE, looked_at=LOOK) is None


# --- A model: a look has a reason, and keeps to its gaps ---------------------------------------


def of_model(now: datetime = NOON, **facts: Any) -> AnalysisReason | None:
    """Of an endpoint that was looked at, and ran since."""
    usual = {"last_finished_at": SINCE, "looked_at": LOOK}
    return reason(Attention.ON_CHANGE, now, **{**usual, **facts})


def test_a_model_looks_at_what_ran_and_was_never_analysed() -> None:
    assert of_model(looked_at=None) is AnalysisReason.NEVER_ANALYSED


def test_a_model_leaves_what_never_ran_alone_unless_a_person_asks() -> None:
    idle = {"last_finished_at": None, "looked_at": None, "sibling_changed_at": SINCE}

    assert of_model(**idle) is None
    assert of_model(**idle, asked_at=SINCE) is AnalysisReason.ASKED


def test_a_model_does_not_look_at_a_run_that_went_as_before() -> None:
    assert of_model() is None


def test_a_model_looks_at_a_failure_since_by_its_time() -> None:
    assert of_model(last_failed_at=SINCE) is AnalysisReason.FAILED
    assert of_model(last_failed_at=BEFORE) is None


def test_a_model_looks_again_when_it_asked_to_and_something_ran() -> None:
    assert of_model(next_analysis_at=NOON) is AnalysisReason.DUE
    assert of_model(next_analysis_at=NOON + minutes(1)) is None
    assert of_model(next_analysis_at=NOON, last_finished_at=BEFORE) is None


def test_a_model_looks_when_a_sibling_changed_not_when_it_only_ran() -> None:
    later = {"sibling_finished_at": SINCE, "next_analysis_at": NOON + minutes(240)}

    assert of_model(**later, sibling_changed_at=SINCE) is AnalysisReason.SIBLING_CHANGED
    assert of_model(**later, sibling_changed_at=BEFORE) is None


@pytest.mark.parametrize(
    "facts",
    [
        {"sibling_changed_at": NOON},
        {"last_failed_at": NOON},
        {"next_analysis_at": NOON},
    ],
)
def test_a_model_keeps_to_the_gap_whatever_happens(facts: dict[str, Any]) -> None:
    ran = {"last_finished_at": NOON, "looked_at": NOON - minutes(5)}

    assert of_model(NOON, **ran, **facts) is not None
    assert of_model(NOON - MICROSECOND, **ran, **facts) is None
    assert of_model(NOON, **ran, **facts, min_gap=minutes(6)) is None


def test_a_failure_streak_that_begins_or_ends_does_not_wait_for_the_gap() -> None:
    just_now = {"looked_at": NOON - seconds(10), "streak_changed_at": NOON}

    assert of_model(**just_now) is AnalysisReason.STREAK
    assert of_model(looked_at=NOON, streak_changed_at=NOON) is None


def test_one_that_flaps_is_looked_at_once_a_minute_at_most() -> None:
    flapping = {"streak_changed_at": NOON, "streak_looked_at": NOON - seconds(59)}

    assert of_model(looked_at=NOON - seconds(59), **flapping) is None
    assert of_model(NOON + seconds(1), looked_at=NOON - seconds(59), **flapping) is not None


def test_a_person_does_not_wait_for_a_gap_or_a_back_off() -> None:
    just_now = {"looked_at": NOON - seconds(10), "next_analysis_at": NOON + minutes(60)}

    assert of_model(**just_now, failed_looks=5, asked_at=NOON) is AnalysisReason.ASKED


def test_after_failing_sessions_only_the_back_off_counts() -> None:
    failing = {"failed_looks": 2, "streak_changed_at": SINCE, "sibling_changed_at": SINCE}

    assert of_model(**failing, next_analysis_at=NOON + MICROSECOND) is None
    assert of_model(**failing, next_analysis_at=NOON) is AnalysisReason.RETRY
    assert of_model(**failing, next_analysis_at=NOON, last_finished_at=BEFORE) is None


def test_a_back_off_doubles_from_five_minutes_to_a_day() -> None:
    assert [back_off(count) for count in (1, 2, 3)] == [minutes(5), minutes(10), minutes(20)]
    assert [back_off(count) for count in (9, 10, 1000)] == [minutes(1280), *[minutes(1440)] * 2]
    assert back_off(1000, of_provider=True) == minutes(60)


def test_every_reason_has_words() -> None:
    assert set(REASONS) == set(AnalysisReason)


def test_cheap_brains_do_not_care_what_the_last_analysis_asked_for() -> None:
    facts = {"last_finished_at": BEFORE, "looked_at": LOOK, "next_analysis_at": SINCE}

    assert reason(Attention.EVERY_RUN, **facts) is None
    assert reason(Attention.OWN_RUNS, **facts) is None
