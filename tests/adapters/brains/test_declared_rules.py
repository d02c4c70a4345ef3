"""Declared rules: when they hold, which of them acts, and that no answer can break them."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.rule import RuleAction, Then
from tests.adapters.brains.declaring import RULES, context, only, rule, rule_id, ruled
from tests.factories import NOON, interval_hint, make_endpoint, minutes, seconds
from tests.without_waiting import without_waiting

BUSY = rule("response.depth > 300", reason="the queue is long")


# --- When a rule holds --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("when", "body"),
    [
        ("response.depth > 300", {"depth": 301}),
        ("response.depth > 300", {"depth": 300.5}),
        ("response.queue['depth'] > 300", {"queue": {"depth": 301}}),
        ("response[1] == 'b'", ["a", "b"]),
        ("response == 'down'", "down"),
        ("response.items.exists(x, x.late)", {"items": [{"late": False}, {"late": True}]}),
        ("!has(response.depth)", {}),
        ("health.success_rate_1h > 0.9 && health.runs_24h == 10", {}),
        ("health.failure_streak == 0 && health.mean_duration_ms == 1000", {}),
        ("endpoint.name == 'probe' && endpoint.well && endpoint.status == 'success'", {}),
        ("endpoint.baseline == 'every 60 s' && !endpoint.hinted && !endpoint.paused", {}),
        ("siblings.other.response.ready && siblings['other'].endpoint.well", {}),
        ("now - endpoint.answered_at < duration('5m')", {}),
        ("now > timestamp(response.until)", {"until": "2026-03-02T11:00:00Z"}),
    ],
)
def test_a_rule_that_holds_proposes_its_act(when: str, body: Any) -> None:
    proposal = only(ruled([rule(when)], body, siblings={"other": {"ready": True}}))
    assert proposal.tool == "propose_interval"
    assert proposal.arguments["interval_ms"] == 30_000
    assert proposal.rule_id == rule_id("mine")


@pytest.mark.parametrize(
    ("when", "body"),
    [
        ("response.depth > 300", {"depth": 300}),
        ("response.depth > 300", {}),
        ("response.depth > 300", None),
        ("response.depth > 300", "a page of HTML"),
        ("response.depth > 300", [1, 2]),
        ("response.depth > 300", 17),
        ("response.depth > 300", {"depth": None}),
        ("response.queue.depth > 300", {"queue": 5}),
        ("response[3] == 'b'", ["a"]),
        ("response.items.all(x, x.price > 1)", {"items": [{"cost": 2}]}),
        ("siblings.nobody.response.ready", {}),
        ("siblings.asleep.response.ready", {}),
        ("health.success_rate_1h > 0.5", {}),
        ("endpoint.interval_ms > 0", {}),
    ],
)
def test_what_is_missing_does_not_hold_and_is_no_trouble(when: str, body: Any) -> None:
    asleep = make_endpoint("asleep")
    ruling = ruled([rule(when)], body, others=[asleep], success_rate=None)
    assert ruling.proposals == ()
    assert ruling.warnings == ()


@pytest.mark.parametrize(
    ("when", "body", "message"),
    [
        ("response.depth > 300", {"depth": "many"}, "response.depth is text"),
        ("response.depth + 1", {"depth": 3}, "not yes or no"),
        ("response.depth / 0 > 1", {"depth": 3}, "zero"),
    ],
)
def test_what_has_no_yes_or_no_is_a_warning_with_rule_and_reason(
    when: str, body: Any, message: str
) -> None:
    ruling = ruled([rule(when, name="odd"), BUSY], body)
    assert ruling.proposals == ()
    assert ruling.warnings[0].startswith("the rule 'odd' has no yes or no: ")
    assert message in ruling.warnings[0]


def test_it_must_hold_of_as_many_answers_in_a_row_as_the_rule_says() -> None:
    patient = rule("response.depth > 300", runs=3)
    long, short = {"depth": 400}, {"depth": 1}
    assert ruled([patient], long, long).proposals == ()
    assert ruled([patient], long, short, long, long).proposals == ()
    assert ruled([patient], long, long, long, short).proposals


def test_each_answer_has_its_own_status() -> None:
    failing = rule("!endpoint.well", runs=2)
    assert ruled([failing], {}, {}).proposals == ()


def test_a_rule_reads_only_the_answers_of_its_endpoint() -> None:
    assert ruled([rule("true", endpoint="another")], {}).proposals == ()
    assert ruled([rule("true", endpoint="probe")], {}).proposals
    assert ruled([rule("true")], {}).proposals


# --- An answer is judged once -------------------------------------------------------------------


def test_an_answer_that_was_looked_at_is_not_judged_again() -> None:
    assert ruled([BUSY], {"depth": 301}, looked_at=NOON - seconds(1)).proposals
    assert ruled([BUSY], {"depth": 301}, looked_at=NOON).proposals == ()


def test_a_siblings_news_is_for_rules_that_speak_of_siblings_and_not_of_the_response() -> None:
    of_sibling = rule("siblings.other.response.ready", name="sibling")
    of_both = rule("siblings.other.response.ready && response.old", name="both")
    old = context([of_sibling, of_both], {"old": True}, siblings={"other": {"ready": True}})
    stale = tuple(
        type(response)(NOON - minutes(2), NOON - minutes(2), response.status, response.body)
        for response in old.recent
    )
    about = {name: getattr(old, name) for name in AnalysisContext.__slots__}
    looked = context([], looked_at=NOON - minutes(1)).last_analysis
    ruling = without_waiting(
        RULES.ruling(AnalysisContext(**{**about, "recent": stale, "last_analysis": looked}))
    )
    assert [proposal.rule_id for proposal in ruling.proposals] == [rule_id("sibling")]


# --- Several rules ------------------------------------------------------------------------------


def test_the_first_rule_that_holds_has_its_target() -> None:
    first = rule("response.depth > 600", name="first")
    second = rule("response.depth > 300", Then(RuleAction.CLEAR), name="second")
    elsewhere = rule("true", Then(RuleAction.RUN_NOW, endpoint="other"), name="elsewhere")
    ruling = ruled([first, second, elsewhere], {"depth": 700}, others=[make_endpoint("other")])
    ids = [proposal.rule_id for proposal in ruling.proposals]
    assert ids == [rule_id("first"), rule_id("elsewhere")]


def test_a_rule_whose_act_is_in_force_keeps_its_target_from_a_weaker_one() -> None:
    hinted = make_endpoint(interval_hint=interval_hint(seconds(30), NOON + minutes(50)))
    weaker = rule("true", Then(RuleAction.INTERVAL, minutes(5)), name="weaker")
    assert ruled([BUSY, weaker], {"depth": 301}, endpoint=hinted).proposals == ()


def test_within_its_cooldown_a_rule_rests_and_keeps_its_target() -> None:
    resting = rule("true", cooldown=minutes(10))
    weaker = rule("true", Then(RuleAction.INTERVAL, minutes(5)), name="weaker")
    rules = [resting, weaker]
    mine, other = rule_id("mine"), rule_id("weaker")
    assert ruled(rules, {}, fired_at={mine: NOON - minutes(9)}).proposals == ()
    assert only(ruled(rules, {}, fired_at={mine: NOON - minutes(10)})).rule_id == mine
    assert only(ruled(rules, {}, fired_at={other: NOON})).rule_id == mine


def test_a_target_that_the_job_does_not_have_is_passed_over() -> None:
    gone = rule("true", Then(RuleAction.RUN_NOW, endpoint="gone"))
    assert ruled([gone], {}).proposals == ()


def test_there_are_never_more_acts_than_a_session_has_calls() -> None:
    names = [f"sibling {number}" for number in range(40)]
    rules = [rule("true", Then(RuleAction.RUN_NOW, endpoint=name), name=name) for name in names]
    ruling = ruled(rules, {}, others=[make_endpoint(name) for name in names])
    assert len(ruling.proposals) == 14


# --- Whatever is answered -----------------------------------------------------------------------

BODIES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["2026-03-02T12:30:00Z", "2026-03-02T12:30:00", "9999-12-31T23:59:59-14:00"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["depth", "at", "items", "ok", ""]), inner, max_size=4)
    ),
    max_leaves=12,
)
EXPRESSIONS = st.sampled_from(
    [
        "response.depth > 300",
        "response.ok",
        "response.items.all(x, x.depth > response.depth)",
        "response.items.exists(x, x)",
        "size(response) > 1",
        "timestamp(response.at) > now",
        "siblings.other.response.depth > response.depth",
        "siblings.exists(name, siblings[name].response.ok)",
        "health.success_rate_1h < 0.5 || response.depth == null",
        "string(response.depth).matches('^[0-9]+$')",
    ]
)
ACTS = st.sampled_from(
    [
        Then(RuleAction.INTERVAL, timedelta(milliseconds=1)),
        Then(RuleAction.INTERVAL, timedelta(days=300)),
        Then(RuleAction.RUN_NOW),
        Then(RuleAction.RUN_NOW, endpoint="other"),
        Then(RuleAction.RUN_IN, timedelta(days=2)),
        Then(RuleAction.RUN_AT, at="response.at"),
        Then(RuleAction.RUN_AT, at="now + duration('10m')"),
        Then(RuleAction.PAUSE, timedelta(days=30)),
        Then(RuleAction.RESUME),
        Then(RuleAction.CLEAR),
    ]
)


@settings(deadline=None, max_examples=300)
@given(body=BODIES, other=BODIES, when=EXPRESSIONS | st.just("true"), then=ACTS)
def test_no_answer_breaks_a_rule(body: Any, other: Any, when: str, then: Then) -> None:
    ruling = ruled([rule(when, then)], body, body, siblings={"other": other})
    assert len(ruling.proposals) <= 1
    for proposal in ruling.proposals:
        assert proposal.arguments["reason"].startswith("Rule mine")
    for warning in ruling.warnings:
        assert "'mine'" in warning
        assert len(warning) < 1000


@pytest.mark.parametrize(
    "when",
    [
        "siblings.queue.response.depth > 3",
        "siblings . queue . response . depth > 3",
        "siblings['queue'].response.depth > 3",
        "siblings.exists(name, siblings[name].response.depth > 3)",
        "siblings.all(name, siblings[name].response.depth > 3 || name == 'other')",
        "siblings.filter(name, name == 'queue').size() == 1",
        "size(siblings) == 2",
        "has(siblings.queue) && siblings.other.response.depth == 1",
        "response.ok && siblings.queue.response.depth > 3",
    ],
)
def test_a_rule_sees_the_siblings_however_it_speaks_of_them(when: str) -> None:
    siblings = {"queue": {"depth": 4}, "other": {"depth": 1}}
    assert only(ruled([rule(when)], {"ok": True}, siblings=siblings)).rule_id == rule_id("mine")
