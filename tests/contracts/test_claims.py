"""Who may run what, and when: claims, leases and epochs."""

import asyncio
from datetime import timedelta

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain import steering
from cadenza.domain.endpoint import CronLine, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.plan import Source
from cadenza.domain.run import RunStatus
from tests.contracts.harness import LEASE, OTHER_JOB, OTHER_TENANT, Store
from tests.factories import NOON, id_of, minutes, one_shot, seconds


async def test_a_due_endpoint_is_claimed_and_its_run_recorded_as_running(store: Store) -> None:
    endpoint = await store.add()
    claim = await store.claim_one()
    assert (claim.endpoint_id, claim.slot_at, claim.attempt) == (endpoint.id, NOON, 1)
    assert claim.source is Source.BASELINE_INTERVAL
    assert claim.endpoint_name == "probe"
    assert claim.target.url == "http://probe.example/path"
    assert not claim.must_close
    run = await store.run(endpoint)
    assert (run.id, run.status, run.slot_at) == (claim.run_id, RunStatus.RUNNING, NOON)
    assert run.claimed_at == NOON
    assert run.plan is not None
    assert run.plan["source"] == "baseline-interval"


async def test_what_is_not_due_is_not_claimed_but_announced(store: Store) -> None:
    endpoint = await store.add(created_at=NOON + minutes(5))
    batch = await store.claim()
    assert list(batch.claims) == []
    assert batch.next_due_at == endpoint.next_run_at == NOON + minutes(5)
    assert not batch.backlog


async def test_with_nothing_to_do_there_is_no_next_due_time(store: Store) -> None:
    await store.add(baseline=OnDemand())
    batch = await store.claim()
    assert (list(batch.claims), batch.next_due_at, batch.backlog) == ([], None, False)


async def test_a_slot_may_be_claimed_a_moment_ahead(store: Store) -> None:
    await store.add(created_at=NOON + timedelta(milliseconds=200))
    assert not (await store.claim(ahead=timedelta(milliseconds=100))).claims
    claim = await store.claim_one(ahead=timedelta(milliseconds=250))
    assert claim.slot_at == NOON + timedelta(milliseconds=200)
    assert claim.first_claimed_at == NOON


async def test_what_is_claimed_is_not_claimed_again(store: Store) -> None:
    await store.add()
    await store.claim_one()
    await store.advance(seconds(29))
    assert not (await store.claim()).claims


async def test_many_claim_at_once_and_never_share(store: Store) -> None:
    for number in range(60):
        await store.add(f"probe {number}", url=f"http://host{number}.example/")
    batches = await asyncio.gather(*(store.claim(limit=7) for _ in range(12)))
    run_ids = [claim.run_id for batch in batches for claim in batch.claims]
    assert len(run_ids) == len(set(run_ids)) == 60


async def test_the_earliest_slots_are_claimed_first(store: Store) -> None:
    for number in (3, 1, 2):
        await store.add(f"probe {number}", created_at=NOON + seconds(number))
    await store.advance(seconds(10))
    batch = await store.claim(limit=2)
    assert sorted(claim.endpoint_name for claim in batch.claims) == ["probe 1", "probe 2"]
    assert batch.backlog


async def test_a_tenant_at_its_limit_is_passed_over(store: Store) -> None:
    for number in range(10):
        await store.add(f"greedy {number}", url=f"http://host{number}.example/")
    await store.add(
        "modest", tenant_id=OTHER_TENANT, job_id=OTHER_JOB, created_at=NOON + seconds(1)
    )
    await store.advance(seconds(5))
    busy = {id_of("tenant"): 2}
    batch = await store.claim(per_tenant=5, busy_tenants=busy)
    names = [claim.endpoint_name for claim in batch.claims]
    assert names.count("modest") == 1
    assert len(names) == 4
    assert batch.backlog


async def test_a_host_at_its_limit_is_passed_over(store: Store) -> None:
    for number in range(6):
        await store.add(f"slow {number}", url="http://hangs.example/")
    await store.add("quick", created_at=NOON + seconds(1))
    await store.advance(seconds(5))
    batch = await store.claim(per_host=3, busy_hosts={(id_of("tenant"), "hangs.example"): 1})
    names = sorted(claim.endpoint_name for claim in batch.claims)
    assert names == ["quick", "slow 0", "slow 1"] or (len(names) == 3 and "quick" in names)
    assert batch.backlog


async def test_a_hang_of_one_tenant_takes_no_room_from_another_on_the_same_host(
    store: Store,
) -> None:
    for number in range(4):
        await store.add(f"hanging {number}", url="http://shared.example/")
    await store.add("other", url="http://shared.example/", tenant_id=OTHER_TENANT, job_id=OTHER_JOB)
    await store.advance(seconds(5))
    busy = {(id_of("tenant"), "shared.example"): 20}
    batch = await store.claim(per_host=20, busy_hosts=busy)
    assert [claim.endpoint_name for claim in batch.claims] == ["other"]


async def test_the_paused_and_the_archived_are_not_claimed(store: Store) -> None:
    paused = await store.add("paused")
    archived = await store.add("archived")
    await store.endpoints.change_endpoint(
        paused.tenant_id,
        paused.id,
        lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
    )
    await store.endpoints.change_endpoint(archived.tenant_id, archived.id, steering.archive)
    await store.advance(minutes(10))
    assert not (await store.claim()).claims


async def test_a_person_runs_a_paused_endpoint_now(store: Store) -> None:
    endpoint = await store.add(created_at=NOON + minutes(5))
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
    )
    await store.endpoints.change_endpoint(
        endpoint.tenant_id, endpoint.id, lambda ep, now, _: steering.request_run_now(ep, now)
    )
    claim = await store.claim_one()
    assert (claim.source, claim.is_manual, claim.slot_at) == (Source.MANUAL, True, NOON)
    assert await store.finish(claim)
    after = await store.get(endpoint)
    assert after.next_source is Source.PAUSED
    assert (after.last_run_at, after.person_ran_at) == (None, NOON)


async def test_a_lost_workers_slot_is_taken_over_under_the_same_key(store: Store) -> None:
    endpoint = await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    again = await store.claim_one()
    assert (again.run_id, again.slot_at) == (lost.run_id, lost.slot_at)
    assert again.idempotency_key == lost.idempotency_key
    assert again.attempt == 2
    assert again.epoch > lost.epoch
    assert again.first_claimed_at == lost.first_claimed_at
    assert not again.must_close
    (noted,) = await store.lost_attempts(lost)
    assert noted.attempt == 1
    assert (await store.get(endpoint)).failure_count == 0


async def test_after_three_lost_attempts_the_run_must_close(store: Store) -> None:
    await store.add()
    claim = await store.claim_one()
    for _ in range(2):
        await store.advance(LEASE)
        claim = await store.claim_one()
        assert not claim.must_close
    await store.advance(LEASE)
    assert (await store.claim_one()).must_close


async def test_a_lost_run_that_was_paused_meanwhile_must_close(store: Store) -> None:
    endpoint = await store.add()
    await store.claim_one()
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
    )
    await store.advance(LEASE)
    assert (await store.claim_one()).must_close


@pytest.mark.parametrize("by_sweep", [False, True])
async def test_a_lost_manual_run_is_closed_with_the_next_claim(
    store: Store, by_sweep: bool
) -> None:
    """It is never sent again, and holds up nothing: not a sweep, five minutes later."""
    endpoint = await store.add(baseline=OnDemand())
    await store.endpoints.change_endpoint(
        endpoint.tenant_id, endpoint.id, lambda ep, now, _: steering.request_run_now(ep, now)
    )
    lost = await store.claim_one()
    await store.advance(LEASE)
    request = ClaimRequest("next", limit=10, lease=LEASE)
    if by_sweep:
        (closing,) = await store.queue.claim_lost(request)
    else:
        (closing,) = (await store.queue.claim_due(request)).claims
    assert (closing.run_id, closing.must_close) == (lost.run_id, True)
    assert not (await store.claim()).claims


async def test_the_sweep_leaves_live_leases_alone(store: Store) -> None:
    await store.add()
    await store.claim_one()
    await store.advance(seconds(29))
    assert not await store.queue.claim_lost(ClaimRequest("sweeper", limit=10, lease=LEASE))


async def test_renewing_keeps_a_lease_alive(store: Store) -> None:
    await store.add()
    claim = await store.claim_one()
    await store.advance(seconds(20))
    assert (await store.queue.renew([claim], LEASE)).renewed == {claim.run_id}
    await store.advance(seconds(20))
    assert not (await store.claim()).claims


async def test_a_lease_that_was_taken_over_is_not_renewed(store: Store) -> None:
    await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    again = await store.claim_one()
    assert (await store.queue.renew([lost, again], LEASE)).renewed == {again.run_id}


async def test_a_lease_that_has_ended_is_not_renewed(store: Store) -> None:
    await store.add()
    claim = await store.claim_one()
    await store.advance(LEASE)
    assert (await store.queue.renew([claim], LEASE)).renewed == frozenset()


async def test_what_was_given_back_is_as_if_never_claimed(store: Store) -> None:
    endpoint = await store.add()
    claim = await store.claim_one()
    await store.queue.give_back([claim])
    assert await store.runs(endpoint) == []
    again = await store.claim_one()
    assert (again.slot_at, again.attempt) == (claim.slot_at, 1)
    assert again.epoch > claim.epoch


async def test_a_manual_run_given_back_waits_again(store: Store) -> None:
    endpoint = await store.add(baseline=OnDemand())
    await store.endpoints.change_endpoint(
        endpoint.tenant_id, endpoint.id, lambda ep, now, _: steering.request_run_now(ep, now)
    )
    claim = await store.claim_one()
    await store.queue.give_back([claim])
    again = await store.claim_one()
    assert (again.is_manual, again.slot_at) == (True, claim.slot_at)


async def test_a_takeover_given_back_is_taken_over_with_the_same_attempt(store: Store) -> None:
    await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    second = await store.claim_one()
    await store.queue.give_back([second])
    third = await store.claim_one()
    assert (third.run_id, third.attempt) == (lost.run_id, 2)
    noted = await store.lost_attempts(lost)
    assert [each.attempt for each in noted] == [1]


async def test_a_one_shot_of_an_on_demand_endpoint_is_claimed_at_its_time(store: Store) -> None:
    endpoint = await store.add(baseline=OnDemand())
    hint = one_shot(NOON + minutes(1), NOON + minutes(5))
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.suggest_run_at(ep, hint, now, cron),
    )
    assert not (await store.claim()).claims
    await store.advance(minutes(1))
    claim = await store.claim_one()
    assert (claim.source, claim.slot_at) == (Source.AI_ONESHOT, NOON + minutes(1))
    assert await store.finish(claim)
    assert (await store.get(endpoint)).next_run_at is None


async def test_cron_is_claimed_at_its_occurrence(store: Store) -> None:
    await store.add(baseline=CronLine("30 13 * * *", "Europe/Paris"))
    await store.advance(minutes(30))
    claim = await store.claim_one()
    assert (claim.source, claim.slot_at) == (Source.BASELINE_CRON, NOON + minutes(30))


async def test_giving_back_twice_is_giving_back_once(store: Store) -> None:
    await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    second = await store.claim_one()
    for _ in range(2):
        await store.queue.give_back([second])
    third = await store.claim_one()
    assert (third.run_id, third.attempt) == (lost.run_id, 2)


async def test_an_act_during_a_claim_that_is_given_back_takes_effect(store: Store) -> None:
    endpoint = await store.add(created_at=NOON + timedelta(milliseconds=100))
    claim = await store.claim_one(ahead=timedelta(milliseconds=250))
    await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.pause(ep, NOON + minutes(30), Author.PERSON, "", now, cron),
    )
    await store.queue.give_back([claim])
    after = await store.get(endpoint)
    assert (after.next_run_at, after.next_source) == (NOON + minutes(30), Source.PAUSED)
