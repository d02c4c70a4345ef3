"""Why the next run is when it is, in words that are true."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.explanation import Explanation, JobPause, explain
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
    assert told.summary == "Next run at 2026-03-02T12:01:00Z, set by the interval."
    assert told.because == ("The interval gives 2026-03-02T12:01:00Z, which was chosen.",)
    assert told.would_change == ()


def test_cron_is_explained_by_its_line() -> None:
    told = said(baseline=CronLine("0 13 * * *"))
    assert told.summary == "Next run at 2026-03-02T13:00:00Z, set by the cron schedule."


def test_what_is_due_is_due_now() -> None:
    told = explain(planned(**ran_at(NOON)), NOON + minutes(5), CRON)
    assert told.summary == "Due now, set by the interval."


def test_a_hint_says_who_why_how_long_and_what_would_be_without_it() -> None:
    told = said(
        interval_hint=interval_hint(seconds(30), NOON + minutes(10), Author.PERSON), **ran_at(NOON)
    )
    assert told.summary.endswith("12:00:30Z, set by the interval hint.")
    assert told.would_change == (
        "A hint by a person runs it every 30 s until 2026-03-02T12:10:00Z: because. Without it, "
        "the next run would be at 2026-03-02T12:01:00Z, set by the interval.",
    )


def test_a_one_shot_says_when_it_expires() -> None:
    told = said(one_shot_hint=one_shot(NOON + seconds(30), NOON + minutes(30)), **ran_at(NOON))
    assert "set by the one-shot hint" in told.summary
    assert told.would_change[0].startswith(
        "A hint by the planner runs it once at 2026-03-02T12:00:30Z, and expires at "
        "2026-03-02T12:30:00Z"
    )


def test_an_excluded_candidate_says_why() -> None:
    told = said(interval_hint=interval_hint(minutes(30), NOON + minutes(10)), **ran_at(NOON))
    assert any(
        "The interval hint gives 2026-03-02T12:30:00Z, which was not considered: it would act "
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
    raised = f"back-off has raised the interval from 60 s to {interval}."
    assert f"After {words} in a row, {raised}" in told.because
    assert told.would_change == (
        f"A success resets the interval to 60 s. Another failure raises it to {worse}.",
        "To keep the interval while it fails, switch back-off off (backoff: none).",
    )


def test_a_backoff_that_is_as_long_as_it_gets_says_so() -> None:
    told = said(baseline=Every(seconds(10)), failure_count=7, **ran_at(NOON))
    assert "Further failures do not raise it above 320 s." in told.would_change[0]
    assert "Another failure" not in " ".join(told.would_change)


def test_a_backoff_that_is_off_is_named_where_it_fails() -> None:
    told = said(backs_off=False, failure_count=3, **ran_at(NOON))
    assert not any("failures in a row" in sentence for sentence in told.because)
    assert told.would_change == (
        "Failures do not slow it down: back-off is switched off (backoff: none).",
    )


def test_guardrails_say_which_way_they_moved_it() -> None:
    late = said(failure_count=5, max_interval=minutes(5), **ran_at(NOON))
    assert "Moved earlier: runs may be at most 5 min apart." in late.because
    assert late.would_change[-1] == (
        "Only a pause or Retry-After can keep runs more than 5 min apart."
    )
    early = said(
        min_interval=minutes(2),
        interval_hint=interval_hint(seconds(30), NOON + minutes(60)),
        **ran_at(NOON),
    )
    assert "Moved later: runs must be at least 2 min apart." in early.because
    assert "Only a manual run can come less than 2 min after another run." in early.would_change


def test_a_target_that_wants_to_be_left_alone_is_mentioned() -> None:
    told = said(not_before_at=NOON + minutes(5), **ran_at(NOON))
    assert "set by the target's Retry-After" in told.summary
    assert (
        "The target asked for no request before 2026-03-02T12:05:00Z (Retry-After)."
        in told.would_change
    )


def test_a_pause_says_whose_until_when_and_what_would_be_without_it() -> None:
    told = said(
        person_pause=Pause(NOON + minutes(10), "maintenance"), job_paused_until=FOREVER,
        after_run=False, **ran_at(NOON),
    )  # fmt: skip
    assert told.summary == "Paused until resumed."
    assert told.would_change == (
        "Paused by a person until 2026-03-02T12:10:00Z: maintenance.",
        "Paused through its job until resumed.",
        "Without the pause, the next run would be at 2026-03-02T12:01:00Z, set by the interval.",
    )


def test_an_overrun_is_told() -> None:
    told = said(NOON + minutes(3), **ran_at(NOON))
    assert any("took longer" in each for each in told.because)


def test_on_demand_waits_for_somebody() -> None:
    told = said(baseline=OnDemand())
    assert told.summary == "No run is scheduled. It runs when a hint or a person asks for it."


def test_a_zone_that_is_gone_is_named() -> None:
    told = said(baseline=CronLine("0 9 * * *", "Mars/Base"))
    assert "Mars/Base" in told.summary


def test_a_run_in_flight_comes_first() -> None:
    told = said(
        running_slot_at=NOON, interval_hint=interval_hint(seconds(30), NOON + minutes(9)),
        **ran_at(NOON - minutes(1)),
    )  # fmt: skip
    assert told.summary.startswith("A run, due at 2026-03-02T12:00:00Z, is in progress")
    assert told.would_change[0].endswith(": because.")


def test_what_is_archived_waits_to_be_restored() -> None:
    told = said(archived_at=NOON)
    archived = "Archived at 2026-03-02T12:00:00Z. It does not run unless it is restored."
    assert told.summary == archived
    assert told.because == told.would_change == ()


def test_the_pause_of_a_job_says_whose_it_is_and_why() -> None:
    endpoint = planned(job_paused_until=NOON + minutes(30))
    told = explain(endpoint, NOON, CRON, JobPause("ann", "moving house"))
    assert told.would_change[0].startswith("Paused through its job, by ann, until")
    assert "moving house" in told.would_change[0]
    unknown = explain(endpoint, NOON, CRON)
    assert unknown.would_change[0].startswith("Paused through its job until")
