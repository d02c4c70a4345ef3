"""The bare loop: the same client and the same set-based SQL, with nothing of ours around it.

Claim, request, lock, finish, over and over, with as many requests in flight as the worker has. No
governor, no leases to renew, no clock, no fairness: what is left is what the machine can do.
"""

import asyncio
import json
from datetime import timedelta
from time import perf_counter
from uuid import UUID

import aiohttp
import asyncpg

from benchmarks.stage import Stage
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.system.ids import new_id

LEASE = timedelta(seconds=30)
IN_FLIGHT = 400


async def bare_runs_per_s(stage: Stage, count: int) -> float:
    """Runs a second over `count` endpoints that are due."""
    connector = aiohttp.TCPConnector(limit=0)
    done: asyncio.Queue[asyncpg.Record] = asyncio.Queue()
    began = perf_counter()
    async with (
        aiohttp.ClientSession(connector=connector) as session,
        asyncpg.create_pool(stage.url, min_size=2, max_size=2) as pool,
    ):
        in_flight = 0
        finished = 0
        finishing: asyncio.Task[int] | None = None

        async def execute(claim: asyncpg.Record) -> None:
            async with session.get(json.loads(claim["target"])["url"]) as response:
                await response.read()
            done.put_nowait(claim)

        while finished < count:
            room = IN_FLIGHT - in_flight - done.qsize()
            if room >= IN_FLIGHT // 4:
                claims = await _claim(pool, room)
                in_flight += len(claims)
                for claim in claims:
                    asyncio.create_task(execute(claim))  # noqa: RUF006 - ends by itself
            if finishing is not None and finishing.done():
                finished += finishing.result()
                finishing = None
            if finishing is None and not done.empty():
                batch = [done.get_nowait() for _ in range(done.qsize())]
                in_flight -= len(batch)
                finishing = asyncio.create_task(_finish(pool, batch))
            await asyncio.sleep(0.001)
    return count / (perf_counter() - began)


async def _claim(pool: "asyncpg.Pool[asyncpg.Record]", room: int) -> list[asyncpg.Record]:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(query("walk_indexes"))
        rows = await connection.fetch(
            query("claim_due"),
            room, LEASE, timedelta(0), "bare", [new_id() for _ in range(room)],
            [], [], [], [], [], [], [10**6, 10**6],
            False, UUID(int=0), 1, False, "", [],
        )  # fmt: skip
    return [row for row in rows if row["run_id"] is not None]


async def _finish(pool: "asyncpg.Pool[asyncpg.Record]", batch: list[asyncpg.Record]) -> int:
    async with pool.acquire() as connection, connection.transaction():
        await connection.execute(query("prefer_indexes"))
        rows = await connection.fetch(
            query("lock_held"),
            [row["endpoint_id"] for row in batch],
            [row["epoch"] for row in batch],
            [row["run_id"] for row in batch],
            False,
        )
        now = rows[0]["now"]
        count = len(batch)
        later = now + timedelta(days=1)
        await connection.execute(
            query("close_runs"), now,
            [row["endpoint_id"] for row in batch], [row["slot_at"] for row in batch],
            [0] * count, [None] * count, [now] * count, [now] * count, [later] * count,
            ["baseline-interval"] * count, ["{}"] * count, [False] * count, [False] * count,
            [1] * count, ["success"] * count, [now] * count, [200] * count, [None] * count,
            [None] * count, ['{"depth": 3}'] * count, [0] * count, [None] * count,
            [row["epoch"] for row in batch],
        )  # fmt: skip
    return count
