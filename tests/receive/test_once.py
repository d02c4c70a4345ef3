"""One call for each key, in memory, SQLite and PostgreSQL alike."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from cadenza.adapters.system.clock import wall_clock
from cadenza.receive import (
    Call,
    MemoryCalls,
    PostgresCalls,
    Rejected,
    SqliteCalls,
    once,
    once_sync,
)
from tests.factories import NOON
from tests.postgres import fresh_database_url

AT_ONCE = timedelta(0)


def call(key: str = "endpoint:slot") -> Call:
    return Call(key, "endpoint", NOON, 1, NOON, b"")


@asynccontextmanager
async def postgres_calls(**options: Any) -> AsyncIterator[PostgresCalls]:
    async with (
        fresh_database_url() as url,
        asyncpg.create_pool(url, min_size=1, max_size=4) as pool,
    ):
        yield PostgresCalls(pool, **options)


@asynccontextmanager
async def made(kind: str, folder: Path, **options: Any) -> AsyncIterator[Any]:
    if kind == "postgres":
        async with postgres_calls(**options) as calls:
            yield calls
    else:
        yield MemoryCalls(**options) if kind == "memory" else SqliteCalls(folder / "c", **options)


KINDS = pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres"])


class Work:
    def __init__(self) -> None:
        self.done = 0

    async def __call__(self) -> dict[str, int]:
        self.done += 1
        return {"done": self.done}


@KINDS
async def test_what_was_done_is_not_done_again(kind: str, tmp_path: Path) -> None:
    async with made(kind, tmp_path) as calls:
        work = Work()
        answers = [await once(calls, call(), work) for _ in range(3)]
        assert (work.done, answers) == (1, [{"done": 1}] * 3)
        assert await once(calls, call("another"), work) == {"done": 2}


@KINDS
async def test_of_many_at_once_one_does_it(kind: str, tmp_path: Path) -> None:
    async with made(kind, tmp_path) as calls:
        began, may_end = asyncio.Event(), asyncio.Event()

        async def work() -> str:
            began.set()
            await may_end.wait()
            return "done"

        first = asyncio.create_task(once(calls, call(), work))
        await began.wait()
        for _ in range(3):
            with pytest.raises(Rejected) as caught:
                await once(calls, call(), work)
            assert caught.value.status == 409
        may_end.set()
        assert await first == "done"


@KINDS
async def test_what_failed_may_be_tried_again(kind: str, tmp_path: Path) -> None:
    async with made(kind, tmp_path) as calls:

        async def fail() -> None:
            raise ValueError("no")

        with pytest.raises(ValueError, match="no"):
            await once(calls, call(), fail)
        assert await once(calls, call(), Work()) == {"done": 1}


@KINDS
async def test_what_somebody_left_is_taken_up(kind: str, tmp_path: Path) -> None:
    async with made(kind, tmp_path, left_after=AT_ONCE) as calls:
        begun = calls.begin("endpoint:slot")  # by a process that was killed then
        if asyncio.iscoroutine(begun):
            begun = await begun
        assert begun.is_ours
        assert await once(calls, call(), Work()) == {"done": 1}


def test_keys_are_forgotten_after_a_week(tmp_path: Path) -> None:
    now = [wall_clock()]

    def clock() -> datetime:
        return now[0]

    for calls in (MemoryCalls(clock), SqliteCalls(tmp_path / "calls", clock)):
        assert once_sync(calls, call(), lambda: "first") == "first"
        assert once_sync(calls, call(), lambda: "second") == "first"
        now[0] += timedelta(days=8)
        assert once_sync(calls, call(), lambda: "third") == "third"


async def test_tables_are_made_by_several_at_once() -> None:
    async with (
        fresh_database_url() as url,
        asyncpg.create_pool(url, min_size=1, max_size=8) as pool,
    ):
        many = [PostgresCalls(pool) for _ in range(8)]
        begun = await asyncio.gather(*(calls.begin("key") for calls in many))
        assert [one.is_ours for one in begun].count(True) == 1


async def test_in_a_transaction_key_and_work_stand_or_fall_together() -> None:
    async with fresh_database_url() as url, asyncpg.create_pool(url, min_size=1) as pool:
        async with pool.acquire() as connection, connection.transaction():
            await once(PostgresCalls(connection), call(), Work())
        async with pool.acquire() as connection:
            undone = connection.transaction()
            await undone.start()
            await once(PostgresCalls(connection), call("other"), Work())
            await undone.rollback()
        work = Work()
        assert await once(PostgresCalls(pool), call(), work) == {"done": 1}
        assert work.done == 0
        await once(PostgresCalls(pool), call("other"), work)
        assert work.done == 1


async def test_transactions_with_different_keys_do_not_wait_for_each_other() -> None:
    async with fresh_database_url() as url, asyncpg.create_pool(url, min_size=2) as pool:
        await once(PostgresCalls(pool), call("before"), Work())
        async with pool.acquire() as first, first.transaction():
            await once(PostgresCalls(first), call("one"), Work())
            async with pool.acquire() as second, second.transaction():
                await asyncio.wait_for(once(PostgresCalls(second), call("other"), Work()), 60)


async def test_a_store_that_needs_a_loop_says_so() -> None:
    with pytest.raises(TypeError, match="use `once`"):
        once_sync(PostgresCalls(None), call(), lambda: None)
