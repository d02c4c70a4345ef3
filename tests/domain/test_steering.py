"""Acts between runs: what each does to the plan, and who may do it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from cadenza.domain import steering
from cadenza.domain.bounds import MAX_CHANGES_PER_HOUR
from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.errors import AlreadyRunning, Refused
from cadenza.domain.hint import Author, Pause
from cadenza.domain.instants import FOREVER, TICK
from cadenza.domain.outcome import finish_run
from cadenza.domain.plan import Source
from tests.factories import (
    CRON,
    FAILED,
    NOON,
    interval_hint,
    make_endpoint,
    make_finished,
    minutes,
    one_shot,
    ran_at,
    seconds,
)

HOUR = timedelta(hours=1)
LATER = NOON + 4 * HOUR
HOURLY = CronLine("0 * * * *")
PERSON, PLANNER = Author.PERSON, Author.PLANNER


def running_every(interval: timedelta, **fields: Any) -> Endpoint:
    """An endpoint that ran at noon and has its next plan."""
    return planned(**{"baseline": Every(interval), **ran_at(NOON), **fields})


def planned(**fields: Any) -> Endpoint:
    return steering.begin(make_endpoint(**fields), NOON, CRON)


def in_flight(endpoint: Endpoint, **fields: Any) -> Endpoint:
    return replace(endpoint, running_slot_at=endpoint.next_run_at or NOON, **fields)


# --- Nudge ----------------------------------------------------------------------------------


def test_a_hint_brings_the_next_run_forward() -> None:
    endpoint = running_every(HOUR)
    hint = interval_hint(minutes(5), LATER)
    nudged = steering.suggest_interval(endpoint, hint, NOON + minutes(1), CRON)

    assert nudged.interval_hint == hint
    assert nudged.next_run_at == NOON + minutes(5)


def test_a_hint_never_pushes_the_next_run_back() -> None:
    endpoint = running_every(minutes(1))
    hint = interval_hint(minutes(5), LATER)
    nudged = steering.suggest_interval(endpoint, hint, NOON + seconds(1), CRON)

    assert nudged.interval_hint == hint
    assert nudged.plan == endpoint.plan


def test_a_nudge_leaves_a_slot_that_is_already_due() -> None:
    endpoint = running_every(minutes(1))
    late = NOON + minutes(3)
    nudged = steering.suggest_interval(endpoint, interval_hint(seconds(5), LATER), late, CRON)

    assert nudged.next_run_at == NOON + minutes(1)


def test_a_one_shot_brings_the_next_run_forward() -> None:
    endpoint = running_every(HOUR)
    nudged = steering.suggest_run_at(endpoint, one_shot(NOON + minutes(7), LATER), NOON, CRON)

    assert nudged.next_run_at == NOON + minutes(7)
    assert nudged.next_source is Source.AI_ONESHOT


def test_a_one_shot_for_the_past_is_stored_as_now() -> None:
    endpoint, now = running_every(HOUR), NOON + minutes(10)
    nudged = steering.suggest_run_at(endpoint, one_shot(NOON - HOUR, LATER), now, CRON)

    assert nudged.one_shot_hint is not None
    assert nudged.one_shot_hint.run_at == now
    assert nudged.next_run_at == now


def test_a_hint_wakes_an_on_demand_endpoint() -> None:
    endpoint = planned(baseline=OnDemand())
    assert endpoint.next_run_at is None

    by_shot = steering.suggest_run_at(endpoint, one_shot(NOON, LATER), NOON, CRON)
    hint = interval_hint(minutes(5), LATER)
    by_interval = steering.suggest_interval(endpoint, hint, NOON, CRON)

    assert by_shot.next_run_at == NOON
    assert by_interval.next_run_at == NOON + minutes(5)


def test_a_hint_that_cannot_act_leaves_an_on_demand_endpoint_asleep() -> None:
    endpoint = planned(baseline=OnDemand())
    hint = interval_hint(HOUR, NOON + minutes(1))

    assert steering.suggest_interval(endpoint, hint, NOON, CRON).next_run_at is None


def test_a_hint_does_not_get_an_endpoint_around_its_pause() -> None:
    endpoint = steering.pause(running_every(minutes(1)), NOON + HOUR, PERSON, "", NOON, CRON)
    hinted = steering.suggest_interval(endpoint, interval_hint(seconds(5), LATER), NOON, CRON)
    hinted = steering.suggest_run_at(hinted, one_shot(NOON, LATER), NOON, CRON)

    assert hinted.next_run_at == NOON + HOUR


def test_a_one_shot_that_replaces_the_one_of_the_plan_may_also_move_it_back() -> None:
    endpoint = running_every(HOUR)
    early = steering.suggest_run_at(endpoint, one_shot(NOON + minutes(5), LATER), NOON, CRON)
    moved = steering.suggest_run_at(early, one_shot(NOON + minutes(20), LATER), NOON, CRON)

    assert moved.next_run_at == NOON + minutes(20)


def test_a_one_shot_that_replaces_one_the_plan_did_not_come_from_only_nudges() -> None:
    endpoint = running_every(minutes(10))
    waiting = steering.suggest_run_at(endpoint, one_shot(NOON + minutes(30), LATER), NOON, CRON)
    moved = steering.suggest_run_at(waiting, one_shot(NOON + minutes(50), LATER), NOON, CRON)

    assert moved.plan == endpoint.plan
    assert moved.one_shot_hint is not None
    assert moved.one_shot_hint.run_at == NOON + minutes(50)


def test_writing_one_hint_drops_the_other_if_that_has_expired() -> None:
    stale = one_shot(NOON + minutes(1), NOON + minutes(2))
    endpoint = running_every(HOUR, one_shot_hint=stale)
    now = NOON + minutes(2)
    hinted = steering.suggest_interval(endpoint, interval_hint(HOUR, LATER), now, CRON)

    assert hinted.one_shot_hint is None


# --- A one-shot that could only run too late is refused -------------------------------------


def test_a_one_shot_that_is_not_before_its_expiry_is_refused_with_both_times() -> None:
    with pytest.raises(Refused) as refused:
        steering.suggest_run_at(running_every(HOUR), one_shot(LATER, LATER), NOON, CRON)

    assert str(refused.value) == (
        "its time 2026-03-02T16:00:00Z is not before its expiry 2026-03-02T16:00:00Z"
    )


def test_a_one_shot_whose_cooldown_ends_after_its_expiry_is_refused_with_the_reason() -> None:
    endpoint = planned(baseline=OnDemand(), min_interval=minutes(41), **ran_at(NOON))
    shot = one_shot(NOON + minutes(10), NOON + minutes(30))
    with pytest.raises(Refused, match=r"^cooling down until 2026-03-02T12:41:00Z") as refused:
        steering.suggest_run_at(endpoint, shot, NOON + minutes(5), CRON)

    assert "the hint expires at 2026-03-02T12:30:00Z" in str(refused.value)


def test_a_one_shot_that_the_target_itself_asked_to_put_off_is_refused_with_the_reason() -> None:
    endpoint = planned(**ran_at(NOON), not_before_at=NOON + HOUR)
    shot = one_shot(NOON + minutes(10), NOON + minutes(30))
    with pytest.raises(Refused, match=r"^the target asked to wait until 2026-03-02T13:00:00Z"):
        steering.suggest_run_at(endpoint, shot, NOON, CRON)


def test_a_one_shot_that_its_cooldown_moves_but_not_past_its_expiry_is_taken() -> None:
    endpoint = planned(baseline=OnDemand(), min_interval=minutes(20), **ran_at(NOON))
    shot = one_shot(NOON + minutes(10), NOON + minutes(30))
    hinted = steering.suggest_run_at(endpoint, shot, NOON + minutes(5), CRON)

    assert hinted.next_run_at == NOON + minutes(20)
    assert hinted.next_source is Source.CLAMPED_MIN


def test_a_one_shot_that_would_have_to_run_before_a_slot_that_exists_is_refused() -> None:
    endpoint = planned(baseline=OnDemand(), last_run_at=NOON - HOUR, last_slot_at=NOON + HOUR)
    with pytest.raises(Refused, match="it had a slot at 2026-03-02T13:00:00Z already"):
        steering.suggest_run_at(endpoint, one_shot(NOON, NOON + HOUR), NOON, CRON)

    in_time = one_shot(NOON, NOON + HOUR + 2 * TICK)
    hinted = steering.suggest_run_at(endpoint, in_time, NOON, CRON)
    assert hinted.next_run_at == NOON + HOUR + TICK


def test_the_run_in_flight_starts_the_next_cooldown() -> None:
    endpoint = in_flight(planned(baseline=OnDemand(), min_interval=HOUR))
    shot = one_shot(NOON + minutes(1), NOON + minutes(30))
    with pytest.raises(Refused, match="cooling down until 2026-03-02T13:00:00Z"):
        steering.suggest_run_at(endpoint, shot, NOON + seconds(5), CRON)


def test_a_persons_run_in_flight_starts_the_cooldown_of_hints() -> None:
    endpoint = planned(baseline=OnDemand(), min_interval=HOUR)
    endpoint = in_flight(endpoint, running_is_manual=True)
    shot = one_shot(NOON + minutes(1), NOON + minutes(30))

    with pytest.raises(Refused, match="cooling down until 2026-03-02T13:00"):
        steering.suggest_run_at(endpoint, shot, NOON, CRON)


# --- Clear ----------------------------------------------------------------------------------


def test_clearing_hints_plans_anew_also_later() -> None:
    endpoint = running_every(HOUR, interval_hint=interval_hint(minutes(5), LATER))
    assert endpoint.next_run_at == NOON + minutes(5)

    cleared = steering.clear_hints(endpoint, PLANNER, NOON + minutes(1), CRON)

    assert (cleared.interval_hint, cleared.one_shot_hint) == (None, None)
    assert cleared.next_run_at == NOON + HOUR


def test_clearing_a_slow_hint_plans_anew_also_earlier() -> None:
    endpoint = running_every(minutes(5), interval_hint=interval_hint(HOUR, LATER))
    cleared = steering.clear_hints(endpoint, PLANNER, NOON + minutes(1), CRON)

    assert cleared.next_run_at == NOON + minutes(5)


def test_clearing_none_does_nothing() -> None:
    endpoint = running_every(minutes(5))
    stale = replace(endpoint, failure_count=3)  # planning anew would change the plan

    assert steering.clear_hints(stale, PERSON, NOON, CRON) is stale


def test_clearing_none_but_expired_hints_does_nothing_either() -> None:
    stale = interval_hint(minutes(5), NOON)
    endpoint = replace(running_every(HOUR), interval_hint=stale, failure_count=3)

    assert steering.clear_hints(endpoint, PLANNER, NOON, CRON) is endpoint


def test_clearing_keeps_a_slot_that_is_already_due() -> None:
    endpoint = running_every(HOUR, interval_hint=interval_hint(minutes(5), LATER))
    cleared = steering.clear_hints(endpoint, PERSON, NOON + minutes(6), CRON)

    assert cleared.interval_hint is None
    assert cleared.plan == endpoint.plan


# --- Who ------------------------------------------------------------------------------------


def test_the_planner_cannot_replace_a_persons_hint_before_it_expires() -> None:
    mine = interval_hint(HOUR, LATER, PERSON)
    shot = one_shot(NOON + HOUR, LATER, PERSON)
    endpoint = running_every(minutes(5), interval_hint=mine, one_shot_hint=shot)

    with pytest.raises(Refused, match="left alone: a person's hint until 2026-03-02T16:00:00Z"):
        steering.suggest_interval(endpoint, interval_hint(minutes(1), LATER), NOON, CRON)
    with pytest.raises(Refused, match="left alone: a person's hint"):
        steering.suggest_run_at(endpoint, one_shot(NOON, LATER), NOON, CRON)


def test_the_planner_may_replace_a_persons_hint_that_has_expired() -> None:
    mine = interval_hint(HOUR, NOON + minutes(1), PERSON)
    endpoint = running_every(HOUR, interval_hint=mine)
    hint = interval_hint(minutes(5), LATER)
    hinted = steering.suggest_interval(endpoint, hint, NOON + minutes(1), CRON)

    assert hinted.interval_hint == hint


def test_the_planner_may_write_the_other_kind_of_hint_beside_a_persons() -> None:
    mine = one_shot(NOON + minutes(30), LATER, PERSON)
    endpoint = running_every(HOUR, one_shot_hint=mine)
    hint = interval_hint(minutes(5), LATER)
    hinted = steering.suggest_interval(endpoint, hint, NOON, CRON)

    assert (hinted.interval_hint, hinted.one_shot_hint) == (hint, mine)


def test_the_planner_clears_its_own_hints_and_keeps_a_persons() -> None:
    mine = one_shot(NOON + minutes(30), LATER, PERSON)
    theirs = interval_hint(minutes(5), LATER, PLANNER)
    endpoint = running_every(HOUR, one_shot_hint=mine, interval_hint=theirs)
    cleared = steering.clear_hints(endpoint, PLANNER, NOON, CRON)

    assert (cleared.interval_hint, cleared.one_shot_hint) == (None, mine)
    assert cleared.next_run_at == NOON + minutes(30)
    assert steering.clear_hints(cleared, PLANNER, NOON, CRON) is cleared


@pytest.mark.parametrize("author", list(Author))
def test_a_person_may_replace_and_clear_anybodys_hint(author: Author) -> None:
    endpoint = running_every(HOUR, interval_hint=interval_hint(minutes(5), LATER, author))
    mine = interval_hint(minutes(1), LATER, PERSON)

    assert steering.suggest_interval(endpoint, mine, NOON, CRON).interval_hint == mine
    assert steering.clear_hints(endpoint, PERSON, NOON, CRON).interval_hint is None


def test_the_planner_cannot_lift_a_persons_pause_and_hears_until_when() -> None:
    endpoint = steering.pause(running_every(minutes(1)), NOON + HOUR, PERSON, "", NOON, CRON)
    with pytest.raises(Refused, match="left alone: a person's pause until 2026-03-02T13:00:00Z"):
        steering.resume(endpoint, PLANNER, NOON, CRON)

    endless = steering.pause(endpoint, None, PERSON, "", NOON, CRON)
    with pytest.raises(Refused, match="left alone: a person's pause until resumed"):
        steering.pause(endless, NOON, PLANNER, "", NOON, CRON)


def test_the_planner_cannot_shorten_a_persons_pause() -> None:
    endpoint = steering.pause(running_every(minutes(1)), NOON + HOUR, PERSON, "", NOON, CRON)
    shorter = steering.pause(endpoint, NOON + minutes(5), PLANNER, "", NOON, CRON)

    assert shorter.person_pause == endpoint.person_pause
    assert shorter.next_run_at == NOON + HOUR


def test_the_planner_may_lengthen_a_pause_and_lift_its_own_afterwards() -> None:
    endpoint = steering.pause(running_every(minutes(1)), NOON + HOUR, PERSON, "", NOON, CRON)
    longer = steering.pause(endpoint, NOON + 2 * HOUR, PLANNER, "", NOON, CRON)
    assert longer.next_run_at == NOON + 2 * HOUR

    now = NOON + HOUR
    lifted = steering.resume(longer, PLANNER, now, CRON)

    assert lifted.planner_pause is None
    assert (lifted.next_run_at, lifted.next_source) == (now, Source.RESUMED)


def test_a_person_lifts_every_pause_of_the_endpoint() -> None:
    endpoint = steering.pause(running_every(minutes(1)), NOON + HOUR, PERSON, "", NOON, CRON)
    endpoint = steering.pause(endpoint, NOON + 2 * HOUR, PLANNER, "", NOON, CRON)
    lifted = steering.resume(endpoint, PERSON, NOON + minutes(5), CRON)

    assert (lifted.person_pause, lifted.planner_pause) == (None, None)
    assert lifted.next_run_at == NOON + minutes(5)


# --- Pause ----------------------------------------------------------------------------------


def test_a_pause_is_kept_with_its_author_and_its_reason() -> None:
    endpoint = running_every(minutes(1))
    by_person = steering.pause(endpoint, NOON + HOUR, PERSON, "deploying", NOON, CRON)
    by_planner = steering.pause(endpoint, NOON + HOUR, PLANNER, "it is down", NOON, CRON)

    assert by_person.person_pause == Pause(NOON + HOUR, "deploying")
    assert by_person.planner_pause is None
    assert by_planner.planner_pause == Pause(NOON + HOUR, "it is down")
    assert by_planner.person_pause is None


def test_a_pause_moves_the_plan_to_its_end_also_when_the_slot_was_due() -> None:
    endpoint, now = running_every(minutes(1)), NOON + minutes(5)
    paused = steering.pause(endpoint, NOON + HOUR, PERSON, "", now, CRON)

    assert (paused.next_run_at, paused.next_source) == (NOON + HOUR, Source.PAUSED)


def test_a_pause_without_an_end_is_a_far_instant() -> None:
    paused = steering.pause(running_every(minutes(1)), None, PERSON, "", NOON, CRON)

    assert paused.next_run_at == FOREVER
    assert paused.paused_until(NOON) == FOREVER


def test_a_shorter_pause_of_the_same_author_replaces_the_longer_one() -> None:
    endpoint = steering.pause(running_every(minutes(1)), NOON + HOUR, PERSON, "", NOON, CRON)
    shorter = steering.pause(endpoint, NOON + minutes(10), PERSON, "", NOON, CRON)

    assert shorter.next_run_at == NOON + minutes(10)


def test_a_pause_until_an_instant_not_after_now_resumes() -> None:
    endpoint = steering.pause(running_every(HOUR), None, PERSON, "", NOON, CRON)
    now = NOON + minutes(5)
    resumed = steering.pause(endpoint, now, PERSON, "", now, CRON)

    assert resumed.person_pause is None
    assert (resumed.next_run_at, resumed.next_source) == (now, Source.RESUMED)


# --- Resume ---------------------------------------------------------------------------------


def paused_at_noon(**fields: Any) -> Endpoint:
    endpoint = planned(**{**ran_at(NOON), **fields})
    return steering.pause(endpoint, None, PERSON, "", NOON, CRON)


def test_every_is_due_now_when_resumed() -> None:
    now = NOON + minutes(5)
    resumed = steering.resume(paused_at_noon(baseline=Every(HOUR)), PERSON, now, CRON)

    assert resumed.plan is not None
    assert resumed.plan.next_run_at == now
    assert (resumed.plan.source, resumed.plan.winner) == (Source.RESUMED, Source.RESUMED)
    assert resumed.plan.clamps == ()


def test_min_and_retry_after_hold_for_a_resumed_run_and_the_plan_says_so() -> None:
    now = NOON + minutes(5)
    cooling = paused_at_noon(baseline=Every(HOUR), min_interval=minutes(20))
    asked = paused_at_noon(baseline=Every(HOUR), not_before_at=NOON + minutes(30))
    after_min = steering.resume(cooling, PERSON, now, CRON).plan
    after_retry = steering.resume(asked, PERSON, now, CRON).plan

    assert after_min is not None
    assert (after_min.next_run_at, after_min.clamps) == (
        NOON + minutes(20),
        (Source.CLAMPED_MIN,),
    )
    assert after_retry is not None
    assert (after_retry.next_run_at, after_retry.clamps) == (
        NOON + minutes(30),
        (Source.RETRY_AFTER,),
    )


def test_a_resumed_plan_does_not_keep_the_clamps_of_the_plan_it_takes_the_place_of() -> None:
    endpoint = paused_at_noon(failure_count=5, max_interval=minutes(30))
    resumed = steering.resume(endpoint, PERSON, NOON + minutes(5), CRON)

    assert resumed.plan is not None
    assert resumed.plan.clamps == ()


def test_a_resumed_cron_takes_its_next_occurrence() -> None:
    now = NOON + minutes(5)
    resumed = steering.resume(paused_at_noon(baseline=HOURLY), PERSON, now, CRON)

    assert (resumed.next_run_at, resumed.next_source) == (NOON + HOUR, Source.BASELINE_CRON)


def test_a_resumed_on_demand_endpoint_returns_to_its_hints_or_to_sleep() -> None:
    now = NOON + minutes(5)
    idle = steering.resume(paused_at_noon(baseline=OnDemand()), PERSON, now, CRON)
    shot = one_shot(NOON + minutes(30), LATER)
    hinted = paused_at_noon(baseline=OnDemand(), one_shot_hint=shot)

    assert idle.next_run_at is None
    assert steering.resume(hinted, PERSON, now, CRON).next_run_at == NOON + minutes(30)


@pytest.mark.parametrize("author", list(Author))
def test_resuming_an_endpoint_that_is_not_paused_changes_nothing(author: Author) -> None:
    endpoint = running_every(minutes(1), person_pause=Pause(NOON))
    now = NOON + minutes(5)

    assert steering.resume(endpoint, author, now, CRON) is endpoint
    assert steering.pause(endpoint, now, author, "", now, CRON) is endpoint


def test_a_resumed_run_has_a_slot_after_the_last_one() -> None:
    endpoint = paused_at_noon(baseline=Every(HOUR), last_run_at=NOON - HOUR)
    resumed = steering.resume(endpoint, PERSON, NOON - minutes(5), CRON)

    assert resumed.next_run_at == NOON + TICK


def test_an_endpoint_whose_job_is_still_paused_stays_paused_when_resumed() -> None:
    endpoint = steering.set_job_pause(paused_at_noon(), NOON + HOUR, NOON, CRON)
    resumed = steering.resume(endpoint, PERSON, NOON + minutes(5), CRON)

    assert (resumed.next_run_at, resumed.next_source) == (NOON + HOUR, Source.PAUSED)


def test_an_archived_endpoint_sleeps_on_when_resumed() -> None:
    endpoint = steering.archive(paused_at_noon(), NOON, CRON)

    assert steering.resume(endpoint, PERSON, NOON + minutes(5), CRON).next_run_at is None


# --- The job's pause ------------------------------------------------------------------------


def test_the_jobs_pause_counts_like_the_endpoints_own() -> None:
    endpoint = steering.set_job_pause(running_every(minutes(1)), NOON + HOUR, NOON, CRON)

    assert endpoint.paused_until(NOON) == NOON + HOUR
    assert (endpoint.next_run_at, endpoint.next_source) == (NOON + HOUR, Source.PAUSED)


def test_resuming_the_job_makes_every_due_now() -> None:
    endpoint = steering.set_job_pause(running_every(HOUR), FOREVER, NOON, CRON)
    now = NOON + minutes(5)
    resumed = steering.set_job_pause(endpoint, None, now, CRON)

    assert resumed.job_paused_until is None
    assert (resumed.next_run_at, resumed.next_source) == (now, Source.RESUMED)


def test_an_instant_that_has_passed_resumes_the_job_too() -> None:
    endpoint = steering.set_job_pause(running_every(HOUR), FOREVER, NOON, CRON)
    now = NOON + minutes(5)

    assert steering.set_job_pause(endpoint, now, now, CRON).next_run_at == now


def test_resuming_the_job_leaves_a_pause_of_the_endpoint_in_force() -> None:
    endpoint = steering.set_job_pause(paused_at_noon(), NOON + HOUR, NOON, CRON)
    resumed = steering.set_job_pause(endpoint, None, NOON + minutes(5), CRON)

    assert (resumed.next_run_at, resumed.next_source) == (FOREVER, Source.PAUSED)


def test_resuming_a_job_that_is_not_paused_leaves_the_plan_alone() -> None:
    never = running_every(minutes(1), failure_count=0)
    stale = replace(never, failure_count=3)  # planning anew would change the plan
    ended = replace(stale, job_paused_until=NOON)

    assert steering.set_job_pause(stale, None, NOON, CRON) is stale
    assert steering.set_job_pause(ended, None, NOON, CRON).plan == never.plan


# --- While a run is in flight ---------------------------------------------------------------


def acts(endpoint: Endpoint, now: datetime) -> dict[str, Endpoint]:
    hint = interval_hint(seconds(5), LATER)
    paused = replace(endpoint, person_pause=Pause(FOREVER))
    return {
        "suggest an interval": steering.suggest_interval(endpoint, hint, now, CRON),
        "suggest a time": steering.suggest_run_at(endpoint, one_shot(now, LATER), now, CRON),
        "clear": steering.clear_hints(replace(endpoint, interval_hint=hint), PERSON, now, CRON),
        "pause": steering.pause(endpoint, LATER, PERSON, "", now, CRON),
        "resume": steering.resume(paused, PERSON, now, CRON),
        "pause the job": steering.set_job_pause(endpoint, LATER, now, CRON),
        "edit": steering.edit(
            endpoint, baseline=HOURLY, min_interval=HOUR, max_interval=None, now=now, cron=CRON
        ),
        "reset failures": steering.reset_failures(replace(endpoint, failure_count=3), now, CRON),
        "archive": steering.archive(endpoint, now, CRON),
    }


@pytest.mark.parametrize("act", acts(make_endpoint(), NOON))
@pytest.mark.parametrize("manual", [False, True], ids=["scheduled", "by a person"])
def test_while_a_run_is_in_flight_an_act_writes_only_its_own_fields(act: str, manual: bool) -> None:
    endpoint = in_flight(running_every(minutes(1)), running_is_manual=manual)
    changed = acts(endpoint, NOON + minutes(2))[act]

    assert changed.plan == endpoint.plan
    assert changed.running_slot_at == endpoint.running_slot_at
    assert changed.last_run_at == endpoint.last_run_at


def test_the_finish_of_the_run_sees_what_was_written_meanwhile() -> None:
    endpoint = in_flight(running_every(HOUR))
    hint = interval_hint(minutes(5), LATER)
    slot_at = NOON + HOUR
    hinted = steering.suggest_interval(endpoint, hint, slot_at + seconds(1), CRON)
    finished = make_finished(hinted, slot_at, takes=seconds(2))
    settled = finish_run(hinted, finished, finished.finished_at, CRON).endpoint

    assert settled.next_run_at == slot_at + minutes(5)


# --- Given back -----------------------------------------------------------------------------


def test_a_claim_that_is_given_back_leaves_the_slot_that_was_due() -> None:
    endpoint = running_every(minutes(1))
    freed = steering.given_back(in_flight(endpoint), NOON + minutes(2), CRON)

    assert freed == endpoint


@pytest.mark.parametrize("since", [seconds(-0.15), seconds(0.15)])  # claims are made ahead
def test_a_slot_that_is_given_back_stays_where_a_hint_would_move_it(since: timedelta) -> None:
    hint = interval_hint(seconds(3), NOON + HOUR)
    endpoint = running_every(minutes(1), min_interval=seconds(4), interval_hint=hint)
    slot = NOON + seconds(4)
    assert endpoint.plan is not None
    due = replace(endpoint, plan=replace(endpoint.plan, next_run_at=slot))
    freed = steering.given_back(in_flight(due), slot + since, CRON)

    assert freed.next_run_at == slot


def test_what_was_written_while_nothing_was_sent_takes_effect_when_it_is_given_back() -> None:
    endpoint = in_flight(running_every(minutes(1)))
    now = NOON + minutes(2)
    paused = steering.pause(endpoint, NOON + HOUR, PERSON, "", now, CRON)
    freed = steering.given_back(paused, now, CRON)

    assert not freed.in_flight
    assert (freed.next_run_at, freed.next_source) == (NOON + HOUR, Source.PAUSED)


def test_a_run_now_that_is_given_back_waits_again_under_its_slot() -> None:
    endpoint = running_every(HOUR)
    running = replace(endpoint, running_slot_at=NOON + minutes(5), running_is_manual=True)
    freed = steering.given_back(running, NOON + minutes(6), CRON)

    assert freed.manual_slot_at == NOON + minutes(5)
    assert not freed.in_flight
    assert not freed.running_is_manual
    assert freed.next_run_at == endpoint.next_run_at


def test_a_run_now_of_an_endpoint_that_was_archived_meanwhile_is_dropped() -> None:
    running = replace(running_every(HOUR), running_slot_at=NOON, running_is_manual=True)
    archived = steering.archive(running, NOON + minutes(1), CRON)
    freed = steering.given_back(archived, NOON + minutes(1), CRON)

    assert freed.manual_slot_at is None
    assert freed.next_run_at is None


# --- Run now --------------------------------------------------------------------------------


def test_run_now_takes_the_slot_of_now_whatever_min_and_pause_say() -> None:
    endpoint = steering.pause(running_every(HOUR, min_interval=HOUR), None, PERSON, "", NOON, CRON)
    asked = steering.request_run_now(endpoint, NOON + seconds(3))

    assert asked.manual_slot_at == NOON + seconds(3)
    assert asked.plan == endpoint.plan


def test_run_now_is_refused_while_a_run_is_in_flight_or_waiting() -> None:
    endpoint = running_every(minutes(1))
    with pytest.raises(AlreadyRunning):
        steering.request_run_now(in_flight(endpoint), NOON)

    waiting = steering.request_run_now(endpoint, NOON + seconds(1))
    with pytest.raises(AlreadyRunning):
        steering.request_run_now(waiting, NOON + seconds(2))


def test_run_now_is_refused_for_an_archived_endpoint() -> None:
    with pytest.raises(Refused, match="archived"):
        steering.request_run_now(steering.archive(running_every(HOUR), NOON, CRON), NOON)


@pytest.mark.parametrize(
    ("now", "slot_at"),
    [
        pytest.param(NOON, NOON + TICK, id="the slot exists"),
        pytest.param(NOON - seconds(4), NOON + TICK, id="the clock has stepped back a little"),
        pytest.param(NOON - HOUR, NOON - HOUR, id="the clock has stepped back far"),
        pytest.param(NOON + HOUR, NOON + HOUR + TICK, id="the slot is the next one"),
        pytest.param(NOON + minutes(2), NOON + minutes(2), id="the slot is free"),
    ],
)
def test_run_now_takes_a_slot_of_its_own(now: datetime, slot_at: datetime) -> None:
    assert steering.request_run_now(running_every(HOUR), now).manual_slot_at == slot_at


def test_run_now_passes_both_the_slot_that_exists_and_the_one_that_is_next() -> None:
    endpoint = running_every(HOUR)
    assert endpoint.plan is not None
    next_to_it = replace(endpoint, plan=replace(endpoint.plan, next_run_at=NOON + TICK))

    assert steering.request_run_now(next_to_it, NOON).manual_slot_at == NOON + 2 * TICK


@pytest.mark.parametrize(
    "act",
    [
        lambda endpoint: steering.suggest_run_at(endpoint, one_shot(NOON, LATER), NOON, CRON),
        lambda endpoint: steering.resume(endpoint, PERSON, NOON, CRON),
    ],
    ids=["a one-shot", "a resume"],
)
def test_an_act_at_the_very_instant_of_a_run_now_plans_another_slot(act: Any) -> None:
    paused = steering.pause(planned(), None, PERSON, "", NOON, CRON)
    waiting = steering.request_run_now(paused, NOON)
    acted = steering.resume(act(waiting), PERSON, NOON, CRON)

    assert waiting.manual_slot_at == NOON
    assert acted.next_run_at == NOON + TICK


def finish_by_a_person(endpoint: Endpoint, now: datetime, **fields: Any) -> Endpoint:
    asked = steering.request_run_now(endpoint, now)
    assert asked.manual_slot_at is not None
    running = replace(
        asked,
        running_slot_at=asked.manual_slot_at,
        running_is_manual=True,
        manual_slot_at=None,
    )
    finished = make_finished(
        running, asked.manual_slot_at, takes=seconds(1), is_manual=True, **fields
    )
    return finish_run(running, finished, finished.finished_at, CRON).endpoint


def test_a_persons_run_moves_neither_the_anchor_nor_the_next_slot() -> None:
    endpoint = running_every(HOUR)
    settled = finish_by_a_person(endpoint, NOON + minutes(5))

    assert settled.last_run_at == NOON
    assert settled.last_slot_at == NOON + minutes(5)
    assert settled.next_run_at == endpoint.next_run_at
    assert not settled.in_flight


def test_a_persons_run_counts_for_the_failures_and_its_finish_plans_anew() -> None:
    settled = finish_by_a_person(running_every(HOUR), NOON + minutes(5), outcome=FAILED)

    assert settled.failure_count == 1
    assert settled.next_run_at == NOON + 2 * HOUR


def test_a_persons_run_keeps_a_slot_that_fell_due_meanwhile() -> None:
    endpoint = running_every(minutes(1))
    settled = finish_by_a_person(endpoint, NOON + minutes(1) - TICK, outcome=FAILED)

    assert settled.plan == endpoint.plan


def test_a_persons_run_leaves_a_one_shot_to_the_schedule() -> None:
    shot = one_shot(NOON + minutes(5), LATER)
    settled = finish_by_a_person(running_every(HOUR, one_shot_hint=shot), NOON + minutes(10))

    assert settled.one_shot_hint == shot


# --- Thirty changes an hour -----------------------------------------------------------------


def change(endpoint: Endpoint, number: int, now: datetime) -> Endpoint:
    hint = interval_hint(minutes(1 + number), now + 3 * HOUR)
    changed = steering.suggest_interval(endpoint, hint, now, CRON)
    return steering.counted_for_planner(endpoint, changed, now)


def changed_thirty_times() -> Endpoint:
    endpoint = running_every(HOUR)
    for number in range(MAX_CHANGES_PER_HOUR):
        endpoint = change(endpoint, number, NOON + minutes(number))
    return endpoint


def test_the_planner_may_change_an_endpoint_thirty_times_an_hour() -> None:
    endpoint = changed_thirty_times()
    assert len(endpoint.planner_changes) == 30

    with pytest.raises(Refused, match=r"30 changes within an hour; the next from .*T13:00:00Z"):
        change(endpoint, 30, NOON + minutes(59))


def test_the_count_of_changes_slides_with_the_hour() -> None:
    endpoint = change(changed_thirty_times(), 30, NOON + HOUR)

    assert len(endpoint.planner_changes) == 30
    assert endpoint.planner_changes[-1] == NOON + HOUR


def test_renewing_a_hint_is_no_change() -> None:
    endpoint = changed_thirty_times()
    now = NOON + minutes(40)
    assert endpoint.interval_hint is not None
    longer = replace(endpoint.interval_hint, expires_at=now + 4 * HOUR, reason="still")
    renewed = steering.suggest_interval(endpoint, longer, now, CRON)

    assert steering.counted_for_planner(endpoint, renewed, now) == renewed
    assert renewed.interval_hint == longer


def test_writing_an_expired_hint_again_is_a_change() -> None:
    hint = interval_hint(minutes(5), NOON + minutes(1))
    endpoint = running_every(HOUR, interval_hint=hint)
    now = NOON + minutes(1)
    again = steering.suggest_interval(endpoint, interval_hint(minutes(5), LATER), now, CRON)

    assert steering.counted_for_planner(endpoint, again, now).planner_changes == (now,)


def test_an_act_that_changes_nothing_is_no_change() -> None:
    endpoint = changed_thirty_times()

    assert steering.counted_for_planner(endpoint, endpoint, NOON) is endpoint


def test_pauses_one_shots_and_clears_of_the_planner_are_changes() -> None:
    endpoint = running_every(HOUR, interval_hint=interval_hint(minutes(5), LATER))
    shot = one_shot(NOON + minutes(1), LATER)
    for changed in (
        steering.pause(endpoint, LATER, PLANNER, "", NOON, CRON),
        steering.suggest_run_at(endpoint, shot, NOON, CRON),
        steering.clear_hints(endpoint, PLANNER, NOON, CRON),
    ):
        counted = steering.counted_for_planner(endpoint, changed, NOON)
        assert counted.planner_changes == (NOON,)


# --- Edit, reset, archive, begin ------------------------------------------------------------


def edit(endpoint: Endpoint, now: datetime, **fields: Any) -> Endpoint:
    kept = {
        "baseline": endpoint.baseline,
        "min_interval": endpoint.min_interval,
        "max_interval": endpoint.max_interval,
    }
    return steering.edit(endpoint, **{**kept, **fields}, now=now, cron=CRON)


def test_an_edit_plans_anew_earlier_or_later() -> None:
    endpoint, now = running_every(HOUR), NOON + minutes(1)

    assert edit(endpoint, now, baseline=Every(minutes(5))).next_run_at == NOON + minutes(5)
    assert edit(endpoint, now, baseline=Every(2 * HOUR)).next_run_at == NOON + 2 * HOUR
    assert edit(endpoint, now, min_interval=3 * HOUR).next_run_at == NOON + 3 * HOUR
    assert edit(endpoint, now, max_interval=minutes(10)).next_run_at == NOON + minutes(10)
    assert edit(endpoint, now, baseline=OnDemand()).next_run_at is None


def test_an_edit_that_makes_a_run_overdue_makes_it_due_now() -> None:
    now = NOON + minutes(30)

    assert edit(running_every(HOUR), now, baseline=Every(minutes(5))).next_run_at == now


def test_an_edit_keeps_a_slot_that_is_already_due() -> None:
    endpoint = running_every(minutes(1))
    edited = edit(endpoint, NOON + minutes(2), baseline=OnDemand())

    assert edited.baseline == OnDemand()
    assert edited.plan == endpoint.plan


def test_an_edit_that_changes_nothing_does_nothing() -> None:
    endpoint = running_every(minutes(1))

    assert edit(endpoint, NOON + minutes(2)) is endpoint


def test_resetting_failures_ends_the_backoff() -> None:
    endpoint = running_every(minutes(1), failure_count=5)
    assert endpoint.next_run_at == NOON + minutes(32)
    now = NOON + seconds(30)
    reset = steering.reset_failures(endpoint, now, CRON)

    assert reset.failure_count == 0
    assert reset.next_run_at == NOON + minutes(1)
    assert steering.reset_failures(reset, now, CRON) is reset


def test_archiving_puts_an_endpoint_to_sleep_for_good() -> None:
    waiting = steering.request_run_now(running_every(minutes(1)), NOON + seconds(1))
    archived = steering.archive(waiting, NOON + minutes(5), CRON)

    assert archived.archived_at == NOON + minutes(5)
    assert archived.next_run_at is None
    assert archived.manual_slot_at is None
    assert steering.archive(archived, NOON + HOUR, CRON) is archived


def test_a_new_endpoint_begins_with_a_plan() -> None:
    assert planned(baseline=Every(minutes(5))).next_run_at == NOON
    assert planned(baseline=HOURLY).next_run_at == NOON + HOUR
    assert planned(baseline=OnDemand()).next_run_at is None
