"""Somebody in psql has the row of a schedule, of its slot, or of an endpoint that calls a graph
locked: it waits, and nothing else."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID, uuid4

import asyncpg
import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.slots import slot_job
from cadenza.domain.graph import ErrorCode, GraphResult
from cadenza.domain.graph_target import GRAPHS
from cadenza.domain.schedule import Schedule
from cadenza.domain.slot import FinishedSlot, SlotClaim, SlotStatus
from tests.contracts.conftest import postgres_store
from tests.contracts.harness import LEASE, NOON, Store
from tests.contracts.payers import TENANT, USER
from tests.contracts.test_graph_endpoints import add_graph, queue_of
from tests.contracts.test_slots import FIRST, Queue, furnish
from tests.postgres import SHARED, url_of

OF_SCHEDULE = "SELECT FROM schedules WHERE id = $1 FOR UPDATE"
OF_SLOT = "SELECT FROM schedule_runs WHERE schedule_id = $1 AND status = 'running' FOR UPDATE"
OF_ENDPOINT = "SELECT FROM endpoints WHERE id = $1 FOR UPDATE"


@pytest.fixture
async def store() -> AsyncIterator[Store]:
    async with postgres_store() as store:
        yield store


@asynccontextmanager
async def locked(statement: str, schedule_id: UUID) -> AsyncIterator[None]:
    """By a session that is none of ours, and takes its time."""
    connection = await asyncpg.connect(url_of(SHARED))
    try:
        async with connection.transaction():
            await connection.execute(statement, schedule_id)
            yield
    finally:
        await connection.close()


async def three_claims(store: Store) -> tuple[Queue, list[SlotClaim]]:
    queue = await furnish(store)
    for _ in range(2):
        definition = queue.schedule.definition
        more = Schedule(uuid4(), TENANT, USER, queue.grant.id, definition, NOON, NOON)
        async with store.transaction() as tx:
            await tx.insert_schedule(more)
            await tx.add_jobs([slot_job(more, FIRST)])
    return queue, await queue.claim(FIRST)


async def finished(store: Store, claims: list[SlotClaim]) -> list[FinishedSlot]:
    now, result = await store.clock.now(), GraphResult(output={"n": 1})
    return [FinishedSlot(claim, SlotStatus.SUCCESS, result, now, now) for claim in claims]


@pytest.mark.parametrize("statement", [OF_SCHEDULE, OF_SLOT])
async def test_a_result_waits_for_its_locked_row_and_the_others_are_stored(
    store: Store, statement: str
) -> None:
    queue, claims = await three_claims(store)
    mine, *others = claims
    results = await finished(store, claims)
    async with locked(statement, mine.schedule.id):
        report = await queue.slots.finish(results)
        assert (report.locked, report.late) == ({mine.run_id}, frozenset())
    report = await queue.slots.finish(results)
    assert report.locked == frozenset()
    assert report.late == {claim.run_id for claim in others}  # they were stored before


async def test_a_lease_waits_for_its_locked_row_and_the_others_are_renewed(store: Store) -> None:
    queue, claims = await three_claims(store)
    mine, *others = claims
    async with locked(OF_SLOT, mine.schedule.id):
        renewal = await queue.slots.renew(claims, LEASE)
        assert renewal.renewed == {claim.run_id for claim in others}
        assert renewal.locked == {mine.run_id}
        await store.advance(LEASE + LEASE)
        renewal = await queue.slots.renew(claims, LEASE)
        assert (renewal.renewed, renewal.locked) == (frozenset(), frozenset())  # it is over


async def test_a_start_waits_for_its_locked_row_and_the_others_begin(store: Store) -> None:
    queue, claims = await three_claims(store)
    mine, *others = claims
    async with locked(OF_SLOT, mine.schedule.id):
        answers = await queue.slots.start(claims)
        assert answers == {mine.run_id: None}
    assert await queue.slots.start([mine]) == {}
    runs = await store.schedules.list_runs(TENANT, None, None, 100)
    started = {run.id for run in runs if run.started_at is not None}
    assert started == {claim.run_id for claim in claims}
    assert others


async def test_the_start_of_an_endpoints_graph_waits_for_its_locked_row_and_the_others_begin(
    store: Store,
) -> None:
    await add_graph(store)
    mine = await store.claim_one(runs_on=GRAPHS)
    await store.add("second", target=mine.target)
    other = await store.claim_one(runs_on=GRAPHS)
    async with locked(OF_ENDPOINT, mine.endpoint_id):
        assert await queue_of(store).start([mine, other]) == {mine.run_id: None}
    assert await queue_of(store).start([mine]) == {}
    await store.advance(LEASE)
    taken = await store.queue.claim_lost(ClaimRequest("sweeper", 10, LEASE, runs_on=GRAPHS))
    assert {claim.run_id for claim in taken if claim.must_close} == {mine.run_id, other.run_id}


async def test_a_start_is_not_awaited_beyond_its_lease(store: Store) -> None:
    await add_graph(store)
    mine = await store.claim_one(runs_on=GRAPHS)
    await store.advance(LEASE + LEASE)
    async with locked(OF_ENDPOINT, mine.endpoint_id):
        assert await queue_of(store).start([mine]) == {mine.run_id: ErrorCode.ABORTED}
