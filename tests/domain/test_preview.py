"""What lies ahead, as it is shown to people: the governor's own plans, run after run."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from hypothesis import given

from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.governor import plan_next_run
from cadenza.domain.hint import Pause
from cadenza.domain.instants import FOREVER
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from cadenza.domain.preview import next_runs, next_runs_by_baseline
from tests.domain.test_governor_properties import SITUATIONS, Situation, nasty
from tests.factories import (
    CRON,
    NOON,
    interval_hint,
    make_endpoint,
    make_finished,
    minutes,
    one_shot,
    ran_at,
    seconds,
)


def planned(now: datetime = NOON, **fields: Any) -> Endpoint:
    endpoint = make_endpoint(**fields)
    return replace(endpoint, plan=plan_next_run(now, endpoint, CRON, after_run=False))


def ahead(endpoint: Endpoint, count: int = 3, now: datetime = NOON) -> list[timedelta]:
    """How long after noon each of the next runs is."""
    return [each.at - NOON for each in next_runs(endpoint, now, CRON, count)]


def sources(endpoint: Endpoint, count: int) -> list[Source]:
    return [each.source for each in next_runs(endpoint, NOON, CRON, count)]


def test_a_plain_interval_goes_on_evenly() -> None:
    endpoint = planned(baseline=Every(seconds(15)), **ran_at(NOON))
    assert ahead(endpoint) == [seconds(15), seconds(30), seconds(45)]


def test_a_day_of_minutes_has_no_drift() -> None:
    endpoint = planned(**ran_at(NOON))
    assert ahead(endpoint, 1440)[-1] == timedelta(days=1)


def test_a_new_endpoint_begins_now() -> None:
    assert ahead(planned()) == [seconds(0), minutes(1), minutes(2)]


def test_after_failures_the_first_run_is_backed_off_and_the_others_are_not() -> None:
    for failures, first in ((1, 2), (2, 4), (5, 32), (10, 32)):
        endpoint = planned(failure_count=failures, **ran_at(NOON))
        assert ahead(endpoint) == [minutes(first), minutes(first + 1), minutes(first + 2)]


def test_a_max_brings_a_backed_off_run_forward() -> None:
    endpoint = planned(failure_count=5, max_interval=minutes(5), **ran_at(NOON))
    assert ahead(endpoint, 2) == [minutes(5), minutes(6)]
    assert sources(endpoint, 2) == [Source.CLAMPED_MAX, Source.BASELINE_INTERVAL]


def test_an_interval_hint_rules_until_it_expires() -> None:
    hint = interval_hint(seconds(20), NOON + minutes(1))
    endpoint = planned(interval_hint=hint, **ran_at(NOON))
    assert ahead(endpoint, 5) == [
        *(seconds(20), seconds(40), seconds(60)),
        *(minutes(2), minutes(3)),
    ]
    assert sources(endpoint, 4) == [*[Source.AI_INTERVAL] * 3, Source.BASELINE_INTERVAL]
    plain = next_runs_by_baseline(endpoint, NOON, CRON, 2)
    assert [each.at - NOON for each in plain] == [minutes(1), minutes(2)]


def test_a_one_shot_comes_once() -> None:
    hints = {"one_shot_hint": one_shot(NOON + seconds(30), NOON + minutes(30))}
    endpoint = planned(**hints, **ran_at(NOON))
    assert ahead(endpoint) == [seconds(30), seconds(90), seconds(150)]
    assert sources(endpoint, 2) == [Source.AI_ONESHOT, Source.BASELINE_INTERVAL]


def test_of_both_hints_the_earlier_is_shown() -> None:
    endpoint = planned(
        interval_hint=interval_hint(minutes(2), NOON + minutes(60)),
        one_shot_hint=one_shot(NOON + seconds(90), NOON + minutes(60)),
        **ran_at(NOON),
    )
    assert ahead(endpoint, 2) == [seconds(90), seconds(90) + minutes(2)]


def test_cron_stays_on_its_grid_in_its_zone() -> None:
    line = CronLine("0 9 * * mon-fri", "Europe/Paris")
    days = [each.at.isoformat() for each in next_runs(planned(baseline=line), NOON, CRON, 5)]
    assert days == [f"2026-03-{day:02}T08:00:00+00:00" for day in (3, 4, 5, 6, 9)]


def test_every_minute_with_a_min_of_a_minute_stays_on_the_minute() -> None:
    line = CronLine("* * * * *")
    endpoint = planned(baseline=line, min_interval=minutes(1), **ran_at(NOON))
    assert ahead(endpoint, 3) == [minutes(1), minutes(2), minutes(3)]


def test_a_pause_holds_the_first_run_back() -> None:
    endpoint = planned(person_pause=Pause(NOON + minutes(10)), **ran_at(NOON))
    assert ahead(endpoint) == [minutes(10), minutes(11), minutes(12)]
    assert sources(endpoint, 1) == [Source.PAUSED]


def test_a_pause_of_the_planner_is_no_part_of_the_baseline() -> None:
    endpoint = planned(planner_pause=Pause(NOON + minutes(10)), **ran_at(NOON))
    assert ahead(endpoint, 1) == [minutes(10)]
    assert next_runs_by_baseline(endpoint, NOON, CRON, 1)[0].at == NOON + minutes(1)


def test_under_an_endless_pause_nothing_lies_ahead() -> None:
    assert ahead(planned(person_pause=Pause(FOREVER), **ran_at(NOON))) == []


def test_on_demand_only_hints_bring_runs() -> None:
    assert ahead(planned(baseline=OnDemand())) == []
    asked = planned(
        baseline=OnDemand(), one_shot_hint=one_shot(NOON + minutes(5), NOON + minutes(9))
    )
    assert ahead(asked) == [minutes(5)]
    assert next_runs_by_baseline(asked, NOON, CRON, 3) == []


def test_what_is_in_flight_is_taken_to_end_now() -> None:
    endpoint = planned(running_slot_at=NOON, last_run_at=NOON - minutes(1))
    assert ahead(endpoint, 2, now=NOON + seconds(20)) == [minutes(1), minutes(2)]


def test_what_is_overdue_runs_now_and_is_not_caught_up_with() -> None:
    endpoint = planned(**ran_at(NOON))
    late = NOON + minutes(10) + seconds(30)
    assert ahead(endpoint, 2, now=late) == [late - NOON, late - NOON + minutes(1)]


def test_an_archived_endpoint_has_nothing_ahead() -> None:
    assert ahead(planned(archived_at=NOON)) == []


@given(SITUATIONS)
@nasty
def test_what_repeats_is_what_the_governor_would_plan_run_after_run(situation: Situation) -> None:
    endpoint, now = replace(situation.endpoint, plan=situation.plan()), situation.now
    for upcoming in next_runs(endpoint, now, CRON, 12):
        slot_at = endpoint.next_run_at
        assert slot_at is not None
        now = max(now, slot_at)
        assert (upcoming.at, upcoming.source) == (now, endpoint.next_source)
        finished = make_finished(endpoint, slot_at, late_by=now - slot_at)
        endpoint = finish_run(endpoint, finished, now, CRON).endpoint
