"""Real planner programs on a real database: never together, never in the way, never stuck."""

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.simulated.log import EventLog
from cadenza.application.planner import Planner, PlannerOptions
from cadenza.application.ports.brain import Tools
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.endpoint import Endpoint, Every, OnDemand
from cadenza.domain.rule import Rule, RuleAction, Then
from tests.adapters.brains.llm.provider import Answer, Asked, Hang, Reply, script, served
from tests.adapters.postgres.support import CADENZA, Cable, Program, World, program, until
from tests.application.bench import Thinker
from tests.factories import CRON, minutes, seconds
from tests.postgres import BOX, quotas

PLANNER = (CADENZA, "planner")


async def have_run(world: World) -> None:
    await world.execute("UPDATE endpoints SET last_finished_at = cadenza_now()")
    await world.execute("SELECT pg_notify('cadenza_finished', '')")


async def looked_at(world: World, brain: str = "rules") -> int:
    """How many endpoints the planners have looked at since they ran."""
    return await world.value(
        "SELECT count(*) FROM looks AS look JOIN endpoints AS e ON e.id = endpoint_id"
        " WHERE brain = $1 AND look.looked_at > e.last_finished_at",
        brain,
    )


async def until_looked_at(world: World, count: int, brain: str = "rules") -> None:
    async def enough() -> bool:
        return await looked_at(world, brain) >= count

    await until(enough, within=30)


async def until_started(planner: Program) -> None:
    def started() -> bool:
        assert planner.process.poll() is None, planner.output()
        return "planner started" in planner.output()

    await until(started, within=30)


def llm_settings(url: str) -> dict[str, Any]:
    return {
        "llm_provider": "openai-compatible",
        "llm_model": "llama3.1",
        "llm_base_url": f"{url}/v1",
        "llm_session_tokens": 10_000,
    }


# --- Together ---------------------------------------------------------------------------------


@asynccontextmanager
async def planner_of(
    world: World, brain: Thinker, name: str, **options: Any
) -> AsyncIterator[Planner]:
    """A planner with connections of its own."""
    database = await open_database(world.url, connections=3)
    clock = DatabaseClock()
    await clock.ask(database)
    yield Planner(
        brain,
        PostgresStore(database, BOX),
        PostgresAnalysisQueue(database),
        quotas(database),
        clock,
        CRON,
        EventLog(),
        uuid4,
        PlannerOptions(**options),
        name,
    )
    await database.close()


async def test_two_planners_never_look_at_one_endpoint_together(world: World) -> None:
    probe = await world.add(baseline=OnDemand())
    await world.add_copies(probe, 59)
    under_way: list[str] = []
    looks: list[str] = []

    async def think(context: AnalysisContext, _: Tools) -> None:
        name = str(context.endpoint.id)
        assert name not in under_way, "two at once"
        under_way.append(name)
        looks.append(name)
        await asyncio.sleep(0.01)
        under_way.remove(name)

    brain = Thinker(think, Attention.EVERY_RUN)
    await have_run(world)
    async with (
        planner_of(world, brain, "one", batch=7) as one,
        planner_of(world, brain, "two", batch=7) as two,
    ):
        working = [asyncio.create_task(planner.run()) for planner in (one, two)]
        await until_looked_at(world, 60, "thinker")
        for planner in (one, two):
            planner.stop()
        await asyncio.gather(*working)
    assert len(looks) == len(set(looks)) == 60
    assert await world.value("SELECT count(*) FROM looks WHERE leased_by IS NOT NULL") == 0


async def test_programs_share_the_work_and_one_that_is_killed_leaves_nothing_stuck(
    world: World, tmp_path: Path
) -> None:
    """What the killed one held is taken over when its leases are over."""
    probe = await world.add(baseline=OnDemand())
    await world.add_copies(probe, 39)
    hangs = True

    def model(_: Asked) -> Reply:
        return Hang() if hangs else Answer([("submit_analysis", {"reasoning": "well"})])

    await world.execute("UPDATE tenants SET rules_mode = 'off', llm_mode = 'act'")
    await have_run(world)
    async with served(model) as provider:
        settings = llm_settings(provider.url)
        with program(tmp_path / "killed.log", world.url, command=PLANNER, **settings) as killed:
            await until(
                lambda: world.value("SELECT count(*) FROM looks WHERE leased_by IS NOT NULL")
            )
            killed.send(signal.SIGKILL)
            await killed.until_ended()
        held = await world.value("SELECT count(*) FROM looks WHERE leased_by IS NOT NULL")
        assert held > 0
        hangs = False
        # A lease is longer than a session may take: let that time pass.
        await world.execute("UPDATE looks SET leased_until = cadenza_now() WHERE leased_by <> ''")
        with program(tmp_path / "heir.log", world.url, command=PLANNER, **settings) as heir:
            await until_started(heir)
            await until_looked_at(world, 40, "llm")
            heir.send(signal.SIGTERM)
            assert await heir.until_ended() == 0
    assert await world.value("SELECT count(*) FROM looks WHERE leased_by IS NOT NULL") == 0


# --- Who pays -----------------------------------------------------------------------------------


async def test_a_planner_charges_an_account_to_the_token_and_stops_at_its_limits(
    world: World, tmp_path: Path
) -> None:
    """A real program, a real provider: what the ledger has is what the provider said."""
    await world.add(baseline=OnDemand())
    await world.execute("UPDATE tenants SET llm_mode = 'act'")
    await world.execute(
        "INSERT INTO accounts (id, tenant_id, name, balance)"
        " SELECT gen_random_uuid(), id, 'research', 5000 FROM tenants"
    )
    await world.execute(
        "INSERT INTO ledger (tenant_id, account_id, credits, balance, reason, reference)"
        " SELECT tenant_id, id, 5000, 5000, 'top-up', 'first' FROM accounts"
    )
    await world.execute("UPDATE tenants SET planner_account_id = (SELECT id FROM accounts)")
    reads = ("get_latest_response", {})
    submits = ("submit_analysis", {"reasoning": "calm", "next_analysis_in_ms": 300_000})
    model = script(Answer([reads], tokens=(1200, 40)), Answer([submits], tokens=(1300, 60)))
    async with served(model) as provider:
        prices = json.dumps({"llama3.1": {"input": 1, "output": 10}})
        settings = {**llm_settings(provider.url), "llm_tokens_per_day": 12_000, "prices": prices}
        with program(tmp_path / "planner.log", world.url, command=PLANNER, **settings) as planner:
            await until_started(planner)
            await have_run(world)
            await until_looked_at(world, 1, "llm")
            await world.execute("UPDATE endpoints SET asked_at = cadenza_now()")
            await have_run(world)

            async def is_skipped() -> bool:
                return await world.value(
                    "SELECT count(*) = 1 FROM analysis_sessions WHERE ended_as = 'skipped'"
                )

            await until(is_skipped, within=30)
            planner.send(signal.SIGTERM)
            assert await planner.until_ended() == 0
        assert len(provider.asked) == 2
    charges = await world.rows(
        "SELECT split_part(reference, '/', 3) AS unit, input_tokens, output_tokens, credits, basis"
        " FROM charges ORDER BY reference"
    )
    assert [tuple(row) for row in charges] == [
        ("1", 1200, 40, 1600, "counted"),
        ("2", 1300, 60, 1900, "counted"),
    ]
    assert await world.value("SELECT balance FROM accounts") == 1500
    (session,) = await world.rows(
        "SELECT reason, tokens, input_tokens, output_tokens, cost, account_id IS NOT NULL AS paid"
        " FROM analysis_sessions WHERE ended_as = 'submitted'"
    )
    assert tuple(session) == ("never-analysed", 2600, 2500, 100, 0.0035, True)
    skipped = await world.value("SELECT warnings FROM analysis_sessions WHERE ended_as = 'skipped'")
    assert "tokens_per_day of the job" in skipped[0]
    kinds = {row["kind"] for row in await world.rows("SELECT kind FROM events")}
    assert {"session.ended", "session.skipped", "quota.refused"} <= kinds


# --- In the way of nobody -----------------------------------------------------------------------


async def test_a_provider_that_is_down_is_nothing_to_the_scheduler_or_the_rules(
    world: World, tmp_path: Path
) -> None:
    probe = await world.add(baseline=Every(seconds(1)))
    await world.execute("UPDATE tenants SET llm_mode = 'act'")
    settings = llm_settings("http://127.0.0.1:9")  # where nobody answers
    with program(tmp_path / "planner.log", world.url, command=PLANNER, **settings) as planner:
        await until_started(planner)
        async with world.worker():
            runs = await world.until_finished(probe, count=4)
        await until_looked_at(world, 1)
        assert "provider.away" in planner.output()
        assert planner.process.poll() is None
    assert {run["status"] for run in runs} == {"success"}
    assert (
        await world.value("SELECT count(*) FROM analysis_sessions WHERE ended_as = 'failed'") >= 1
    )


async def test_what_has_just_run_is_looked_at_within_a_second(world: World, tmp_path: Path) -> None:
    probe = await world.add(baseline=OnDemand())
    with program(tmp_path / "planner.log", world.url, command=PLANNER) as planner:
        await until_started(planner)
        for _ in range(3):
            await asyncio.sleep(0.3)
            await have_run(world)
            await until_looked_at(world, 1)
        waited = await world.value(
            "SELECT extract(epoch FROM look.looked_at - e.last_finished_at)"
            " FROM looks AS look JOIN endpoints AS e ON e.id = endpoint_id WHERE e.id = $1",
            probe.id,
        )
        assert waited < 2
        kinds = await world.rows("SELECT kind FROM workers")
        assert [row["kind"] for row in kinds] == ["planner"]
        planner.send(signal.SIGTERM)
        assert await planner.until_ended() == 0
    assert await world.rows("SELECT kind FROM workers") == []


async def test_a_planner_outlives_a_database_that_goes_away(world: World, tmp_path: Path) -> None:
    await world.add(baseline=OnDemand())
    async with Cable(world.url).plugged() as cable:
        with program(tmp_path / "planner.log", cable.url, command=PLANNER) as planner:
            await until_started(planner)
            await have_run(world)
            await until_looked_at(world, 1)
            await cable.cut()
            await have_run(world)
            await asyncio.sleep(0.5)
            await cable.mend()
            await until_looked_at(world, 1)
            assert planner.process.poll() is None


@pytest.mark.parametrize("mode", ["off", "advise"])
async def test_a_planner_keeps_to_the_mode_of_a_job(
    world: World, tmp_path: Path, mode: str
) -> None:
    """A model that would act on everything it sees."""
    probe = await world.add(baseline=OnDemand())
    other = await world.add("other", tenant="another", baseline=OnDemand())
    await world.execute("UPDATE tenants SET rules_mode = 'off', llm_mode = 'act'")
    await world.execute(
        "UPDATE jobs SET planner = jsonb_build_object('llm', $1::text) WHERE id = $2",
        mode,
        probe.job_id,
    )
    await have_run(world)
    faster = ("propose_interval", {"interval_ms": 30_000, "reason": "load"})
    submit = ("submit_analysis", {"reasoning": "busy"})
    async with served(script(*[Answer([faster, submit])] * 10)) as provider:
        settings = llm_settings(provider.url)
        with program(tmp_path / "planner.log", world.url, command=PLANNER, **settings):
            await until_looked_at(world, 1 if mode == "off" else 2, "llm")
    assert await hinted(world) == [other.id]
    suggests = await world.value("SELECT count(suggests_until) FROM analysis_sessions")
    assert suggests == (0 if mode == "off" else 1)


async def hinted(world: World) -> list[Any]:
    rows = await world.rows("SELECT id FROM endpoints WHERE hint_interval_ms IS NOT NULL")
    return [row["id"] for row in rows]


async def test_the_rules_remember_whom_they_have_looked_at(world: World) -> None:
    """A second planner, or one that was started anew, does not begin at the beginning."""
    endpoints: list[Endpoint] = [
        await world.add(f"probe {n}", baseline=OnDemand()) for n in range(3)
    ]
    await have_run(world)
    brain = Thinker(attention=Attention.EVERY_RUN)
    for name in ("one", "two"):
        async with planner_of(world, brain, name) as planner:
            await planner.run_once()
    assert len(brain.looks) == len(endpoints)


async def test_a_cooldown_outlives_the_program_that_began_it(world: World, tmp_path: Path) -> None:
    probe = await world.add(baseline=Every(seconds(1)))
    woken = await world.add("woken", baseline=OnDemand())
    then = Then(RuleAction.RUN_NOW, endpoint="woken")
    busy = Rule("busy", "response.ok", then, "probe", cooldown=minutes(60), id=uuid4())
    await world.endpoints.set_job_rules(probe, busy)

    async def until_looked_at_twice_more() -> None:
        idle = "SELECT idle_looks FROM looks WHERE endpoint_id = $1 AND brain = 'rules'"
        before = await world.value(idle, probe.id)

        async def twice_more() -> bool:
            return await world.value(idle, probe.id) >= before + 2

        await until(twice_more, within=30)

    async with world.worker():
        with program(tmp_path / "first.log", world.url, command=PLANNER):
            await world.until_finished(woken, within=30)
            await until_looked_at_twice_more()
            with program(tmp_path / "second.log", world.url, command=PLANNER) as second:
                await until_started(second)
                await until_looked_at_twice_more()
        with program(tmp_path / "anew.log", world.url, command=PLANNER) as anew:
            await until_started(anew)
            await until_looked_at_twice_more()
            assert len(await world.runs(woken)) == 1
            # An hour is long: let it pass.
            fired = json.dumps({str(busy.id): "2026-01-01T00:00:00Z"})
            await world.execute("UPDATE looks SET fired = $1", fired)
            await world.until_finished(woken, count=2, within=30)
            await until_looked_at_twice_more()
    assert len(await world.runs(woken)) == 2
