"""NOTIFY wakes; where it does not arrive, work goes on a little later."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest

from cadenza.adapters.postgres import listener as module
from cadenza.adapters.postgres.listener import Listener
from cadenza.application.waiting import end_all
from tests.adapters.postgres.support import Cable, World, until

LISTENING = (
    "SELECT pid FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND datname = current_database()"
)


@asynccontextmanager
async def listening(url: str) -> AsyncIterator[asyncio.Event]:
    """An event that each call sets; the one at the beginning has been heard."""
    called = asyncio.Event()
    task = asyncio.create_task(Listener(url, {"cadenza_due": called.set}).run())
    try:
        await heard(called)
        yield called
        assert not task.done()
    finally:
        await end_all([task])


async def heard(called: asyncio.Event) -> None:
    """Within ten seconds; and ready to hear the next."""
    await asyncio.wait_for(called.wait(), timeout=10)
    called.clear()


async def test_notify_wakes(world: World) -> None:
    async with listening(world.url) as called:
        for _ in range(2):
            await world.execute("SELECT pg_notify('cadenza_due', '')")
            await heard(called)


async def test_another_channel_does_not_wake(world: World) -> None:
    async with listening(world.url) as called:
        await world.execute("SELECT pg_notify('cadenza_finished', '')")
        await world.execute("SELECT pg_notify('cadenza_due', '')")
        await heard(called)
        assert not called.is_set()


async def test_what_is_rolled_back_wakes_nobody(world: World) -> None:
    async with listening(world.url) as called:
        await world.execute("BEGIN; SELECT pg_notify('cadenza_due', ''); ROLLBACK")
        await world.value("SELECT 1")
        assert not called.is_set()


async def test_after_its_connection_was_killed_it_comes_back_and_calls_back(world: World) -> None:
    async with listening(world.url) as called:
        (before,) = await world.rows(LISTENING)
        await world.execute("SELECT pg_terminate_backend($1)", before["pid"])
        await heard(called)  # for whatever was said meanwhile
        (after,) = await world.rows(LISTENING)
        assert after["pid"] != before["pid"]
        await world.execute("SELECT pg_notify('cadenza_due', '')")
        await heard(called)


async def test_it_comes_back_when_the_database_does(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    async with Cable(world.url).plugged() as cable, listening(cable.url) as called:
        await cable.cut()
        await world.execute("SELECT pg_notify('cadenza_due', '')")
        assert not called.is_set()
        await cable.mend()
        await heard(called)
        await world.execute("SELECT pg_notify('cadenza_due', '')")
        await heard(called)


async def test_a_network_that_only_swallows_is_noticed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.05)
    monkeypatch.setattr(module, "CONNECT_SECONDS", 1)
    monkeypatch.setattr(module, "ASK_EVERY", timedelta(seconds=0.1))
    async with Cable(world.url).plugged() as cable, listening(cable.url) as called:
        cable.hold()
        await until(lambda: cable.accepted >= 2)  # it tries another connection
        cable.let_go()
        await heard(called)


async def is_gone(world: World, pid: int) -> bool:
    return not await world.value("SELECT count(*) FROM pg_stat_activity WHERE pid = $1", pid)


async def test_when_it_ends_its_connection_does_too(world: World) -> None:
    async with listening(world.url):
        (row,) = await world.rows(LISTENING)
    await until(lambda: is_gone(world, row["pid"]))


async def test_without_notify_the_tick_finds_what_is_due(world: World) -> None:
    async with world.worker(listens=False, tick=timedelta(seconds=0.2)):
        await world.until_finished(await world.add("first"))
        await world.until_finished(await world.add("second"))
