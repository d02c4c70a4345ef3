"""What once went wrong between planners and owners, each as a scene of real programs.

A scheduler and a planner as processes of their own, on a real database, with targets and a model's
provider on local ports. Seconds stand for minutes; where hours have to pass, what is stored of the
looks is moved into the past.
"""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.rule import Rule, RuleAction, Then
from tests.adapters.brains.llm.provider import Answer, Asked, Model, Provider, script, served
from tests.adapters.postgres.support import CADENZA, World, program, until
from tests.factories import minutes, seconds

PATIENCE = 60  # seconds; only a failing test needs them
SUBMIT = ("submit_analysis", {"reasoning": "calm", "next_analysis_in_ms": 4 * 3_600_000})
SECOND = Every(seconds(1))


@asynccontextmanager
async def programs(
    world: World, folder: Path, model: Model | None = None
) -> AsyncIterator[Provider]:
    """A scheduler and a planner; a model may act, and nobody limits what it costs."""
    await world.execute("UPDATE tenants SET llm_mode = 'act'")
    async with served(model or script(Answer([SUBMIT]))) as provider:
        asks = {
            "llm_provider": "openai-compatible",
            "llm_model": "llama3.1",
            "llm_base_url": f"{provider.url}/v1",
        }
        planner = (CADENZA, "planner")
        with (
            program(folder / "scheduler.log", world.url) as scheduler,
            program(
                folder / "planner.log", world.url, command=planner, **(asks if model else {})
            ) as planning,
        ):
            await scheduler.until_started()
            await until(lambda: "planner started" in planning.output(), within=PATIENCE)
            yield provider
            assert planning.process.poll() is None, planning.output()


async def sessions(world: World, brain: str = "llm", **wanted: object) -> list[asyncpg.Record]:
    """Of a brain, the oldest first."""
    rows = await world.rows(
        "SELECT s.*, e.name FROM analysis_sessions AS s JOIN endpoints AS e ON e.id = endpoint_id"
        " WHERE split_part(s.brain, ' ', 1) = $1 ORDER BY s.started_at",
        brain,
    )
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


async def until_sessions(world: World, count: int, **wanted: Any) -> list[asyncpg.Record]:
    async def enough() -> list[asyncpg.Record] | None:
        rows = await sessions(world, **wanted)
        return rows if len(rows) >= count else None

    return await until(enough, within=PATIENCE)


async def run_more(world: World, endpoint: Endpoint, count: int) -> list[asyncpg.Record]:
    """So many runs later, and after the looks that followed all but the last; gives all of them."""
    known = sum(run["finished_at"] is not None for run in await world.runs(endpoint))
    runs = await world.until_finished(endpoint, known + count, within=PATIENCE)

    async def looked_at() -> bool:
        at = await world.value(
            "SELECT looked_at FROM looks WHERE endpoint_id = $1 AND brain = 'rules'", endpoint.id
        )
        return at is not None and at > runs[-2]["finished_at"]

    await until(looked_at, within=PATIENCE)
    return runs


async def let_pass(world: World, time: timedelta) -> None:
    """As if everything that planners know had been so long ago."""
    await world.execute(
        "UPDATE looks SET looked_at = looked_at - $1::interval, streak_looked_at ="
        " streak_looked_at - $1::interval, next_analysis_at = next_analysis_at - $1::interval",
        time,
    )


async def planned(world: World, endpoint: Endpoint) -> asyncpg.Record:
    (row,) = await world.rows("SELECT * FROM endpoints WHERE id = $1", endpoint.id)
    return row


async def test_with_nothing_wrong_every_gap_is_the_baselines(world: World, tmp_path: Path) -> None:
    """After ten runs detectors once saved for bursts: gaps of 25 and 12.5 s in place of 10."""
    endpoint = await world.add(baseline=SECOND)
    async with programs(world, tmp_path):
        runs = await run_more(world, endpoint, 12)
    assert {run["source"] for run in runs} == {"baseline-interval"}
    on_time = [
        (later["slot_at"] - run["slot_at"])
        for run, later in pairwise(runs)
        if run["started_at"] - run["slot_at"] < seconds(1)  # later than that, the anchor moves
    ]
    assert len(on_time) >= 8
    assert set(on_time) == {seconds(1)}
    assert await sessions(world, "rules") == []
    assert (await planned(world, endpoint))["planner_changes"] == []


async def test_detectors_leave_a_models_hint_alone_and_say_so(world: World, tmp_path: Path) -> None:
    """The rules once wrote over it at the next run, three times of three."""
    endpoint = await world.add(baseline=Every(seconds(3)))
    answers = 200
    world.targets.answers["probe"] = lambda number: (answers, {"n": number})
    faster = ("propose_interval", {"interval_ms": 1000, "ttl_minutes": 60, "reason": "it grows"})
    model = script(Answer([faster, SUBMIT]), Answer([SUBMIT]))
    async with programs(world, tmp_path, model):
        (held,) = await until_sessions(world, 1, reason="never-analysed")
        answers = 503
        (left,) = await until_sessions(world, 1, brain="rules")
        runs = await run_more(world, endpoint, 3)
        row = await planned(world, endpoint)
    assert (row["hint_interval_ms"], row["hint_interval_session_id"]) == (1000, held["id"])
    assert "left alone: the model's hint until " in left["reasoning"]
    (call, _) = json.loads(left["tool_calls"])
    assert (call["tool"], call["took_effect"]) == ("propose_interval", False)
    assert {run["source"] for run in runs[-3:]} == {"ai-interval"}


async def test_after_thirty_changes_sessions_do_not_go_on(world: World, tmp_path: Path) -> None:
    """There once were 1,012 in 20 minutes, each claiming what it had not done."""
    endpoint = await world.add(baseline=SECOND)
    world.targets.answers["probe"] = lambda number: (200, {"n": number})

    def every(second: int) -> Rule:
        then = Then(RuleAction.INTERVAL, seconds(1 + second / 10))
        return Rule(f"rule {second}", f"response.n % 2 == {second}", then)

    await world.endpoints.set_job_rules(endpoint, every(0), every(1))
    changes = [await world.now() - minutes(n) for n in range(28)]
    await world.execute("UPDATE endpoints SET planner_changes = $1", changes)
    async with programs(world, tmp_path):
        await run_more(world, endpoint, 10)
        rows = await sessions(world, "rules")
    assert len(rows) <= 4  # the two changes that were left, and what each rule was refused
    refused = [row for row in rows if row["refusal"]]
    assert 1 <= len(refused) <= 2
    assert sum(row["repeats"] for row in refused) >= 2
    for row in refused:
        assert "(not done: " in row["reasoning"]
        assert "30 changes" in row["reasoning"]


def obeys(asked: Asked) -> Answer:
    """A new interval for each endpoint in every session, which is news for the others."""
    wanted = {"interval_ms": 1000 + asked.number, "reason": "busy"}
    names = ("one", "two", "three")
    return Answer([*(("propose_interval", {**wanted, "endpoint": name}) for name in names), SUBMIT])


@pytest.mark.parametrize("model", [script(Answer([SUBMIT])), obeys], ids=["calm", "obeys"])
async def test_siblings_that_answer_anew_do_not_wake_a_model(
    world: World, tmp_path: Path, model: Model
) -> None:
    """One that asked to be left alone for four hours once had 29 sessions in 4 minutes."""
    names = ("one", "two", "three")
    endpoints = [await world.add(name, baseline=SECOND) for name in names]
    for name in names:
        world.targets.answers[name] = lambda number: (200, {"n": number})

    async def held() -> dict[str, int]:
        rows = await sessions(world)
        return {name: sum(row["name"] == name for row in rows) for name in names}

    async def all_run_more(count: int) -> None:
        await asyncio.gather(*(run_more(world, endpoint, count) for endpoint in endpoints))

    async with programs(world, tmp_path, model):
        await until_sessions(world, 3)
        await all_run_more(3)
        assert await held() == dict.fromkeys(names, 1)
        if model is obeys:  # what siblings' hints were changed to is news, once a gap
            await let_pass(world, minutes(6))
            await until_sessions(world, 6)
        else:  # what it asked for stands, and then it is asked again
            await let_pass(world, timedelta(hours=3))
            await all_run_more(2)
            assert await held() == dict.fromkeys(names, 1)
            await let_pass(world, timedelta(hours=1))
            await until_sessions(world, 6)
        await all_run_more(3)
        assert await held() == dict.fromkeys(names, 2)


async def test_a_model_that_writes_plain_text_backs_off(world: World, tmp_path: Path) -> None:
    """It was once asked again every five minutes, for ever."""
    endpoint = await world.add(baseline=SECOND)

    async def waits() -> list[int]:
        rows = await sessions(world)
        return [_minutes(row["next_analysis_at"] - row["started_at"]) for row in rows]

    async with programs(world, tmp_path, script(Answer(text="All is well, I think."))):
        for number, expected in enumerate([[5], [5, 10], [5, 10, 20]], start=1):
            await until_sessions(world, number)
            await run_more(world, endpoint, 3)
            assert await waits() == expected
            await let_pass(world, minutes(5 * 2 ** (number - 1)) + seconds(1))
    rows = await sessions(world)
    assert {row["ended_as"] for row in rows} == {"failed"}
    assert "text instead of tools" in rows[0]["warnings"][-1]
    kinds = [row["kind"] for row in await world.rows("SELECT kind FROM events")]
    assert kinds.count("session.failed") >= 3


async def test_a_model_that_loops_ends_with_the_fifteenth_call(
    world: World, tmp_path: Path
) -> None:
    """One used 55,000 tokens in a session."""
    endpoint = await world.add(baseline=SECOND)
    reads = Answer([("get_response_history", {})], tokens=(900, 100))
    async with programs(world, tmp_path, script(reads)) as provider:
        await until_sessions(world, 1)
        await run_more(world, endpoint, 3)
        (session,) = await sessions(world)
        assert len(provider.asked) == 15
    assert (session["ended_as"], session["tokens"]) == ("out-of-calls", 15_000)
    assert len(json.loads(session["tool_calls"])) == 15


async def test_a_planners_pause_keeps_to_the_max_and_is_not_lifted_by_mistake(
    world: World, tmp_path: Path
) -> None:
    """24 hours were once granted where the max is 2, and a call without `until_iso` lifted it."""
    endpoint = await world.add(baseline=SECOND, max_interval=timedelta(hours=2))
    tomorrow = (await world.now() + timedelta(hours=24)).isoformat()
    pauses = ("pause_until", {"until_iso": tomorrow, "reason": "it rests"})
    keeps = ("pause_until", {"reason": "keep it paused"})
    model = script(Answer([pauses, SUBMIT]), Answer([keeps]), Answer([SUBMIT]))
    async with programs(world, tmp_path, model):
        await until_sessions(world, 1)
        paused = await planned(world, endpoint)
        await world.endpoints.ask_for_analysis(endpoint)
        await world.execute("SELECT pg_notify('cadenza_finished', '')")
        *_, again = await until_sessions(world, 2)
        row = await planned(world, endpoint)
    assert row["planner_paused_until"] == paused["planner_paused_until"]
    left_alone = paused["planner_paused_until"] - paused["last_run_at"]
    assert abs(left_alone - timedelta(hours=2)) < seconds(2)
    (refused, _) = json.loads(again["tool_calls"])
    assert refused["result"]["ok"] is False
    assert "until_iso" in refused["result"]["error"]
    assert again["reason"] == "asked"


def _minutes(time: timedelta) -> int:
    return round(time / minutes(1))
