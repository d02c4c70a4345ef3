"""A clock that stepped back: endpoints go on by it, no slot is used twice, and it is declared."""

from datetime import timedelta

from cadenza.application.clock_steps import ClockSteps
from cadenza.application.ports.event_log import BEGINNING
from cadenza.domain import steering
from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.instants import TICK
from cadenza.domain.run import FinishedRun
from tests.contracts.harness import LEASE, OTHER_JOB, OTHER_TENANT, Store
from tests.factories import CRON, NOON, OK, interval_hint, minutes, one_shot, seconds

STEP = seconds(90)
TWO_SECONDS = Every(seconds(2))


def steps_of(store: Store) -> ClockSteps:
    return ClockSteps(store.port, CRON, LEASE)


async def run_at_its_slot(store: Store, endpoint: Endpoint) -> None:
    before = await store.get(endpoint)
    assert before.next_run_at is not None
    await store.clock.set(before.next_run_at)
    await store.finish(await store.claim_one(ahead=seconds(0.25)))


async def step_back(store: Store, by: timedelta = STEP) -> None:
    await store.advance(-by)


async def test_what_counts_from_an_anchor_begins_anew_at_the_stepped_clock(store: Store) -> None:
    endpoint = await store.add(baseline=TWO_SECONDS)
    await run_at_its_slot(store, endpoint)
    await step_back(store)
    now = await store.clock.now()
    settled = await steps_of(store).settle()
    assert (settled.restarted, settled.left) == (1, 0)
    after = await store.get(endpoint)
    assert (after.last_run_at, after.last_slot_at) == (now, now)
    assert after.next_run_at == now + seconds(2)
    assert (await steps_of(store).settle()).restarted == 0


async def test_slots_increase_from_there_and_none_is_used_twice(store: Store) -> None:
    endpoint = await store.add(baseline=TWO_SECONDS)
    for _ in range(5):
        await run_at_its_slot(store, endpoint)
    old = [run.slot_at for run in await store.runs(endpoint)]
    await store.clock.set(NOON)  # to the microsecond where its first run was
    await steps_of(store).settle()
    for _ in range(5):
        await run_at_its_slot(store, endpoint)
    slots = [run.slot_at for run in await store.runs(endpoint)]
    assert len(set(slots)) == 10
    assert min(set(slots) - set(old)) == NOON + seconds(2) + TICK


async def test_cron_keeps_its_last_slot_and_runs_no_occurrence_twice(store: Store) -> None:
    endpoint = await store.add(baseline=CronLine("* * * * *"))
    for _ in range(3):
        await run_at_its_slot(store, endpoint)
    before = await store.get(endpoint)
    await step_back(store)
    await steps_of(store).settle()
    after = await store.get(endpoint)
    assert after.last_slot_at == before.last_slot_at
    assert after.next_run_at == before.next_run_at
    assert (await steps_of(store).settle()).restarted == 0


async def test_an_interval_hint_goes_on_and_a_one_shot_stays(store: Store) -> None:
    hinted = await store.add("hinted", baseline=Every(minutes(60)))
    await run_at_its_slot(store, hinted)
    asked = await store.add("asked", baseline=OnDemand())
    await run_now(store, asked)
    hint = interval_hint(seconds(3), NOON + minutes(60))
    shot = one_shot(NOON + minutes(20), NOON + minutes(60))
    await store.endpoints.change_endpoint(
        hinted.tenant_id,
        hinted.id,
        lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron),
    )
    await store.endpoints.change_endpoint(
        asked.tenant_id,
        asked.id,
        lambda ep, now, cron: steering.suggest_run_at(ep, shot, now, cron),
    )
    await step_back(store)
    assert (await steps_of(store).settle()).restarted == 2
    assert (await store.get(hinted)).next_run_at == await store.clock.now() + seconds(3)
    assert (await store.get(asked)).next_run_at == shot.run_at


async def run_now(store: Store, endpoint: Endpoint) -> None:
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, _: steering.request_run_now(ep, now),
    )
    await store.finish(await store.claim_one())


async def test_what_is_in_flight_is_looked_at_again_when_it_has_ended(store: Store) -> None:
    endpoint = await store.add(baseline=TWO_SECONDS)
    claim = await store.claim_one()
    await step_back(store)
    settled = await steps_of(store).settle()
    assert (settled.restarted, settled.left) == (0, 1)
    now = await store.clock.now()
    await store.queue.finish([FinishedRun(claim, OK, claim.slot_at, now)])
    settled = await steps_of(store).settle()
    assert (settled.restarted, settled.left) == (1, 0)
    assert (await store.get(endpoint)).next_run_at == await store.clock.now() + seconds(2)


async def test_a_worker_that_is_lost_is_followed_after_a_lease_by_the_stepped_clock(
    store: Store,
) -> None:
    await store.add(baseline=TWO_SECONDS)
    lost = await store.claim_one()
    await step_back(store)
    await steps_of(store).settle()
    await store.advance(LEASE - seconds(1))
    assert not (await store.claim()).claims
    await store.advance(seconds(1))
    again = await store.claim_one()
    assert (again.run_id, again.slot_at, again.attempt) == (lost.run_id, lost.slot_at, 2)


async def test_a_run_now_waits_for_no_clock_to_catch_up(store: Store) -> None:
    endpoint = await store.add(baseline=CronLine("* * * * *"))
    for _ in range(3):
        await run_at_its_slot(store, endpoint)
    await step_back(store)
    now = await store.clock.now()
    await run_now(store, endpoint)
    (manual,) = [run for run in await store.runs(endpoint) if run.is_manual]
    assert manual.slot_at == now


async def test_each_tenant_is_told_once_of_its_own(store: Store) -> None:
    ours = [await store.add(name) for name in ("a", "b", "archived")]
    other = await store.add("c", tenant_id=OTHER_TENANT, job_id=OTHER_JOB)
    archived = ours[2]
    claims = (await store.claim()).claims
    await store.queue.finish([FinishedRun(claim, OK, NOON, NOON) for claim in claims])
    await store.endpoints.change_endpoint(archived.tenant_id, archived.id, steering.archive)
    await step_back(store)
    now = await store.clock.now()
    assert (await steps_of(store).settle()).restarted == 3
    for tenant_id, count in ((other.tenant_id, 1), (archived.tenant_id, 2)):
        (event,) = await store.events.read_after(tenant_id, BEGINNING, 10)
        assert (event.kind, event.data["endpoints"]) == ("endpoint.clock_stepped", count)
        assert event.data["ahead_by_seconds"] == (NOON - now).total_seconds()
