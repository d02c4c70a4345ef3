"""Somebody in psql has an endpoint's row locked: it waits, and nothing else does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.run import FinishedRun
from tests.adapters.postgres.support import NO_SPREAD, World, until
from tests.contracts.harness import LEASE
from tests.factories import OK, seconds
from tests.postgres import BOX, run_queue

SHORT = seconds(3)
PATIENCE = 60
REQUEST = ClaimRequest("worker", 10, LEASE)


@asynccontextmanager
async def locked(world: World, endpoint: Endpoint) -> AsyncIterator[None]:
    """By a session that is none of ours, and takes its time."""
    connection = await asyncpg.connect(world.url)
    try:
        async with connection.transaction():
            await connection.execute("SELECT FROM endpoints WHERE id = $1 FOR UPDATE", endpoint.id)
            yield
    finally:
        await connection.close()


async def test_what_is_locked_is_neither_late_nor_lost_and_the_others_go_on(world: World) -> None:
    endpoints = [await world.add(f"probe {number}") for number in range(3)]
    queue = run_queue(world.database, new_id, BOX, NO_SPREAD)
    batch = await queue.claim_due(REQUEST)
    claims = {claim.endpoint_id: claim for claim in batch.claims}
    mine = claims[endpoints[1].id]
    others = frozenset(claim.run_id for claim in batch.claims) - {mine.run_id}
    now = await world.now()
    results = [FinishedRun(claim, OK, now, now) for claim in batch.claims]
    async with locked(world, endpoints[1]):
        renewal = await queue.renew(batch.claims, LEASE)
        assert (renewal.renewed, renewal.locked) == (others, {mine.run_id})
        report = await queue.finish(results)
        assert (report.locked, report.late) == ({mine.run_id}, frozenset())
        assert {run["status"] for run in await world.runs(endpoints[1])} == {"running"}
    renewal = await queue.renew(batch.claims, LEASE)
    assert (renewal.renewed, renewal.locked) == ({mine.run_id}, frozenset())
    report = await queue.finish(results)
    assert (report.locked, report.late) == (frozenset(), frozenset())
    assert [run["status"] for run in await world.runs()] == ["success"] * 3
    assert not await world.rows("SELECT FROM late_results")


async def test_what_is_locked_is_given_back_when_it_is_free(world: World) -> None:
    endpoints = [await world.add(f"probe {number}") for number in range(2)]
    queue = run_queue(world.database, new_id, BOX, NO_SPREAD)
    claims = (await queue.claim_due(REQUEST)).claims
    async with locked(world, endpoints[1]):
        with pytest.raises(StoreUnavailable, match="somebody else"):
            await queue.give_back(claims)
        assert [run["name"] for run in await world.runs()] == ["probe 1"]
    await queue.give_back(claims)
    assert not await world.runs()


async def test_a_lone_worker_goes_on_beside_a_locked_row(world: World) -> None:
    """Its run was under way: neither its result nor its lease can be written."""
    slow = await world.add("slow", url=world.targets.url("slow", takes=0.7), baseline=Every(SHORT))
    for number in range(5):
        await world.add(f"probe {number}", baseline=Every(seconds(1)))
    async with world.worker(lease=SHORT, tick=seconds(1)):
        await until(lambda: world.targets.of("slow"), PATIENCE)
        async with locked(world, slow):
            begin = len(world.targets.requests)

            def others_ran() -> bool:
                names = [request.name for request in world.targets.requests[begin:]]
                return all(names.count(f"probe {number}") >= 5 for number in range(5))

            await until(others_ran, PATIENCE)  # longer than the lease of the slow one
            assert len(world.targets.of("slow")) == 1
        await world.until_finished(slow, 2, within=PATIENCE)
    assert {run["status"] for run in await world.runs()} <= {"success", "running"}
