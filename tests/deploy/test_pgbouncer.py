"""Every program behind a real PgBouncer in transaction mode, which nobody told them of."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import ClientSession

from cadenza.adapters.postgres.database import is_pooler, open_database
from cadenza.adapters.postgres.listener import NOT_HEARD, Listener
from cadenza.application.waiting import end_all
from cadenza.domain.endpoint import Every
from cadenza.domain.errors import StoreUnavailable
from tests.adapters.postgres.support import CADENZA, Program, new_world, program, until
from tests.chaos.real import Plan, run
from tests.chaos.server import Server
from tests.deploy.pgbouncer import pgbouncer
from tests.factories import seconds
from tests.ports import free_port
from tests.postgres import MASTER_KEY, migrated_database_url

SEED = 20_261_118


async def test_a_pooler_is_found_out_and_a_server_is_none() -> None:
    async with migrated_database_url() as url, pgbouncer(url) as pooled:
        assert await is_pooler(pooled)
        assert not await is_pooler(url)
        database = await open_database(pooled, connections=2, pooler=None)
        try:
            assert database.pooler
        finally:
            await database.close()


async def test_a_session_set_up_by_one_client_is_not_left_to_the_next() -> None:
    """One session of the server for two clients: what the first sets may not be the second's."""
    async with migrated_database_url() as url, pgbouncer(url, sessions=1) as pooled:
        first, second = [await open_database(pooled, connections=2, pooler=None) for _ in "ab"]
        try:
            before = await second.fetchval("SHOW idle_in_transaction_session_timeout")
            async with first.transaction() as connection:
                held = await connection.fetchval("SHOW idle_in_transaction_session_timeout")
            assert held == "5s"
            assert await second.fetchval("SHOW idle_in_transaction_session_timeout") == before
            for number in range(20):  # the same statement of both, over the same session
                assert await first.fetchval("SELECT $1::int + 1", number) == number + 1
                assert await second.fetchval("SELECT $1::int + 1", number) == number + 1
        finally:
            await first.close()
            await second.close()


async def test_nothing_is_lost_or_doubled_behind_it() -> None:
    @asynccontextmanager
    async def through(_server: Server, url: str) -> AsyncIterator[str]:
        async with pgbouncer(url) as pooled:
            yield pooled

    ran = await run(Plan(SEED, 11, kinds=("kill",), through=through, quiet=6))
    assert ran.verdict.violations == ()
    assert ran.troubles == []
    assert ran.figures["slots_expected"] > 100
    assert ran.figures["graph_starts"] > 0
    assert ran.figures["lost"] == ran.figures["doubled_unexplained"] == 0


async def test_all_four_programs_work_and_say_that_they_look_by_their_tick(tmp_path: Path) -> None:
    async with AsyncExitStack() as around:
        world = await around.enter_async_context(new_world())
        pooled = await around.enter_async_context(pgbouncer(world.url))
        port = free_port()
        with ExitStack() as stack:
            kinds = ("scheduler", "planner", "graph-worker")
            commands = [("api", "--port", str(port)), *((kind,) for kind in kinds)]
            programs = [
                stack.enter_context(
                    program(
                        tmp_path / f"{command[0]}.log",
                        pooled,
                        command=(CADENZA, *command),
                        tick_seconds=0.5,
                        master_key=MASTER_KEY,
                        connections=3,
                        expected_workers=",".join(kinds),
                    )
                )
                for command in commands
            ]
            await until(lambda: is_ready(port, programs), within=60)
            probe = await world.add(baseline=Every(seconds(1)))
            await world.until_finished(probe, count=3)
            await until(lambda: world.value("SELECT count(*) FROM looks"), within=30)
            for each in programs[1:]:
                assert NOT_HEARD in each.output()
            for each in programs:
                assert "Traceback" not in each.output(), each.output()


async def is_ready(port: int, programs: list[Program]) -> bool:
    for each in programs:
        assert each.process.poll() is None, each.output()
    try:
        async with (
            ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/readyz") as answer,
        ):
            return answer.status == 200
    except OSError:
        return False


async def test_with_an_address_to_listen_at_a_new_endpoint_runs_at_once(tmp_path: Path) -> None:
    """The tick is a minute: only NOTIFY can have woken it."""
    async with new_world() as world, pgbouncer(world.url) as pooled:
        log = tmp_path / "scheduler.log"
        settings = {"tick_seconds": 60, "master_key": MASTER_KEY}
        with program(log, pooled, listen_database_url=world.url, **settings) as scheduler:
            await scheduler.until_started()
            probe = await world.add(baseline=Every(seconds(1)))
            await world.until_finished(probe)
            assert NOT_HEARD not in scheduler.output()


async def test_what_is_said_through_it_is_heard_by_who_listens_beside_it() -> None:
    async with migrated_database_url() as url, pgbouncer(url, sessions=3) as pooled:
        heard = asyncio.Event()
        listener = asyncio.create_task(Listener(url, {"news": heard.set}).run())
        database = await open_database(pooled, connections=2, pooler=None)
        try:
            await asyncio.wait_for(heard.wait(), 15)  # it listens
            heard.clear()
            await database.execute("NOTIFY news")
            await asyncio.wait_for(heard.wait(), 15)
        finally:
            await end_all([listener])
            await database.close()


async def test_a_wrong_password_at_the_pooler_is_told_without_it() -> None:
    async with migrated_database_url() as url, pgbouncer(url) as pooled:
        wrong = pooled.replace(f":{urlsplit(pooled).password}@", ":hunter2@")
        with pytest.raises(StoreUnavailable, match="authentication failed") as refused:
            await open_database(wrong, connections=2, pooler=None)
        assert "hunter2" not in str(refused.value)
