"""What a rule that holds asks for: one call, or none where it is so already or cannot be."""

from dataclasses import replace
from typing import Any

import pytest

from cadenza.domain.endpoint import Endpoint, OnDemand
from cadenza.domain.hint import Author, IntervalHint, Pause
from cadenza.domain.rule import RuleAction, Then
from tests.adapters.brains.declaring import (
    HALF_MINUTE,
    context,
    only,
    rule,
    rule_id,
    ruled,
    rules_speak_for,
)
from tests.factories import (
    NOON,
    id_of,
    interval_hint,
    make_endpoint,
    minutes,
    one_shot,
    ran_at,
    seconds,
)

PERSON = Author.PERSON


def asked(then: Then, endpoint: Endpoint | None = None, body: Any = None, **fields: Any) -> Any:
    """The arguments of the one call, or None; for the sibling where one is given."""
    then_for = Then(then.action, then.duration, then.at, "other") if endpoint else then
    others = [endpoint] if endpoint else []
    ruling = ruled([rule("true", then_for, **fields)], body, others=others)
    return only(ruling).arguments if ruling.proposals else None


def other(**fields: Any) -> Endpoint:
    return make_endpoint("other", **fields)


def test_every_act_carries_rule_and_reason() -> None:
    proposal = only(ruled([rule("true", HALF_MINUTE, reason="it is time")], {}))
    assert proposal.arguments["reason"] == "Rule mine: it is time"
    assert proposal.sentence == "Rule mine: it is time (it runs every 30 s for 1 h)"


# --- Interval -----------------------------------------------------------------------------------


def test_an_interval_goes_to_the_endpoint_itself_or_to_a_sibling() -> None:
    arguments = asked(HALF_MINUTE, ttl=minutes(10))
    assert arguments == {"interval_ms": 30_000, "ttl_minutes": 10.0, "reason": "Rule mine"}
    assert asked(HALF_MINUTE, other())["endpoint"] == "other"


@pytest.mark.parametrize(
    ("interval", "left", "author", "asks"),
    [
        (30, 31, Author.PLANNER, False),  # it says so already
        (30, 29, Author.PLANNER, True),  # less than half of the hour is left
        (60, 59, Author.PLANNER, True),  # it says something else
        (60, 59, PERSON, False),  # a person's hint is not touched
    ],
)
def test_a_hint_is_written_again_only_when_it_would_run_out(
    interval: int, left: int, author: Author, asks: bool
) -> None:
    hint = interval_hint(seconds(interval), NOON + minutes(left), author=author)
    assert (asked(HALF_MINUTE, other(interval_hint=hint)) is not None) is asks


def test_a_ttl_beyond_the_bounds_does_not_make_it_renew_for_ever() -> None:
    hint = interval_hint(seconds(30), NOON + minutes(230))  # of the 240 that are allowed
    assert asked(HALF_MINUTE, other(interval_hint=hint), ttl=minutes(10_000)) is None


# --- Runs ---------------------------------------------------------------------------------------

RUN_NOW = Then(RuleAction.RUN_NOW)


def test_run_now_is_for_one_that_can_run_now() -> None:
    assert asked(RUN_NOW, other())["next_run_in_ms"] == 0
    cooling = other(min_interval=minutes(10), **ran_at(NOON - minutes(9)))
    assert asked(RUN_NOW, cooling) is None
    ready = other(min_interval=minutes(10), **ran_at(NOON - minutes(10)))
    assert asked(RUN_NOW, ready) is not None
    assert asked(RUN_NOW, other(running_slot_at=NOON)) is None
    assert asked(RUN_NOW, other(planner_pause=Pause(NOON + minutes(1)))) is None
    waiting = other(one_shot_hint=one_shot(NOON, NOON + minutes(1)))
    assert asked(RUN_NOW, waiting) is None


def test_an_endpoint_that_asks_for_itself_runs_as_soon_as_it_may() -> None:
    just_ran = make_endpoint(min_interval=seconds(30), **ran_at(NOON))
    assert only(ruled([rule("true", RUN_NOW)], {}, endpoint=just_ran)).tool == "propose_next_time"
    long_min = make_endpoint(min_interval=minutes(90), **ran_at(NOON))
    assert ruled([rule("true", RUN_NOW)], {}, endpoint=long_min).proposals == ()


def test_run_in_waits_once_and_is_not_pushed_on_by_every_answer() -> None:
    later = Then(RuleAction.RUN_IN, minutes(90))
    arguments = asked(later, other())
    assert arguments["next_run_at_iso"] == "2026-03-02T13:30:00Z"
    assert arguments["ttl_minutes"] == 91  # it must outlive its own time
    hint = one_shot(NOON + minutes(80), NOON + minutes(81))
    own = replace(hint, brain="rules", rule_id=rule_id("mine"))
    assert asked(later, other(one_shot_hint=own)) is None
    of_a_model = replace(hint, brain="llm")
    assert asked(later, other(one_shot_hint=of_a_model)) is not None


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-03-02T12:30:00Z", "2026-03-02T12:30:00Z"),
        ("2026-03-02T13:30:00+01:00", "2026-03-02T12:30:00Z"),
        ("2026-03-02T12:30:00", "2026-03-02T12:30:00Z"),
        ("2026-03-02T11:59:00Z", None),  # past
        ("2026-03-09T12:00:00Z", None),  # a later answer is early enough
        (None, None),
    ],
)
def test_run_at_takes_the_instant_that_the_answer_names(at: str | None, expected: str) -> None:
    arguments = asked(Then(RuleAction.RUN_AT, at="response.retry_at"), body={"retry_at": at})
    assert (arguments and arguments["next_run_at_iso"]) == expected


def test_run_at_may_be_reckoned_and_is_kept_when_it_is_the_same() -> None:
    soon = Then(RuleAction.RUN_AT, at="now + duration('10m')")
    assert asked(soon, other())["next_run_at_iso"] == "2026-03-02T12:10:00Z"
    same = other(one_shot_hint=one_shot(NOON + minutes(10), NOON + minutes(30)))
    assert asked(soon, same) is None
    another = other(one_shot_hint=one_shot(NOON + minutes(20), NOON + minutes(30)))
    assert asked(soon, another) is not None


@pytest.mark.parametrize("at", ["'tomorrow'", "5", "response", "timestamp(response.at)"])
def test_an_instant_that_is_none_is_a_warning(at: str) -> None:
    ruling = ruled([rule("true", Then(RuleAction.RUN_AT, at=at))], {"at": "soon"})
    assert ruling.proposals == ()
    assert ruling.warnings[0].startswith("the rule 'mine'")


# --- Pause, resume, clear -----------------------------------------------------------------------


def test_a_pause_is_written_again_only_when_it_would_run_out() -> None:
    pause = Then(RuleAction.PAUSE, minutes(10))
    assert asked(pause, other())["until_iso"] == "2026-03-02T12:10:00Z"
    assert asked(pause, other(planner_pause=Pause(NOON + minutes(6)))) is None
    assert asked(pause, other(planner_pause=Pause(NOON + minutes(4)))) is not None
    assert asked(Then(RuleAction.PAUSE, minutes(9000)))["until_iso"] == "2026-03-03T12:00:00Z"


def test_resume_ends_the_planners_pause_and_never_a_persons() -> None:
    resume, paused = Then(RuleAction.RESUME), Pause(NOON + minutes(5))
    assert asked(resume, other()) is None
    assert asked(resume, other(planner_pause=paused))["until_iso"] is None
    assert asked(resume, other(planner_pause=Pause(NOON))) is None
    assert asked(resume, other(planner_pause=paused, person_pause=paused)) is None


def test_clear_is_asked_for_only_where_there_is_something_to_clear() -> None:
    clear = Then(RuleAction.CLEAR)
    assert asked(clear, other()) is None
    assert asked(clear, other(interval_hint=interval_hint(seconds(5), NOON))) is None
    persons = interval_hint(seconds(5), NOON + minutes(1), author=PERSON)
    assert asked(clear, other(interval_hint=persons)) is None
    assert asked(clear, other(one_shot_hint=one_shot(NOON, NOON + minutes(1)))) is not None


# --- Whose endpoint it is -----------------------------------------------------------------------


def test_an_endpoint_is_the_rules_while_one_holds_or_what_one_wrote_is_in_force() -> None:
    calm = rule("response.depth < 10", Then(RuleAction.CLEAR), name="calm")
    assert rules_speak_for(context([calm], {"depth": 1}))
    assert not rules_speak_for(context([calm], {"depth": 11}))
    assert not rules_speak_for(context([], {"depth": 1}))
    written = IntervalHint(seconds(5), NOON + minutes(1), rule_id=rule_id("calm"))
    hinted = make_endpoint(interval_hint=written)
    assert rules_speak_for(context([calm], {"depth": 11}, endpoint=hinted))
    foreign = IntervalHint(seconds(5), NOON + minutes(1), rule_id=rule_id("calmer"))
    assert not rules_speak_for(
        context([calm], {"depth": 11}, endpoint=make_endpoint(interval_hint=foreign))
    )
    paused = make_endpoint(planner_pause=Pause(NOON + minutes(1), rule_id=rule_id("calm")))
    assert rules_speak_for(context([calm], {"depth": 11}, endpoint=paused))


def test_a_reason_does_not_say_who_wrote_a_hint() -> None:
    deep = rule("response.depth > 10", Then(RuleAction.INTERVAL, seconds(5)), name="deep queue")
    reason = "Rule deep queue: I have seen it"
    for author, session_id in ((PERSON, None), (Author.PLANNER, id_of("session"))):
        hint = IntervalHint(seconds(5), NOON + minutes(1), author, reason, session_id)
        hinted = make_endpoint(interval_hint=hint)
        assert not rules_speak_for(context([deep], {"depth": 1}, endpoint=hinted))
    paused = make_endpoint(person_pause=Pause(NOON + minutes(1), reason))
    assert not rules_speak_for(context([deep], {"depth": 1}, endpoint=paused))


def test_a_renamed_rule_knows_what_it_wrote() -> None:
    then = Then(RuleAction.INTERVAL, seconds(5))
    renamed = rule("response.depth > 10", then, name="long queue", id=rule_id("deep queue"))
    hint = IntervalHint(
        seconds(5), NOON + minutes(1), reason="Rule deep queue", rule_id=rule_id("deep queue")
    )
    hinted = make_endpoint(interval_hint=hint)
    assert rules_speak_for(context([renamed], {"depth": 1}, endpoint=hinted))


def test_an_on_demand_sibling_can_be_woken_and_kept_awake() -> None:
    asleep = other(baseline=OnDemand(), min_interval=seconds(30))
    assert asked(RUN_NOW, asleep)["endpoint"] == "other"
    assert asked(HALF_MINUTE, asleep)["interval_ms"] == 30_000
