"""The primary dies with its machine, and its replica takes over: programs find it by themselves."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from urllib.parse import urlsplit, urlunsplit

import pytest

from cadenza.adapters.postgres import hosts
from cadenza.adapters.postgres.database import open_database, shown_url
from cadenza.adapters.postgres.hosts import Hosts, single_urls
from cadenza.domain.errors import StoreUnavailable
from tests.chaos import faults
from tests.chaos.real import Plan, run
from tests.chaos.server import Replica, Server, small_folder
from tests.chaos.stage import Stage
from tests.postgres import migrated_database_url

SEED = 20_261_119
BLACK_HOLE = "192.0.2.1:5432"  # of a network that is for documentation alone


def both(first: str, second: str) -> str:
    """One address for two servers."""
    parts = urlsplit(first)
    port = urlsplit(second).port
    return urlunsplit(parts._replace(netloc=f"{parts.netloc},127.0.0.1:{port}"))


async def test_a_replica_takes_over_and_nothing_is_lost_or_doubled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replicas: list[Replica] = []

    @asynccontextmanager
    async def through(server: Server, url: str) -> AsyncIterator[str]:
        replicas.append(await server.follow(url))
        yield both(url, replicas[0].url)

    async def fail_over(stage: Stage, draw: faults.Draw) -> None:
        if replicas:
            stage.server.kill()
            await asyncio.sleep(1)  # until somebody has noticed
            replica = replicas.pop()
            await stage.server.take_over(replica)
            await stage.led_to(replica.url)

    monkeypatch.setitem(faults.FAULTS, "fail_over", fail_over)
    ran = await run(Plan(SEED, 14, kinds=("fail_over",), through=through, quiet=9))
    assert replicas == []
    assert ran.verdict.violations == ()
    assert ran.troubles == []
    assert ran.figures["slots_expected"] > 150
    assert ran.figures["lost"] == ran.figures["doubled_unexplained"] == 0
    assert all(any(run.claimed_at.timestamp() > fault.ended for run in ran.history.runs)
               for fault in ran.history.faults)  # fmt: skip


async def test_a_replica_is_passed_over_for_the_one_that_takes_writes() -> None:
    async with AsyncExitStack() as stack:
        folder, _ = stack.enter_context(small_folder(wanted=False))
        server = Server(folder)
        url = await server.start()
        stack.push_async_callback(server.stop)
        await server.allow_replicas(url)
        replica = await server.follow(url)
        stack.push_async_callback(asyncio.to_thread, replica.process.end)
        database = await open_database(both(replica.url, url), connections=2)
        stack.push_async_callback(database.close)
        assert await database.fetchval("SELECT NOT pg_is_in_recovery()")
        with pytest.raises(StoreUnavailable):  # neither of the two would do
            await open_database(both(replica.url, replica.url), connections=2)


async def test_a_server_that_never_answers_does_not_keep_us_from_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hosts, "CONNECT_SECONDS", 2.0)
    async with migrated_database_url() as url:
        parts = urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
        several = urlunsplit(parts._replace(netloc=f"{user}@{BLACK_HOLE},{host}"))
        connecting = Hosts(several)
        for _ in range(2):
            connection = await connecting.connect()
            assert await connection.fetchval("SELECT 1") == 1
            await connection.close()
        assert connecting._urls[0] == url  # asked first from now on


async def test_a_connection_to_a_server_that_takes_no_writes_any_more_is_given_up() -> None:
    async with migrated_database_url() as url:
        database = await open_database(url, connections=2)
        try:
            before = await database.fetchval("SELECT pg_backend_pid()")
            await database.execute("SET default_transaction_read_only = on")  # as after a switch
            with pytest.raises(StoreUnavailable):
                await database.execute("CREATE TABLE t ()")
            assert await database.fetchval("SELECT pg_backend_pid()") != before
        finally:
            await database.close()


@pytest.mark.parametrize(
    ("url", "shown", "count"),
    [
        ("postgresql://me:hunter2@a,b:5433/cadenza", "a,b:5433/cadenza", 2),
        ("postgresql://me:hunter2@[::1]:1,[::2]:2/cadenza?sslmode=require", "::1:1,::2:2", 2),
        ("postgresql://me:hunter2@a/cadenza", "a/cadenza", 1),
    ],
)
def test_several_hosts_are_read_and_shown(url: str, shown: str, count: int) -> None:
    assert shown in shown_url(url)
    assert "hunter2" not in shown_url(url)
    singles = single_urls(url)
    assert len(singles) == count
    assert all(each.endswith(url.partition("/cadenza")[2]) for each in singles)
    assert all("," not in each and "me:hunter2@" in each for each in singles)
