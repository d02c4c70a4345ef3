"""A brain that says anything: ten thousand calls, valid, invalid and hostile, and no way out.

Each seed is a life of its own; a failing one names its seed and step, and reproduces.
"""

import json
from dataclasses import fields
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces
from typing import Any

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.tools import MAX_RECORDED, Toolbox
from cadenza.domain import steering
from cadenza.domain.bounds import (
    MAX_CHANGES_PER_HOUR,
    MAX_INTERVAL,
    MAX_PAUSE,
    MIN_INTERVAL,
    MIN_TTL,
    longest_ttl,
)
from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.governor import floor_at
from cadenza.domain.hint import Author
from cadenza.domain.instants import iso
from cadenza.domain.run import FinishedRun
from tests.application.bench import Bench, simulated
from tests.application.tool_calls import EIGHT
from tests.factories import CRON, FAILED, NOON, OK, id_of, interval_hint, minutes, one_shot, seconds

STEPS_PER_SEED = 1000
OURS = ("probe", "on demand", "cron", "guarded", "paused")
THEIRS = ("other job", "other tenant")
THE_BRAIN_MAY_CHANGE = {
    "interval_hint",
    "one_shot_hint",
    "planner_pause",
    "plan",
    "planner_changes",
}
FIELDS = [field.name for field in fields(Endpoint)]


def _deep(depth: int = 5000) -> list[Any]:
    nest: list[Any] = []
    for _ in range(depth):
        nest = [nest]
    return nest


HOSTILE: list[Any] = [
    None, True, False, 0, -1, 1, 0.5, -0.0, 1e17, 1e308, 10**18, 10**400, 10**5000, -(10**30),
    float("nan"), float("inf"), float("-inf"), "", " ", "NaN", "0", "\ud800", "a\x00b\x1b[2J",
    "\u202e\u200b", "𝕏" * 300, "x" * 20_000, "' or 1=1 --", "{{7*7}}", [], {}, [[]], {"a": {}},
    _deep(), {"deep": _deep(200)}, b"bytes", {1, 2}, object(), ..., (1, 2), {1: 2, None: 3},
    "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999Z",
    "9999-12-31T23:59:59-14:00", "2026-03-02T12:00:00", "2026-02-30T00:00:00Z", "2026-W10-1T00Z",
    "T12:00Z", NOON, timedelta(1), *OURS, *THEIRS, "nobody", "PROBE", "probe\u200b",
    str(id_of("other tenant")),
]  # fmt: skip
ARGUMENTS = (
    "interval_ms", "ttl_minutes", "reason", "endpoint", "next_run_in_ms", "next_run_at_iso",
    "until_iso", "reasoning", "confidence", "actions_taken", "next_analysis_in_ms", "limit",
    "offset", "tenant_id", "job_id", "author", "__class__", "", "min_interval",
)  # fmt: skip


class Babbler:
    """Makes calls up: mostly nearly right, for those come furthest."""

    def __init__(self, chance: Random, bench: Bench) -> None:
        self._chance = chance
        self._bench = bench

    def call(self) -> tuple[Any, Any]:
        tools = sorted(EIGHT - {"submit_analysis"})
        tool: Any = self._chance.choice(tools)
        arguments: Any = self._right(tool)
        twist = self._chance.random()
        if twist < 0.03:
            tool = self._chance.choice(["submit_analysis", *HOSTILE])
        if twist < 0.05:
            return tool, self._chance.choice(HOSTILE)
        if twist < 0.40:
            arguments[self._chance.choice(ARGUMENTS)] = self._chance.choice(HOSTILE)
        elif twist < 0.45:
            count = self._chance.randrange(6)
            arguments = {
                self._chance.choice(ARGUMENTS): self._chance.choice(HOSTILE) for _ in range(count)
            }
        return tool, arguments

    def _right(self, tool: str) -> dict[str, Any]:
        right: dict[str, dict[str, Any]] = {
            "get_response_history": {"limit": self._chance.randint(-1, 12)},
            "propose_interval": {"interval_ms": self._size(), "ttl_minutes": self._size() / 6e4},
            "propose_next_time": self._chance.choice(
                [{"next_run_in_ms": self._size()}, {"next_run_at_iso": self._instant()}]
            ),
            "pause_until": {"until_iso": self._chance.choice([None, self._instant()])},
        }
        arguments = dict(right.get(tool, {}))
        if tool in ("propose_interval", "propose_next_time", "pause_until", "clear_hints"):
            if self._chance.random() < 0.8:
                arguments["endpoint"] = self._chance.choice([*OURS, *OURS, *THEIRS])
            arguments["reason"] = self._chance.choice(["load", "\x00\ud800", "r" * 2000])
        return arguments

    def _size(self) -> float:
        """Milliseconds, from nothing to a year, every order of magnitude alike."""
        return self._chance.choice([0, 10 ** self._chance.uniform(0, 10.5)])

    def _instant(self) -> str:
        away = timedelta(milliseconds=self._size()) * self._chance.choice([1, 1, 1, -1])
        return iso(self._bench.now + away)


async def _world() -> Bench:
    bench = Bench()
    await bench.add(
        "probe", baseline=Every(minutes(10)), min_interval=minutes(2), max_interval=minutes(30)
    )
    await bench.add("on demand", baseline=OnDemand(), min_interval=minutes(10))
    await bench.add("cron", baseline=CronLine("*/15 * * * *", "Europe/Berlin"))
    await bench.add("guarded", baseline=Every(minutes(5)))
    await bench.add("paused", baseline=Every(minutes(5)))
    await bench.add("other job", baseline=OnDemand(), job_id=id_of("another job"))
    await bench.add("other tenant", baseline=OnDemand(), tenant_id=id_of("x"), job_id=id_of("y"))
    far = NOON + timedelta(days=3000)
    every, once = (
        interval_hint(minutes(4), far, Author.PERSON),
        one_shot(far - minutes(1), far, Author.PERSON),
    )
    await bench.act(
        "guarded", lambda ep, now, cron: steering.suggest_interval(ep, every, now, cron)
    )
    await bench.act("guarded", lambda ep, now, cron: steering.suggest_run_at(ep, once, now, cron))
    await bench.act(
        "paused", lambda ep, now, cron: steering.pause(ep, far, Author.PERSON, "holiday", now, cron)
    )
    return bench


async def _time_passes(bench: Bench, chance: Random) -> None:
    """Sometimes a moment, sometimes an hour, sometimes a run of whatever is due."""
    await bench.sleep(chance.choice([0, 0, 0.001, 1, 30, 300, 3600]))
    if chance.random() < 0.3:
        request = ClaimRequest("worker", 10, seconds(30))
        claims = (await bench.queue.claim_due(request)).claims
        started_at = bench.now
        await bench.sleep(chance.choice([0, 1, 200]))
        results = [
            FinishedRun(claim, chance.choice([OK, OK, FAILED]), started_at, bench.now)
            for claim in claims
            if chance.random() < 0.9
        ]
        await bench.queue.finish(results)


def _state(bench: Bench) -> dict[str, Endpoint]:
    return {name: bench.endpoint(name) for name in (*OURS, *THEIRS)}


def _check_answer(answer: Any) -> None:
    assert isinstance(answer, dict)
    assert isinstance(answer["ok"], bool)
    assert answer["ok"] or (isinstance(answer["error"], str) and 0 < len(answer["error"]) < 1000)
    json.dumps(answer, allow_nan=False, ensure_ascii=False).encode()


def _check_state(before: dict[str, Endpoint], after: dict[str, Endpoint], now: datetime) -> None:
    for name in THEIRS:
        assert after[name] is before[name], f"{name} was touched"
    for name in OURS:
        old, new = before[name], after[name]
        if new is old:
            continue
        changed = {field for field in FIELDS if getattr(old, field) != getattr(new, field)}
        assert changed <= THE_BRAIN_MAY_CHANGE, f"{name}: {changed}"
        _check_bounds(old, new, now)


def _check_bounds(old: Endpoint, new: Endpoint, now: datetime) -> None:
    latest_expiry = now + longest_ttl(new, now, CRON)
    hint = new.interval_hint
    if hint is not None and hint != old.interval_hint:
        assert hint.author is Author.PLANNER
        assert MIN_INTERVAL <= hint.interval <= MAX_INTERVAL
        assert now + MIN_TTL <= hint.expires_at <= latest_expiry
        assert len(hint.reason) <= 500
        hint.reason.encode()
    once = new.one_shot_hint
    if once is not None and once != old.one_shot_hint:
        assert once.author is Author.PLANNER
        assert now <= once.run_at < once.expires_at
        assert now + MIN_TTL <= once.expires_at <= latest_expiry
    for present, kept in ((old.interval_hint, hint), (old.one_shot_hint, once)):
        if present is not None and present.author is Author.PERSON and present.expires_at > now:
            assert kept == present, "a person's hint was touched"
    pause = new.planner_pause
    if pause is not None and pause != old.planner_pause:
        assert now < pause.until_at <= now + MAX_PAUSE
    assert new.person_pause == old.person_pause
    recent = [at for at in new.planner_changes if at > now - timedelta(hours=1)]
    assert len(recent) <= MAX_CHANGES_PER_HOUR
    _check_plan(old, new, now)


def _check_plan(old: Endpoint, new: Endpoint, now: datetime) -> None:
    """What the brain moved stays above the owner's floor and beyond every pause."""
    if new.next_run_at == old.next_run_at:
        return
    assert not new.in_flight, "an act moved the next run of what is in flight"
    if new.next_run_at is None:
        assert isinstance(new.baseline, OnDemand)
        return
    assert new.next_run_at >= now
    floor = floor_at(new, new.last_run_at)
    assert floor is None or new.next_run_at >= floor[0]
    paused_until = new.paused_until(now)
    assert paused_until is None or new.next_run_at >= paused_until


@pytest.mark.parametrize("seed", range(10))
@simulated
async def test_whatever_a_brain_says_it_stays_within_its_bounds(seed: int) -> None:
    chance = Random(seed)
    bench = await _world()
    babbler = Babbler(chance, bench)
    tools: Toolbox | None = None
    answered = effects = 0
    for step in range(STEPS_PER_SEED):
        if tools is None or chance.random() < 0.12:
            tools = await bench.toolbox(chance.choice(OURS))
        if chance.random() < 0.2:
            await _time_passes(bench, chance)
        tool, arguments = babbler.call()
        before, runs = _state(bench), dict(bench.tables.runs)
        try:
            answer = await tools.call(tool, arguments)
            after = _state(bench)
            _check_answer(answer)
            _check_state(before, after, bench.now)
            assert bench.tables.runs == runs
            assert len(tools.calls) <= MAX_RECORDED
            if len(tools.calls) < MAX_RECORDED:
                assert tools.calls[-1].took_effect == (after != before)
            recorded = [(call.tool, call.arguments, call.result) for call in tools.calls[-1:]]
            json.dumps(recorded, allow_nan=False, ensure_ascii=False).encode()
        except Exception as error:
            error.add_note(f"seed {seed}, step {step}: {tool!r:.200}")
            raise
        answered += answer["ok"]
        effects += after != before
    assert answered > STEPS_PER_SEED / 6, "the babbler must come through often enough"
    assert effects > STEPS_PER_SEED / 20
