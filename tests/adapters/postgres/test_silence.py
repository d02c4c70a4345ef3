"""Silence is a fault, too: a connection that swallows everything, without a word to anybody."""

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.endpoint import Every
from cadenza.domain.errors import StoreUnavailable
from tests.adapters.postgres.support import Cable, World, program, until
from tests.factories import seconds
from tests.postgres import server_url

LEASE = seconds(6)
ENDPOINTS = 20
PATIENCE = 60


async def standstill(
    world: World, cable: Cable, fault: Callable[[], None], *, workers: int
) -> timedelta:
    """The longest time between two runs of an endpoint, over a fault at one worker's cable."""
    names = [f"probe {number}" for number in range(ENDPOINTS)]
    for name in names:
        await world.add(name, baseline=Every(seconds(1)))
    urls = [cable.url, *[world.url] * (workers - 1)]
    # With room for some only, the one with the cable gets its share of what is due together.
    options = {"lease": LEASE, "tick": seconds(1), "in_flight": ENDPOINTS // 4}
    async with AsyncExitStack() as stack:
        for url in urls:
            await stack.enter_async_context(world.worker(url, **options))
        await until(lambda: all(len(world.targets.of(name)) > 2 for name in names), PATIENCE)
        fault()
        await until(lambda: cable.has_swallowed, PATIENCE)
        since = wall_clock()

        def all_run_again() -> bool:
            later = [request for request in world.targets.requests if request.at > since + LEASE]
            return {request.name for request in later} >= set(names)

        await until(all_run_again, PATIENCE)
    gaps: list[timedelta] = []
    for name in names:
        times = [request.at for request in world.targets.of(name)]
        gaps += [after - before for before, after in pairwise(times)]
    return max(gaps)


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_connection_that_swallows_a_commit_holds_up_nobody_beyond_the_lease(
    world: World, workers: int
) -> None:
    async with Cable(world.url).plugged() as cable:
        longest = await standstill(
            world, cable, lambda: cable.swallow_from(b"COMMIT;"), workers=workers
        )
    assert longest < LEASE + seconds(5)
    for run in await world.runs():
        assert run["status"] in ("success", "running"), dict(run)


async def test_a_lone_worker_that_loses_all_its_connections_takes_new_ones(world: World) -> None:
    async with Cable(world.url).plugged() as cable:
        longest = await standstill(world, cable, cable.swallow_all, workers=1)
    assert longest < LEASE + seconds(5)


async def test_a_worker_stops_in_time_while_its_connections_say_nothing(world: World) -> None:
    await world.add(baseline=Every(seconds(1)))
    async with Cable(world.url).plugged() as cable:
        options = {"lease": LEASE, "stop_grace": seconds(2)}
        async with world.worker(cable.url, **options) as worker:
            await until(lambda: world.targets.requests, PATIENCE)
            cable.hold()
            began = time.monotonic()
            worker.stop()
        assert time.monotonic() - began < 20  # the grace, and what storing and closing may take


async def test_a_task_that_is_cancelled_within_a_silent_transaction_ends_at_once() -> None:
    async with Cable(server_url()).plugged() as cable:
        database = await open_database(cable.url, connections=2)
        begun = asyncio.Event()

        async def work() -> None:
            async with database.transaction() as connection:
                begun.set()
                await connection.execute("SELECT pg_sleep(60)")

        task = asyncio.create_task(work())
        await begun.wait()
        cable.hold()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(task, timeout=20)
        cable.let_go()
        await database.close()


async def test_what_takes_longer_than_it_may_is_given_up_with_its_connection() -> None:
    async with Cable(server_url()).plugged() as cable:
        database = await open_database(cable.url, connections=3)
        try:
            assert await database.fetchval("SELECT 1") == 1
            cable.swallow_all()
            hurried = database.within(seconds(0.3))
            with pytest.raises(StoreUnavailable, match="does not answer"):
                await hurried.fetchval("SELECT 2")
            assert await database.within(seconds(10)).fetchval("SELECT 3") == 3
        finally:
            await database.close()


async def test_a_worker_that_is_started_while_the_database_is_away_waits_for_it(
    world: World, tmp_path: Path
) -> None:
    probe = await world.add(baseline=Every(seconds(1)))
    async with Cable(world.url).plugged() as cable:
        await cable.cut()
        with program(tmp_path / "worker.log", cable.url) as worker:
            await until(lambda: "does not answer; trying again" in worker.output(), PATIENCE)
            assert worker.process.poll() is None
            await cable.mend()
            await world.until_finished(probe, within=PATIENCE)
