"""Why the next run is when it is, in words that are true."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.explanation import Explanation, explain
from cadenza.domain.governor import plan_next_run
from cadenza.domain.hint import Author, Pause
from cadenza.domain.instants import FOREVER
from tests.factories import (
    CRON,
    NOON,
    interval_hint,
    make_endpoint,
    minutes,
    one_shot,
    ran_at,
    seconds,
)


def planned(now: datetime = NOON, *, after_run: bool = True, **fields: Any) -> Endpoint:
    endpoint = make_endpoint(**fields)
    return replace(endpoint, plan=plan_next_run(now, endpoint, CRON, after_run=after_run))


def said(now: datetime = NOON, *, after_run: bool = True, **fields: Any) -> Explanation:
    return explain(planned(now, after_run=after_run, **fields), now, CRON)


def test_a_plain_interval_is_explained_by_itself() -> None:
    told = said(**ran_at(NOON))
    assert told.summary == "It runs next at 2026-03-02T12:01:00Z: its interval decided."
    assert told.because == ("Its interval asked for 2026-03-02T12:01:00Z, and was chosen.",)
    assert told.would_change == ()


def test_cron_is_explained_by_its_line() -> None:
    told = said(baseline=CronLine("0 13 * * *"))
    assert told.summary == "It runs next at 2026-03-02T13:00:00Z: its cron line decided."


def test_what_is_due_is_due_now() -> None:
    told = explain(planned(**ran_at(NOON)), NOON + minutes(5), CRON)
    assert told.summary == "It is due now: its interval decided."


def test_a_hint_says_who_why_how_long_and_what_would_be_without_it() -> None:
    told = said(
        interval_hint=interval_hint(seconds(30), NOON + minutes(10), Author.PERSON), **ran_at(NOON)
    )
    assert told.summary.endswith("12:00:30Z: the interval hint decided.")
    assert told.would_change == (
        "A person asks for a run every 30 s until 2026-03-02T12:10:00Z (because); without that it "
        "would run at 2026-03-02T12:01:00Z, by its interval.",
    )


def test_a_one_shot_says_when_it_expires() -> None:
    told = said(one_shot_hint=one_shot(NOON + seconds(30), NOON + minutes(30)), **ran_at(NOON))
    assert "the one-shot hint decided" in told.summary
    assert told.would_change[0].startswith(
        "The planner asks for one run at 2026-03-02T12:00:30Z, if it can be before "
        "2026-03-02T12:30:00Z"
    )


def test_an_excluded_candidate_says_why() -> None:
    told = said(interval_hint=interval_hint(minutes(30), NOON + minutes(10)), **ran_at(NOON))
    assert any(
        "The interval hint asked for 2026-03-02T12:30:00Z, which was no candidate: it would act "
        "after it has expired." in each
        for each in told.because
    )


def test_a_hint_that_has_expired_is_not_mentioned() -> None:
    endpoint = planned(interval_hint=interval_hint(seconds(30), NOON + minutes(1)), **ran_at(NOON))
    assert explain(endpoint, NOON + minutes(1), CRON).would_change == ()


@pytest.mark.parametrize(
    ("failures", "words", "interval", "worse"),
    [(1, "1 failure", "2 min", "4 min"), (4, "4 failures", "16 min", "32 min")],
)
def test_backoff_says_what_a_success_would_give(
    failures: int, words: str, interval: str, worse: str
) -> None:
    told = said(baseline=Every(minutes(1)), failure_count=failures, **ran_at(NOON))
    assert f"After {words} in a row its interval of 60 s has become {interval}." in told.because
    assert told.would_change == (
        f"A success ends the back-off: the interval is 60 s again. Another failure makes it "
        f"{worse}.",
        "`backoff: none` switches the back-off off: it then keeps its interval while it fails.",
    )


def test_a_backoff_that_is_as_long_as_it_gets_says_so() -> None:
    told = said(baseline=Every(seconds(10)), failure_count=7, **ran_at(NOON))
    assert "It is 320 s at most, however many more fail." in told.would_change[0]
    assert "Another failure" not in " ".join(told.would_change)


def test_a_backoff_that_is_off_is_named_where_it_fails() -> None:
    told = said(backs_off=False, failure_count=3, **ran_at(NOON))
    assert not any("failures in a row" in sentence for sentence in told.because)
    assert told.would_change == (
        "Failures do not slow it down: its back-off is switched off (backoff: none).",
    )


def test_guardrails_say_which_way_they_moved_it() -> None:
    late = said(failure_count=5, max_interval=minutes(5), **ran_at(NOON))
    assert "It was moved earlier: at most 5 min lie between runs." in late.because
    assert late.would_change[-1] == (
        "Nothing but a pause or the target keeps two runs further apart than 5 min."
    )
    early = said(
        min_interval=minutes(2),
        interval_hint=interval_hint(seconds(30), NOON + minutes(60)),
        **ran_at(NOON),
    )
    assert "It was moved later: at least 2 min lie between two runs." in early.because
    assert "Nothing but a person brings two runs closer together than 2 min." in early.would_change


def test_a_target_that_wants_to_be_left_alone_is_mentioned() -> None:
    told = said(not_before_at=NOON + minutes(5), **ran_at(NOON))
    assert "the target's Retry-After decided" in told.summary
    assert "The target wants no request before 2026-03-02T12:05:00Z." in told.would_change


def test_a_pause_says_whose_until_when_and_what_would_be_without_it() -> None:
    told = said(
        person_pause=Pause(NOON + minutes(10), "maintenance"), job_paused_until=FOREVER,
        after_run=False, **ran_at(NOON),
    )  # fmt: skip
    assert told.summary == "It is paused until somebody resumes it."
    assert told.would_change == (
        "A person holds it back until 2026-03-02T12:10:00Z (maintenance).",
        "The pause of its job holds it back until it is resumed.",
        "Without a pause it would run at 2026-03-02T12:01:00Z, by its interval.",
    )


def test_an_overrun_is_told() -> None:
    told = said(NOON + minutes(3), **ran_at(NOON))
    assert any("took longer" in each for each in told.because)


def test_on_demand_waits_for_somebody() -> None:
    told = said(baseline=OnDemand())
    assert told.summary == "Nothing asks for a run: it waits for a hint or a person."


def test_a_zone_that_is_gone_is_named() -> None:
    told = said(baseline=CronLine("0 9 * * *", "Mars/Base"))
    assert "Mars/Base" in told.summary


def test_a_run_in_flight_comes_first() -> None:
    told = said(
        running_slot_at=NOON, interval_hint=interval_hint(seconds(30), NOON + minutes(9)),
        **ran_at(NOON - minutes(1)),
    )  # fmt: skip
    assert told.summary.startswith("The run of 2026-03-02T12:00:00Z is in flight")
    assert told.would_change[0].endswith("(because).")


def test_what_is_archived_waits_to_be_restored() -> None:
    told = said(archived_at=NOON)
    archived = "It was archived at 2026-03-02T12:00:00Z: it runs again if it is restored."
    assert told.summary == archived
    assert told.because == told.would_change == ()
