"""When an endpoint needs a look, for each kind of attention."""

from datetime import datetime
from typing import Any

import pytest

from cadenza.domain.analysis import Attention, Facts, reason_to_analyse
from tests.factories import NOON, minutes

BEFORE, LOOK, SINCE = NOON - minutes(30), NOON - minutes(20), NOON - minutes(10)
EVERYONE = list(Attention)


def reason(attention: Attention, now: datetime = NOON, **facts: Any) -> str | None:
    return reason_to_analyse(Facts(**facts), attention, now)


@pytest.mark.parametrize("attention", EVERYONE)
def test_nothing_happened_is_no_reason(attention: Attention) -> None:
    assert reason(attention) is None
    assert reason(attention, looked_at=LOOK, last_finished_at=BEFORE) is None


@pytest.mark.parametrize("attention", EVERYONE)
def test_a_person_may_always_ask(attention: Attention) -> None:
    assert reason(attention, asked_at=SINCE) == "a person asked for it"
    assert reason(attention, asked_at=SINCE, looked_at=LOOK) == "a person asked for it"


@pytest.mark.parametrize("attention", EVERYONE)
def test_a_person_who_asked_before_the_last_look_has_been_answered(attention: Attention) -> None:
    assert reason(attention, asked_at=BEFORE, looked_at=LOOK) is None
    assert reason(attention, asked_at=LOOK, looked_at=LOOK) is None


@pytest.mark.parametrize("attention", [Attention.EVERY_RUN, Attention.OWN_RUNS])
def test_a_cheap_brain_looks_after_every_run(attention: Attention) -> None:
    assert reason(attention, last_finished_at=SINCE, looked_at=LOOK) == "it ran"
    assert reason(attention, last_finished_at=BEFORE) == "it ran"


def test_only_the_brain_that_looks_at_every_run_looks_when_a_sibling_ran() -> None:
    facts = {"sibling_finished_at": SINCE, "looked_at": LOOK, "last_finished_at": BEFORE}

    assert reason(Attention.EVERY_RUN, **facts) == "a sibling ran"
    assert reason(Attention.OWN_RUNS, **facts) is None
    assert reason(Attention.ON_CHANGE, **facts) is None


def test_a_siblings_run_before_the_look_is_no_reason() -> None:
    assert reason(Attention.EVERY_RUN, sibling_finished_at=BEFORE, looked_at=LOOK) is None


def test_a_costly_brain_looks_at_what_ran_and_was_never_analysed() -> None:
    assert reason(Attention.ON_CHANGE, last_finished_at=SINCE) == "it was never analysed"


def test_a_costly_brain_does_not_look_at_a_run_that_went_as_before() -> None:
    assert reason(Attention.ON_CHANGE, last_finished_at=SINCE, looked_at=LOOK) is None


def test_a_costly_brain_looks_at_a_failure_since_by_its_time() -> None:
    ran = {"last_finished_at": SINCE, "looked_at": LOOK}

    assert reason(Attention.ON_CHANGE, **ran, last_failed_at=SINCE) == "it failed since"
    assert reason(Attention.ON_CHANGE, **ran, last_failed_at=BEFORE) is None


def test_a_costly_brain_looks_again_when_it_asked_to_and_something_ran() -> None:
    ran = {"last_finished_at": SINCE, "looked_at": LOOK}
    again = "the last analysis asked for another look"

    assert reason(Attention.ON_CHANGE, **ran, next_analysis_at=NOON) == again
    assert reason(Attention.ON_CHANGE, **ran, next_analysis_at=NOON + minutes(1)) is None
    idle = {"last_finished_at": BEFORE, "looked_at": LOOK}
    assert reason(Attention.ON_CHANGE, **idle, next_analysis_at=NOON) is None


def test_a_costly_brain_looks_when_a_sibling_changed_not_when_it_only_ran() -> None:
    looked = {"looked_at": LOOK, "sibling_finished_at": SINCE}

    assert reason(Attention.ON_CHANGE, **looked, sibling_changed_at=SINCE) == "a sibling changed"
    assert reason(Attention.ON_CHANGE, **looked, sibling_changed_at=BEFORE) is None


def test_cheap_brains_do_not_care_what_the_last_analysis_asked_for() -> None:
    facts = {"last_finished_at": BEFORE, "looked_at": LOOK, "next_analysis_at": SINCE}

    assert reason(Attention.EVERY_RUN, **facts) is None
    assert reason(Attention.OWN_RUNS, **facts) is None
