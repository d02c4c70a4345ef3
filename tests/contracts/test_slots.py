"""Slots of schedules on every store: the core invariants of scheduled graphs, by their names."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from random import Random  # noqa: TID251 - seeded, so that a failure reproduces
from uuid import UUID, uuid4

import pytest

from cadenza.application.grants import revoke_grant
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.slots import ClaimedSlots, slot_job
from cadenza.domain.access import INSTALLATION_ADMIN
from cadenza.domain.billing import Account
from cadenza.domain.claiming import in_turn
from cadenza.domain.grant import Grant, GrantRefusal
from cadenza.domain.graph import ErrorCode, GraphResult
from cadenza.domain.schedule import Concurrency, Schedule, ScheduleDefinition
from cadenza.domain.slot import FinishedSlot, RunEvent, ScheduleRun, SlotClaim, SlotStatus
from tests.contracts.harness import LEASE, NOON, Store
from tests.contracts.payers import GRAPH, TENANT, USER, give_grant, open_account
from tests.factories import CRON, minutes, seconds

FIRST = NOON + minutes(5)


class Queue:
    """One schedule, every five minutes from five past noon, and a worker's view of it."""

    def __init__(self, store: Store, schedule: Schedule, grant: Grant) -> None:
        self.store = store
        self.schedule = schedule
        self.grant = grant
        self.slots = self.worker()

    def worker(self, *labels: str) -> ClaimedSlots:
        return ClaimedSlots(self.store.port, CRON, uuid4, labels)

    async def claim(
        self, at: datetime | None = None, slots: ClaimedSlots | None = None
    ) -> list[SlotClaim]:
        if at is not None:
            await self.store.clock.set(at)
        request = ClaimRequest("worker", 100, LEASE)
        return list((await (slots or self.slots).claim_due(request)).claims)

    async def sweep(self, at: datetime) -> list[SlotClaim]:
        await self.store.clock.set(at)
        return list(await self.slots.claim_lost(ClaimRequest("worker", 100, LEASE)))

    async def finish(self, claim: SlotClaim, status: SlotStatus = SlotStatus.SUCCESS) -> bool:
        now = await self.store.clock.now()
        event = RunEvent(1, now, "done", {})
        result = GraphResult(output={"n": 1})
        finished = FinishedSlot(claim, status, result, now, now, events=(event,))
        return claim.run_id not in (await self.slots.finish([finished])).late

    async def runs(self) -> list[ScheduleRun]:
        """The oldest slot first."""
        runs = await self.store.schedules.list_runs(TENANT, self.schedule.id, None, 100)
        return list(reversed(runs))

    async def waiting(self) -> list[datetime]:
        return [run.slot_at for run in await self.runs() if run.status is SlotStatus.SCHEDULED]


async def furnish(
    store: Store,
    concurrency: Concurrency = Concurrency.FORBID,
    credits: int = 1000,  # noqa: A002
    requires: tuple[str, ...] = (),
) -> Queue:
    grant = await give_grant(store, await open_account(store, credits))
    definition = ScheduleDefinition(
        GRAPH, "*/5 * * * *", concurrency=concurrency, requires=requires
    )
    schedule = Schedule(uuid4(), TENANT, USER, grant.id, definition, NOON, NOON)
    async with store.transaction() as tx:
        await tx.insert_schedule(schedule)
        await tx.add_jobs([slot_job(schedule, FIRST)])
    return Queue(store, schedule, grant)


async def test_job_key_per_slot(store: Store) -> None:
    """The same slot enqueued again, by a restart, a retry or a race, is one run."""
    queue = await furnish(store)
    async with store.transaction() as tx:
        await tx.add_jobs([slot_job(queue.schedule, FIRST)])
    (claim,) = await queue.claim(FIRST)
    assert await queue.finish(claim)
    async with store.transaction() as tx:
        await tx.remove_waiting_slot(queue.schedule.id)
        await tx.add_jobs([slot_job(queue.schedule, FIRST)])
    assert await queue.claim() == []
    assert [(run.slot_at, run.status) for run in await queue.runs()] == [
        (FIRST, SlotStatus.SUCCESS)
    ]


async def test_producer_enqueues_next(store: Store) -> None:
    """With the claim itself, so that no error can break the chain."""
    queue = await furnish(store)
    (claim,) = await queue.claim(FIRST)
    assert await queue.waiting() == [FIRST + minutes(5)]
    assert (claim.slot_at, claim.attempt, claim.is_started) == (FIRST, 1, False)
    assert claim.account_id == queue.grant.account_id


async def test_queue_serializes_schedule(store: Store) -> None:
    queue = await furnish(store)
    (first,) = await queue.claim(FIRST)
    await _keep(queue, first, until=FIRST + minutes(5))
    assert await queue.claim() == []
    assert await queue.finish(first)
    (second,) = await queue.claim()
    assert second.slot_at == FIRST + minutes(5)


async def test_two_workers_never_share_a_slot(store: Store) -> None:
    queue = await furnish(store)
    await store.clock.set(FIRST)
    claims = await asyncio.gather(*(queue.claim(slots=queue.worker()) for _ in range(8)))
    assert [len(batch) for batch in claims if batch] == [1]


async def test_skip_missed_runs(store: Store) -> None:
    """Three days of downtime: one slot ahead, the missed ones declared with their number."""
    queue = await furnish(store)
    now = FIRST + timedelta(days=3, seconds=90)
    assert await queue.claim(now) == []
    missed, ahead = await queue.runs()
    assert (missed.status, missed.reason) == (SlotStatus.SKIPPED, "missed")
    assert missed.skipped_slots == 3 * 24 * 12 + 1
    assert ahead.slot_at == FIRST + timedelta(days=3) + minutes(5)
    assert ahead.id is None


async def test_a_chain_that_is_gone_is_mended_with_one_slot_ahead(store: Store) -> None:
    queue = await furnish(store)
    async with store.transaction() as tx:
        await tx.remove_waiting_slot(queue.schedule.id)
    for _ in range(2):
        await queue.sweep(NOON + minutes(31))
        assert await queue.waiting() == [NOON + minutes(35)]


async def test_a_slot_is_for_a_worker_with_its_labels(store: Store) -> None:
    queue = await furnish(store, requires=("gpu",))
    assert await queue.claim(FIRST) == []
    assert len(await queue.claim(slots=queue.worker("gpu", "region=eu"))) == 1


async def test_a_slot_that_no_worker_may_take_is_declared_by_another(store: Store) -> None:
    queue = await furnish(store, requires=("gpu",))
    await queue.sweep(FIRST + minutes(7))
    missed, ahead = await queue.runs()
    assert (missed.reason, missed.skipped_slots) == ("missed", 2)
    assert (ahead.slot_at, ahead.status) == (FIRST + minutes(10), SlotStatus.SCHEDULED)


async def test_what_a_tenants_limit_holds_back_is_a_backlog(store: Store) -> None:
    """So that it is claimed as soon as there is room, and not at the next tick."""
    queue = await furnish(store, Concurrency.ALLOW)
    async with store.transaction() as tx:
        await tx.add_jobs([slot_job(queue.schedule, FIRST + seconds(1), is_manual=True)])
    await store.clock.set(FIRST + seconds(1))
    batch = await queue.slots.claim_due(ClaimRequest("worker", 100, LEASE, per_tenant=1))
    assert (len(batch.claims), batch.backlog) == (1, True)


async def test_a_worker_lost_before_the_start_leaves_the_slot_to_another(store: Store) -> None:
    queue = await furnish(store)
    (claim,) = await queue.claim(FIRST)
    (again,) = await queue.claim(FIRST + LEASE)
    assert (again.run_id, again.attempt, again.must_close) == (claim.run_id, 2, False)
    assert again.epoch > claim.epoch
    assert await queue.slots.start([claim]) == {claim.run_id: ErrorCode.ABORTED}
    assert await queue.slots.start([again]) == {}


async def test_a_run_that_was_started_is_never_started_again(store: Store) -> None:
    queue = await furnish(store)
    (claim,) = await queue.claim(FIRST)
    assert await queue.slots.start([claim]) == {}
    (lost,) = await queue.claim(FIRST + LEASE)
    assert (lost.run_id, lost.attempt, lost.must_close) == (claim.run_id, 1, True)
    assert await queue.finish(lost, SlotStatus.ERROR)
    assert not await queue.finish(claim)  # an old epoch changes nothing
    assert (await queue.runs())[0].status is SlotStatus.ERROR


async def test_a_claim_that_is_given_back_goes_to_another_at_once(store: Store) -> None:
    queue = await furnish(store)
    (claim,) = await queue.claim(FIRST)
    await queue.slots.give_back([claim])
    (again,) = await queue.claim()
    assert (again.run_id, again.slot_at) == (claim.run_id, FIRST)
    assert (await queue.slots.renew([claim], LEASE)).renewed == frozenset()


async def test_grant_not_session(store: Store) -> None:
    """Revoked between enqueue and start: skipped with the reason, and the chain goes on."""
    queue = await furnish(store)
    await _revoke(store, queue.grant)
    assert await queue.claim(FIRST) == []
    skipped, ahead = await queue.runs()
    assert (skipped.status, skipped.reason) == (SlotStatus.SKIPPED, GrantRefusal.REVOKED)
    assert (ahead.slot_at, ahead.status) == (FIRST + minutes(5), SlotStatus.SCHEDULED)


async def test_a_grant_is_asked_again_at_the_start(store: Store) -> None:
    queue = await furnish(store)
    (claim,) = await queue.claim(FIRST)
    await _revoke(store, queue.grant)
    assert await queue.slots.start([claim]) == {claim.run_id: GrantRefusal.REVOKED}
    assert (await queue.runs())[0].started_at is None


async def test_billing_via_grant(store: Store) -> None:
    """An account with nothing left starts nothing."""
    queue = await furnish(store, credits=0)
    (claim,) = await queue.claim(FIRST)
    refusals = await queue.slots.start([claim])
    assert refusals == {claim.run_id: ErrorCode.INSUFFICIENT_CREDITS}


async def test_a_slot_behind_a_long_run_gives_way_to_the_latest(store: Store) -> None:
    queue = await furnish(store)
    (long,) = await queue.claim(FIRST)
    await _keep(queue, long, until=FIRST + minutes(13))
    assert await queue.finish(long)
    assert await queue.claim() == []  # 12:10 is skipped for 12:15
    (latest,) = await queue.claim()
    assert latest.slot_at == FIRST + minutes(10)
    skipped = next(run for run in await queue.runs() if run.status is SlotStatus.SKIPPED)
    assert (skipped.slot_at, skipped.reason) == (FIRST + minutes(5), "still_running")


async def test_a_cancelled_run_was_in_the_way_and_nothing_was_missed(store: Store) -> None:
    queue = await furnish(store)
    (long,) = await queue.claim(FIRST)
    await _keep(queue, long, until=FIRST + minutes(9))
    async with store.transaction() as tx:
        assert (await tx.lock_run(TENANT, long.run_id)).status is SlotStatus.RUNNING
        await tx.cancel_runs([long.run_id], "cancelled by somebody")
    assert not await queue.finish(long)
    (waited,) = await queue.claim()
    assert waited.slot_at == FIRST + minutes(5)


async def test_allow_runs_beside_each_other(store: Store) -> None:
    queue = await furnish(store, Concurrency.ALLOW)
    (first,) = await queue.claim(FIRST)
    await _keep(queue, first, until=FIRST + minutes(5))
    (second,) = await queue.claim()
    assert await queue.finish(second)
    assert await queue.finish(first)


async def test_replace_cancels_what_runs(store: Store) -> None:
    queue = await furnish(store, Concurrency.REPLACE)
    (first,) = await queue.claim(FIRST)
    await _keep(queue, first, until=FIRST + minutes(5))
    (second,) = await queue.claim()
    assert second.slot_at == FIRST + minutes(5)
    assert (await queue.slots.renew([first, second], LEASE)).renewed == {second.run_id}
    assert not await queue.finish(first)
    replaced = (await queue.runs())[0]
    assert (replaced.status, replaced.reason) == (SlotStatus.CANCELLED, "replaced")


async def test_events_of_a_run_are_stored_once(store: Store) -> None:
    queue = await furnish(store)
    (claim,) = await queue.claim(FIRST)
    early = RunEvent(1, FIRST, "done", {})
    async with store.transaction() as tx:
        await tx.add_run_events(claim, [early])
    assert await queue.finish(claim)
    events = await store.schedules.list_run_events(TENANT, claim.run_id, 0, 10)
    assert [event.kind for event in events] == ["done"]


@pytest.mark.parametrize("enabled", [True, False])
async def test_a_schedule_that_is_off_has_no_slot(store: Store, enabled: bool) -> None:
    queue = await furnish(store)
    definition = replace(queue.schedule.definition, enabled=enabled)
    async with store.transaction() as tx:
        await tx.save_schedule(replace(queue.schedule, definition=definition))
        await tx.remove_waiting_slot(queue.schedule.id)
    await queue.sweep(NOON + minutes(1))
    assert await queue.waiting() == ([FIRST] if enabled else [])


async def _keep(queue: Queue, claim: SlotClaim, until: datetime) -> None:
    """The worker renews its lease until then."""
    now = await queue.store.clock.now()
    while now < until:
        now = min(now + seconds(20), until)
        await queue.store.clock.set(now)
        assert (await queue.slots.renew([claim], LEASE)).renewed == {claim.run_id}


async def _revoke(store: Store, grant: Grant) -> None:
    async with store.transaction() as tx:
        await revoke_grant(tx, INSTALLATION_ADMIN, TENANT, grant.id)


async def _due_slots_of(store: Store, tenant_id: UUID, count: int, first_at: datetime) -> None:
    """Each of a schedule of its own, a second after the one before it."""
    await store.endpoints.add_tenant(tenant_id)
    account = Account(uuid4(), tenant_id, "graphs", 0, NOON)
    grant = Grant(uuid4(), tenant_id, USER, account.id, ("graph:execute:*",), NOON)
    definition = ScheduleDefinition(GRAPH, "0 0 1 1 *")
    async with store.transaction() as tx:
        await tx.insert_account(account)
        await tx.insert_grant(grant)
        for number in range(count):
            schedule = Schedule(uuid4(), tenant_id, USER, grant.id, definition, NOON, NOON)
            await tx.insert_schedule(schedule)
            await tx.add_jobs([slot_job(schedule, first_at + seconds(number))])


@pytest.mark.parametrize("seed", range(4))
async def test_tenants_take_turns_as_the_domain_says(store: Store, seed: int) -> None:
    """The backlog of one, however old, does not hold up the slots of another."""
    random = Random(seed)
    tenants = [uuid4() for _ in range(4)]
    for tenant_id in tenants:
        first_at = NOON + seconds(random.randint(0, 20))
        await _due_slots_of(store, tenant_id, random.randint(1, 12), first_at)
    await store.clock.set(NOON + seconds(40))
    queue = ClaimedSlots(store.port, CRON, uuid4)
    busy = {tenant_id: random.randint(0, 3) for tenant_id in tenants[:2]}
    request = ClaimRequest("worker", random.randint(3, 12), LEASE, per_tenant=5, busy_tenants=busy)
    async with store.transaction() as tx:
        due = (await tx.lock_due_slots(replace(request, limit=100), ())).slots
    by_time = sorted(due, key=lambda slot: (slot.slot_at, slot.schedule.id))
    expected = in_turn(by_time, lambda slot: slot.schedule.tenant_id, busy)
    assert [slot.schedule.id for slot in due] == [slot.schedule.id for slot in expected]
    claims = (await queue.claim_due(request)).claims
    shares = Counter(busy)
    shares.update(claim.tenant_id for claim in claims)
    assert max(shares.values()) <= request.per_tenant
    served = {slot.schedule.tenant_id for slot in expected[: request.limit]}
    assert {claim.tenant_id for claim in claims} == served
