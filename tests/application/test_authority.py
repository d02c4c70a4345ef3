"""Two brains and a person on one job: who leaves whose hints and pauses alone, and says so."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from cadenza.application.ports.brain import Tools
from cadenza.domain import steering
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.hint import Author
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.rule import Mode
from tests.application.bench import Bench, Thinker, simulated
from tests.application.tool_calls import INTERVAL, minute_after_noon
from tests.factories import NOON, id_of, interval_hint, minutes, seconds

RULE = id_of("rule")
ASCENDING: tuple[tuple[str, UUID | None], ...] = (("rules", None), ("llm", None), ("rules", RULE))
NAMES = ("a detector's", "the model's", "a declared rule's")
PAUSE = {"until_iso": "2026-03-02T12:30:00Z"}


async def called(
    bench: Bench, author: tuple[str, UUID | None], tool: str, arguments: dict[str, Any]
) -> dict[str, Any]:
    brain, rule_id = author
    tools = await bench.toolbox(brain=brain)
    return await tools.call(tool, arguments, rule_id)


def written(endpoint: Endpoint, tool: str) -> object:
    return {
        "propose_interval": endpoint.interval_hint,
        "propose_next_time": endpoint.one_shot_hint,
        "pause_until": endpoint.planner_pause,
    }[tool]


@simulated
@pytest.mark.parametrize("first", range(3))
@pytest.mark.parametrize("second", range(3))
@pytest.mark.parametrize(
    ("tool", "arguments", "what"),
    [
        ("propose_interval", {"interval_ms": 5_000}, "hint"),
        ("propose_next_time", {"next_run_in_ms": 300_000}, "hint"),
        ("pause_until", PAUSE, "pause"),
    ],
)
async def test_a_lower_one_leaves_alone_what_a_higher_one_set(
    first: int, second: int, tool: str, arguments: dict[str, Any], what: str
) -> None:
    bench = await minute_after_noon()
    assert (await called(bench, ASCENDING[first], tool, arguments))["ok"]
    before = written(bench.endpoint(), tool)
    other = {name: v for name, v in arguments.items() if name != "interval_ms"}
    other |= {"interval_ms": 37_500} if tool == "propose_interval" else {}
    answer = await called(bench, ASCENDING[second], tool, {**other, "reason": "mine"})
    assert answer["ok"] is (second >= first)
    assert (written(bench.endpoint(), tool) != before) is (second >= first)
    if second < first:
        assert answer["error"].startswith(f"left alone: {NAMES[first]} {what} until 2026-03-02T1")


@simulated
async def test_what_has_expired_is_left_alone_no_longer() -> None:
    bench = await minute_after_noon()
    await called(bench, ("rules", RULE), "propose_interval", {**INTERVAL, "ttl_minutes": 1})
    assert not (await called(bench, ("rules", None), "propose_interval", INTERVAL))["ok"]
    await bench.sleep(61)
    assert (await called(bench, ("rules", None), "propose_interval", INTERVAL))["ok"]


@simulated
async def test_clearing_drops_what_it_may_and_tells_what_it_left() -> None:
    bench = await minute_after_noon()
    await called(bench, ("llm", None), "propose_interval", INTERVAL)
    await called(bench, ("rules", None), "propose_next_time", {"next_run_in_ms": 300_000})
    answer = await called(bench, ("rules", None), "clear_hints", {})
    assert answer["left_alone"] == ["the model's hint until 2026-03-02T13:01:00Z"]
    assert bench.endpoint().one_shot_hint is None
    assert bench.endpoint().interval_hint is not None
    again = await called(bench, ("rules", None), "clear_hints", {})
    assert again["error"] == "left alone: the model's hint until 2026-03-02T13:01:00Z"
    assert (await called(bench, ("rules", RULE), "clear_hints", {}))["left_alone"] == []
    assert bench.endpoint().interval_hint is None


@simulated
async def test_a_lower_one_does_not_lift_a_higher_ones_pause() -> None:
    bench = await minute_after_noon()
    await called(bench, ("llm", None), "pause_until", PAUSE)
    answer = await called(bench, ("rules", None), "pause_until", {"until_iso": None})
    assert answer["error"] == "left alone: the model's pause until 2026-03-02T12:30:00Z"
    assert (await called(bench, ("rules", RULE), "pause_until", {"until_iso": None}))["ok"]
    assert bench.endpoint().planner_pause is None


@simulated
@pytest.mark.parametrize("author", ASCENDING)
async def test_a_persons_hint_is_never_touched(author: tuple[str, UUID | None]) -> None:
    bench = await minute_after_noon()
    theirs = interval_hint(minutes(5), NOON + minutes(30), Author.PERSON)
    await bench.act("probe", lambda ep, now, cron: steering.suggest_interval(ep, theirs, now, cron))
    for tool, arguments in (("propose_interval", INTERVAL), ("clear_hints", {})):
        answer = await called(bench, author, tool, arguments)
        assert answer["error"] == "left alone: a person's hint until 2026-03-02T12:30:00Z"
    assert bench.endpoint().interval_hint == theirs


@simulated
async def test_each_author_obeys_the_mode_of_its_own() -> None:
    bench = await minute_after_noon()
    policy = PlannerPolicy(rules=Mode.ACT, detectors=Mode.ADVISE, llm=Mode.ADVISE)
    await bench.endpoints.set_policy(bench.endpoint(), policy)
    for author in ASCENDING[:2]:
        answer = await called(bench, author, "propose_interval", INTERVAL)
        assert answer["suggested_only"]
        assert bench.endpoint().interval_hint is None
    await called(bench, ASCENDING[2], "propose_interval", INTERVAL)
    assert bench.endpoint().interval_hint is not None


# --- Pauses -----------------------------------------------------------------------------------


@simulated
async def test_a_pause_without_until_iso_is_an_error_that_names_it_and_changes_nothing() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await tools.call("pause_until", PAUSE)
    before = bench.endpoint()
    answer = await tools.call("pause_until", {"reason": "keep it paused"})
    assert not answer["ok"]
    assert "until_iso" in answer["error"]
    assert bench.endpoint() == before


@simulated
async def test_a_planners_pause_keeps_to_the_max_since_the_last_run_however_often_renewed() -> None:
    bench = await minute_after_noon(max_interval=timedelta(hours=2))
    day = {"until_iso": "2026-03-03T12:01:00Z"}
    for _ in range(3):
        answer = await called(bench, ("llm", None), "pause_until", day)
        assert answer["clamped"][0].startswith("pause cut to ")
        assert answer["next_run_at"] == "2026-03-02T14:00:00Z"
        await bench.sleep(30 * 60)


@simulated
async def test_an_owner_can_forbid_pauses_and_resuming_stays_allowed() -> None:
    bench = await minute_after_noon()
    await called(bench, ("llm", None), "pause_until", PAUSE)
    await bench.endpoints.set_policy(bench.endpoint(), PlannerPolicy(max_pause=timedelta(0)))
    answer = await called(bench, ("llm", None), "pause_until", PAUSE)
    assert answer["error"] == "the owner allows no pauses by a planner (planner.max_pause is 0)"
    assert (await called(bench, ("llm", None), "pause_until", {"until_iso": None}))["ok"]
    assert (await called(bench, ("rules", RULE), "pause_until", PAUSE))["ok"]


@simulated
async def test_a_declared_rules_pause_is_not_cut_to_the_max() -> None:
    bench = await minute_after_noon(max_interval=timedelta(hours=2))
    until = {"until_iso": "2026-03-03T12:00:00Z"}
    answer = await called(bench, ("rules", RULE), "pause_until", until)
    assert answer["next_run_at"] == "2026-03-03T12:00:00Z"


# --- Refused is not done ----------------------------------------------------------------------


@simulated
async def test_after_thirty_changes_in_an_hour_refusals_are_one_session_with_a_count() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(10)))
    wanted = iter(range(1_000))

    async def restless(_: AnalysisContext, tools: Tools) -> None:
        arguments = {"interval_ms": 10_000 + 100 * next(wanted), "reason": "restless"}
        await tools.call("propose_interval", arguments)
        await tools.call("submit_analysis", {"reasoning": "more"})

    planner = bench.planner(Thinker(restless))
    for _ in range(100):
        await bench.ran()
        await planner.run_once()
    assert len(bench.sessions) == 31
    (refused,) = [session for session in bench.sessions if session.repeats]
    assert refused.repeats == 69
    assert refused.last_at is not None
    assert refused.last_at > refused.started_at
    assert [call.refusal for call in refused.tool_calls] == ["too-many-changes", None]
