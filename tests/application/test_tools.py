"""The tools that act and submit: what each does, what it refuses, and what it says about it."""

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain import steering
from cadenza.domain.bounds import MAX_PAUSE
from cadenza.domain.endpoint import CronLine, Every, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.instants import iso
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.run import FinishedRun
from tests.application.bench import Bench, simulated
from tests.application.tool_calls import EIGHT, INTERVAL, NOW, minute_after_noon, refused
from tests.factories import FAILED, NOON, OK, interval_hint, minutes, one_shot, seconds

# --- propose_interval -----------------------------------------------------------------------


@simulated
async def test_an_interval_is_written_with_its_life_and_nudges() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    answer = await tools.call("propose_interval", INTERVAL)
    assert answer == {
        "ok": True,
        "endpoint": "probe",
        "next_run_at": iso(NOON + seconds(90)),
        "source": "ai-interval",
        "in_flight": False,
        "clamped": [],
        "expires_at": iso(NOON + minutes(61)),
    }
    hint = bench.endpoint().interval_hint
    assert hint is not None
    assert (hint.interval, hint.author, hint.reason) == (seconds(30), Author.PLANNER, "load")
    assert tools.calls[-1].took_effect


@simulated
@pytest.mark.parametrize(
    ("interval_ms", "effective", "said"),
    [
        (0, seconds(1), "interval raised to 1 s"),
        (1, seconds(1), "interval raised to 1 s"),
        (999.9, seconds(1), "interval raised to 1 s"),
        (1000, seconds(1), None),
        (1500.5, timedelta(milliseconds=1500.5), None),
        (30 * 86_400_000, timedelta(days=30), None),
        (30 * 86_400_000 + 1, timedelta(days=30), "interval cut to 720 h"),
        (366 * 86_400_000, timedelta(days=30), "interval cut to 720 h"),
    ],
)
async def test_an_interval_is_brought_within_its_bounds_and_the_clamp_is_told(
    interval_ms: float, effective: timedelta, said: str | None
) -> None:
    bench = await minute_after_noon()
    answer = await (await bench.toolbox()).call("propose_interval", {"interval_ms": interval_ms})
    hint = bench.endpoint().interval_hint
    assert hint is not None
    assert hint.interval == effective
    assert answer["clamped"] == ([said] if said else [])


@simulated
@pytest.mark.parametrize(
    ("baseline", "ttl_minutes", "life", "said"),
    [
        (Every(minutes(10)), 0, minutes(1), "ttl raised to 60 s"),
        (Every(minutes(10)), 0.5, minutes(1), "ttl raised to 60 s"),
        (Every(minutes(10)), 240, minutes(240), None),
        (Every(minutes(10)), 241, minutes(240), "ttl cut to 4 h"),
        (Every(minutes(10)), 500_000, minutes(240), "ttl cut to 4 h"),
        (Every(timedelta(hours=6)), 1200, timedelta(hours=18), "ttl cut to 18 h"),
        (Every(timedelta(days=30)), 50_000, timedelta(days=7), "ttl cut to 168 h"),
        (CronLine("0 0 * * *"), 50_000, timedelta(days=3), "ttl cut to 72 h"),
        (OnDemand(), 500, minutes(240), "ttl cut to 4 h"),
    ],
)
async def test_a_life_is_brought_within_its_bounds_and_the_clamp_is_told(
    baseline: Any, ttl_minutes: float, life: timedelta, said: str | None
) -> None:
    bench = Bench()
    await bench.add(baseline=baseline)
    tools = await bench.toolbox()
    answer = await tools.call("propose_interval", {**INTERVAL, "ttl_minutes": ttl_minutes})
    hint = bench.endpoint().interval_hint
    assert hint is not None
    assert hint.expires_at == NOON + life
    assert answer["expires_at"] == iso(NOON + life)
    assert answer["clamped"][:1] == ([said] if said else [])


@simulated
async def test_the_clamp_of_the_owners_guardrails_is_told_too() -> None:
    bench = await minute_after_noon(min_interval=minutes(2), max_interval=minutes(20))
    tools = await bench.toolbox()
    answer = await tools.call("propose_interval", INTERVAL)
    assert (answer["next_run_at"], answer["clamped"]) == (iso(NOON + minutes(2)), ["clamped-min"])


@simulated
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"interval_ms": None},
        {"interval_ms": "30000"},
        {"interval_ms": -1},
        {"interval_ms": True},
        {"interval_ms": float("nan")},
        {"interval_ms": float("inf")},
        {"interval_ms": 10**400},
        {"interval_ms": 10**5000},
        {"interval_ms": [30_000]},
        {"interval_ms": 366 * 86_400_000 + 1},
        {"interval_ms": 30_000, "ttl_minutes": -1},
        {"interval_ms": 30_000, "ttl_minutes": "10"},
        {"interval_ms": 30_000, "ttl_minutes": float("inf")},
        {"interval_ms": 30_000, "ttl_minutes": False},
        {"interval_ms": 30_000, "reason": 5},
        {"interval_ms": 30_000, "reason": {"text": "no"}},
        {"interval_ms": 30_000, "endpoint": 7},
    ],
    ids=" ".join,
)
async def test_an_interval_that_makes_no_sense_is_refused(arguments: dict[str, Any]) -> None:
    bench = await minute_after_noon()
    await refused(await bench.toolbox(), "propose_interval", arguments, "is not valid")


@simulated
async def test_a_persons_hint_cannot_be_replaced_before_it_expires() -> None:
    bench = await minute_after_noon()
    hint = interval_hint(minutes(5), NOON + minutes(30), Author.PERSON)
    await bench.act("probe", lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron))
    tools = await bench.toolbox()
    await refused(tools, "propose_interval", INTERVAL, "left alone: a person's hint until")
    await bench.sleep(30 * 60)
    assert (await tools.call("propose_interval", INTERVAL))["ok"]


# --- propose_next_time ----------------------------------------------------------------------


@simulated
@pytest.mark.parametrize("form", ["next_run_in_ms", "next_run_at_iso"])
async def test_a_one_shot_runs_at_its_time(form: str) -> None:
    bench = await minute_after_noon()
    at = NOON + minutes(3)
    value: Any = 120_000 if form == "next_run_in_ms" else "2026-03-02T13:03:00+01:00"
    answer = await (await bench.toolbox()).call("propose_next_time", {form: value})
    assert answer["ok"]
    assert (answer["next_run_at"], answer["source"]) == (iso(at), "ai-oneshot")
    assert answer["expires_at"] == iso(NOON + minutes(31))


@simulated
async def test_a_time_in_the_past_is_now() -> None:
    bench = await minute_after_noon()
    arguments = {"next_run_at_iso": "2001-01-01T00:00:00Z", "next_run_in_ms": None}
    answer = await (await bench.toolbox()).call("propose_next_time", arguments)
    assert answer["next_run_at"] == iso(NOON + minutes(1))


@simulated
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "give next_run_at_iso or next_run_in_ms"),
        ({"next_run_in_ms": None, "next_run_at_iso": None}, "give next_run_at_iso or"),
        ({"next_run_in_ms": 1, "next_run_at_iso": "2026-03-02T12:02:00Z"}, "give"),
        ({"next_run_at_iso": "2026-03-02T12:02:00"}, "expected a zone"),
        ({"next_run_at_iso": "soon"}, "expected an ISO-8601 instant"),
        ({"next_run_at_iso": 1772452800}, "expected an ISO-8601 instant"),
        ({"next_run_at_iso": "0001-01-01T00:00:00+14:00"}, "expected an ISO-8601 instant"),
        ({"next_run_at_iso": "9999-12-31T23:59:59-14:00"}, "expected an ISO-8601 instant"),
        ({"next_run_at_iso": "9999-12-31T23:59:59Z"}, "is not before its expiry"),
        ({"next_run_in_ms": -1}, "milliseconds from 0"),
        ({"next_run_in_ms": 31 * 60_000}, "is not before its expiry"),
        ({"next_run_in_ms": 60_000, "ttl_minutes": 1}, "is not before its expiry"),
        ({"next_run_in_ms": 0, "ttl_minutes": -3}, "expected minutes"),
        ({"next_run_in_ms": 0, "endpoint": "nobody"}, "this job has no other endpoint"),
    ],
)
async def test_a_time_that_makes_no_sense_is_refused(arguments: dict[str, Any], said: str) -> None:
    bench = await minute_after_noon()
    await refused(await bench.toolbox(), "propose_next_time", arguments, said)


@simulated
async def test_a_one_shot_that_would_run_after_its_life_is_refused_with_the_cooldown() -> None:
    bench = await minute_after_noon(baseline=OnDemand(), min_interval=minutes(42))
    hint = one_shot(bench.now, bench.now + minutes(1))
    await bench.act("probe", lambda ep, now, cron: steering.suggest_run_at(ep, hint, now, cron))
    (claim,) = (await bench.queue.claim_due(ClaimRequest("worker", 1, seconds(30)))).claims
    await bench.queue.finish([FinishedRun(claim, OK, bench.now, bench.now)])
    await bench.sleep(10)
    tools, over_at = await bench.toolbox(), iso(NOON + minutes(43))
    for arguments in ({**NOW, "ttl_minutes": 1}, NOW):
        await refused(tools, "propose_next_time", arguments, f"cooling down until {over_at}")
    answer = await tools.call("propose_next_time", {**NOW, "ttl_minutes": 45})
    assert (answer["next_run_at"], answer["clamped"]) == (over_at, ["clamped-min"])


@simulated
async def test_what_is_in_flight_starts_the_next_cooldown() -> None:
    bench = Bench()
    await bench.add("probe")
    await bench.add("pager", baseline=OnDemand(), min_interval=minutes(10))
    tools = await bench.toolbox()
    assert (await tools.call("propose_next_time", {**NOW, "endpoint": "pager"}))["ok"]
    claims = (await bench.queue.claim_due(ClaimRequest("worker", 9, seconds(30)))).claims
    assert "pager" in {claim.endpoint_name for claim in claims}
    await bench.sleep(5)
    soon = {"next_run_in_ms": 1000, "ttl_minutes": 1, "endpoint": "pager"}
    await refused(tools, "propose_next_time", soon, f"cooling down until {iso(NOON + minutes(10))}")


@simulated
async def test_a_target_that_asked_to_wait_is_named_as_the_reason() -> None:
    bench = Bench()
    await bench.add()
    (claim,) = (await bench.queue.claim_due(ClaimRequest("worker", 1, seconds(30)))).claims
    busy = replace(FAILED, retry_after=minutes(20))
    await bench.queue.finish([FinishedRun(claim, busy, NOON, NOON)])
    tools = await bench.toolbox()
    said = f"the target asked to wait until {iso(NOON + minutes(20))}"
    await refused(tools, "propose_next_time", {**NOW, "ttl_minutes": 5}, said)


@simulated
@pytest.mark.parametrize("ended", [False, True], ids=["in flight", "finished"])
async def test_run_now_is_dropped_where_a_run_began_after_the_session_did(ended: bool) -> None:
    bench = await minute_after_noon(min_interval=seconds(1))
    tools = await bench.toolbox()
    await bench.sleep(1)
    await bench.act("probe", lambda ep, now, _: steering.request_run_now(ep, now))
    (claim,) = (await bench.queue.claim_due(ClaimRequest("worker", 1, seconds(30)))).claims
    await bench.sleep(1)
    if ended:
        await bench.queue.finish([FinishedRun(claim, OK, bench.now, bench.now)])
    await refused(tools, "propose_next_time", NOW, "it has run since this analysis began")
    later = {"next_run_in_ms": 60_000}
    assert (await tools.call("propose_next_time", later))["ok"]
    fresh = await bench.toolbox()
    assert (await fresh.call("propose_next_time", NOW))["ok"]


# --- pause_until and clear_hints --------------------------------------------------------------


@simulated
async def test_a_pause_holds_until_its_end() -> None:
    bench = await minute_after_noon()
    until = iso(NOON + minutes(90))
    answer = await (await bench.toolbox()).call("pause_until", {"until_iso": until, "reason": "x"})
    assert (answer["next_run_at"], answer["source"], answer["clamped"]) == (until, "paused", [])
    assert bench.endpoint().planner_pause is not None
    assert bench.endpoint().person_pause is None


@simulated
@pytest.mark.parametrize("until", ["2026-03-03T12:01:01Z", "9999-12-31T23:59:59Z"])
async def test_a_pause_is_cut_to_a_day_and_the_clamp_is_told(until: str) -> None:
    bench = await minute_after_noon()
    answer = await (await bench.toolbox()).call("pause_until", {"until_iso": until})
    pause = bench.endpoint().planner_pause
    assert pause is not None
    assert pause.until_at == bench.now + MAX_PAUSE
    assert answer["clamped"] == ["pause cut to 24 h"]


@simulated
async def test_an_owner_may_allow_longer_pauses() -> None:
    bench = await minute_after_noon()
    await bench.endpoints.set_policy(bench.endpoint(), PlannerPolicy(max_pause=timedelta(days=7)))
    tools = await bench.toolbox()
    answer = await tools.call("pause_until", {"until_iso": "2026-03-08T12:00:00Z"})
    assert answer["clamped"] == []
    assert answer["next_run_at"] == "2026-03-08T12:00:00Z"


@simulated
@pytest.mark.parametrize("until", [None, "0001-01-01T00:00:00Z", "2026-03-02T12:01:00Z"])
async def test_null_or_the_past_resumes_what_the_planner_paused(until: str | None) -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await tools.call("pause_until", {"until_iso": iso(NOON + minutes(90))})
    answer = await tools.call("pause_until", {"until_iso": until})
    assert (answer["next_run_at"], answer["source"]) == (iso(bench.now), "resumed")
    assert bench.endpoint().planner_pause is None


@simulated
async def test_resuming_what_is_not_paused_changes_nothing() -> None:
    bench = await minute_after_noon()
    before = bench.endpoint()
    tools = await bench.toolbox()
    assert (await tools.call("pause_until", {"until_iso": None}))["ok"]
    assert bench.endpoint() == before
    assert not tools.calls[-1].took_effect


@simulated
@pytest.mark.parametrize("until", ["tomorrow", "2026-03-02T13:00:00", 5, True, [], "", "2026"])
async def test_a_pause_that_makes_no_sense_is_refused(until: Any) -> None:
    bench = await minute_after_noon()
    await refused(await bench.toolbox(), "pause_until", {"until_iso": until}, "is not valid")


@simulated
async def test_the_planner_can_neither_lift_nor_shorten_a_persons_pause() -> None:
    bench = await minute_after_noon()
    await bench.act(
        "probe", lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron)
    )
    pause = bench.endpoint().person_pause
    tools = await bench.toolbox()
    left = "left alone: a person's pause until resumed"
    await refused(tools, "pause_until", {"until_iso": None}, left)
    assert (await tools.call("pause_until", {"until_iso": iso(NOON + minutes(5))}))["ok"]
    assert bench.endpoint().person_pause == pause
    await bench.sleep(10 * 60)
    assert bench.endpoint().paused_until(bench.now) is not None


@simulated
async def test_the_planner_cannot_lift_the_pause_of_a_job() -> None:
    bench = await minute_after_noon()
    until = NOON + minutes(60)
    await bench.act("probe", lambda ep, now, cron: steering.set_job_pause(ep, until, now, cron))
    await (await bench.toolbox()).call("pause_until", {"until_iso": None})
    assert bench.endpoint().paused_until(bench.now) == until
    assert bench.endpoint().next_run_at == until


@simulated
async def test_hints_are_cleared_and_the_baseline_returns() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await tools.call("propose_interval", INTERVAL)
    await tools.call("propose_next_time", {"next_run_in_ms": 5000})
    answer = await tools.call("clear_hints", {"reason": "over"})
    assert (answer["next_run_at"], answer["source"]) == (
        iso(NOON + minutes(10)),
        "baseline-interval",
    )
    assert (bench.endpoint().interval_hint, bench.endpoint().one_shot_hint) == (None, None)
    before = bench.endpoint()
    await tools.call("clear_hints", {})
    assert bench.endpoint() == before
    assert not tools.calls[-1].took_effect


@simulated
async def test_clearing_leaves_a_persons_hint_alone() -> None:
    bench = await minute_after_noon()
    hint = interval_hint(minutes(5), NOON + minutes(30), Author.PERSON)
    await bench.act("probe", lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron))
    tools = await bench.toolbox()
    await tools.call("propose_next_time", {"next_run_in_ms": 5000})
    assert (await tools.call("clear_hints", {}))["ok"]
    assert bench.endpoint().interval_hint == hint
    assert bench.endpoint().one_shot_hint is None


# --- submit_analysis --------------------------------------------------------------------------


@simulated
@pytest.mark.parametrize(
    ("wanted", "given", "said"),
    [
        (0, minutes(5), ["next analysis raised to 5 min"]),
        (300_000, minutes(5), []),
        (3_600_000, minutes(60), []),
        (86_400_000, timedelta(days=1), []),
        (86_400_001, timedelta(days=1), ["next analysis cut to 24 h"]),
        (None, None, []),
    ],
)
async def test_an_analysis_is_submitted_and_asks_for_the_next_one_within_bounds(
    wanted: int | None, given: timedelta | None, said: list[str]
) -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    answer = await tools.call(
        "submit_analysis",
        {
            "reasoning": "All\u200b is well.",
            "confidence": 0.9,
            "actions_taken": ["none"],
            "next_analysis_in_ms": wanted,
        },
    )
    next_at = None if given is None else bench.now + given
    assert answer["ok"]
    assert answer["next_analysis_at"] == (None if next_at is None else iso(next_at))
    assert answer["clamped"] == said
    assert tools.submission is not None
    assert (tools.submission.reasoning, tools.submission.confidence) == ("All is well.", 0.9)
    assert tools.submission.next_analysis_at == next_at


@simulated
@pytest.mark.parametrize(
    "arguments",
    [
        {"confidence": "high"},
        {"confidence": True},
        {"confidence": float("nan")},
        {"reasoning": ["because"]},
        {"next_analysis_in_ms": "soon"},
        {"next_analysis_in_ms": -5},
    ],
    ids=str,
)
async def test_an_analysis_that_makes_no_sense_can_be_submitted_again(
    arguments: dict[str, Any],
) -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await refused(tools, "submit_analysis", arguments, "is not valid")
    assert tools.submission is None
    assert (await tools.call("submit_analysis", {}))["ok"]


@simulated
@pytest.mark.parametrize(
    ("wanted", "confidence", "clamped"),
    [
        (7, 1.0, ["confidence cut to 1"]),
        (1.01, 1.0, ["confidence cut to 1"]),
        (-0.01, 0.0, ["confidence raised to 0"]),
        (1, 1.0, []),
    ],
)
async def test_a_confidence_beyond_its_bounds_is_clamped_and_the_answer_tells(
    wanted: float, confidence: float, clamped: list[str]
) -> None:
    tools = await (await minute_after_noon()).toolbox()
    answer = await tools.call("submit_analysis", {"confidence": wanted})
    assert (answer["ok"], answer["clamped"]) == (True, clamped)
    assert tools.submission is not None
    assert tools.submission.confidence == confidence


@simulated
async def test_long_words_are_cut_in_the_record() -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    await tools.call("propose_interval", {**INTERVAL, "reason": "r" * 100_000})
    await tools.call("submit_analysis", {"reasoning": "x" * 100_000})
    hint = bench.endpoint().interval_hint
    assert hint is not None
    assert hint.reason == "r" * 500
    assert tools.submission is not None
    assert tools.submission.reasoning == "x" * 4000
    assert all(len(json.dumps(call.arguments)) < 2000 for call in tools.calls)


@simulated
@pytest.mark.parametrize("tool", sorted(EIGHT))
async def test_after_submitting_every_tool_is_refused(tool: str) -> None:
    bench = await minute_after_noon()
    tools = await bench.toolbox()
    assert (await tools.call("submit_analysis", {"reasoning": "done"}))["ok"]
    await refused(tools, tool, INTERVAL, "the analysis has been submitted")
    assert tools.submission is not None
    assert tools.submission.reasoning == "done"
