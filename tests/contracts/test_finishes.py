"""How a run ends: outcome, plan, fencing."""

from datetime import timedelta

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain import steering
from cadenza.domain.plan import Source
from cadenza.domain.run import WORKER_LOST, FinishedRun, Outcome, RunStatus
from tests.contracts.harness import LEASE, Store
from tests.factories import FAILED, NOON, OK, interval_hint, minutes, seconds


async def test_a_finished_run_is_closed_and_the_next_one_planned(store: Store) -> None:
    endpoint = await store.add()
    claim = await store.claim_one()
    outcome = Outcome(RunStatus.SUCCESS, status_code=201, body={"depth": 3, "list": [1, None]})
    assert await store.finish(claim, outcome)
    run = await store.run(endpoint)
    assert (run.status, run.status_code, run.body) == (RunStatus.SUCCESS, 201, outcome.body)
    assert (run.started_at, run.finished_at) == (NOON, NOON + seconds(1))
    assert run.duration == seconds(1)
    after = await store.get(endpoint)
    assert after.next_run_at == NOON + minutes(1)
    assert after.next_source is Source.BASELINE_INTERVAL
    assert (after.last_run_at, after.last_slot_at) == (NOON, NOON)
    assert not after.in_flight


async def test_the_report_tells_the_earliest_next_run(store: Store) -> None:
    await store.add("probe", created_at=NOON)
    claim = await store.claim_one()
    report = await store.queue.finish([FinishedRun(claim, OK, NOON, NOON)])
    assert report.next_due_at == NOON + minutes(1)


async def test_failures_are_counted_and_a_success_ends_the_count(store: Store) -> None:
    endpoint = await store.add()
    for expected in (1, 2):
        await store.finish(await store.claim_one(), FAILED)
        after = await store.get(endpoint)
        assert after.failure_count == expected
        assert after.next_run_at is not None
        await store.clock.set(after.next_run_at)
    await store.finish(await store.claim_one())
    after = await store.get(endpoint)
    assert after.failure_count == 0
    assert after.next_run_at == after.last_run_at + minutes(1)  # pyright: ignore


async def test_a_hint_written_during_the_run_is_seen_by_its_finish(store: Store) -> None:
    endpoint = await store.add()
    claim = await store.claim_one()
    hint = interval_hint(seconds(15), NOON + minutes(10))
    during = await store.endpoints.change_endpoint(
        endpoint.tenant_id,
        endpoint.id,
        lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron),
    )
    assert during.next_run_at == NOON
    await store.finish(claim)
    after = await store.get(endpoint)
    assert (after.next_run_at, after.next_source) == (NOON + seconds(15), Source.AI_INTERVAL)


async def test_a_result_with_an_old_epoch_changes_nothing_but_is_kept(store: Store) -> None:
    endpoint = await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    again = await store.claim_one()
    before = (await store.get(endpoint), await store.runs(endpoint))
    assert not await store.finish(lost, FAILED)
    assert (await store.get(endpoint), await store.runs(endpoint)) == before
    (late,) = await store.late_results(lost)
    assert (late.run_id, late.epoch, late.status) == (lost.run_id, lost.epoch, RunStatus.FAILURE)
    assert await store.finish(again)
    assert (await store.run(endpoint)).status is RunStatus.SUCCESS


async def test_a_late_result_after_the_end_changes_nothing(store: Store) -> None:
    endpoint = await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    await store.finish(await store.claim_one())
    before = (await store.get(endpoint), await store.runs(endpoint))
    assert not await store.finish(lost, FAILED)
    assert (await store.get(endpoint), await store.runs(endpoint)) == before


async def test_the_same_result_told_twice_counts_once_and_is_not_late(store: Store) -> None:
    endpoint = await store.add()
    claim = await store.claim_one()
    assert await store.finish(claim, FAILED)
    after = await store.get(endpoint)
    assert await store.finish(claim, FAILED)
    assert await store.get(endpoint) == after
    assert after.failure_count == 1
    assert list(await store.late_results(claim)) == []


async def test_one_late_result_does_not_spoil_its_batch(store: Store) -> None:
    good = await store.add("good")
    claims = {claim.endpoint_name: claim for claim in (await store.claim()).claims}
    bad = await store.add("bad")
    lost = await store.claim_one()
    await store.advance(LEASE / 2)
    await store.queue.renew([claims["good"]], LEASE)
    await store.advance(LEASE / 2)
    await store.claim_one()
    now = await store.clock.now()
    report = await store.queue.finish(
        [FinishedRun(lost, OK, now, now), FinishedRun(claims["good"], OK, NOON, now)]
    )
    assert report.late == {lost.run_id}
    assert (await store.run(good)).status is RunStatus.SUCCESS
    assert (await store.run(bad)).status is RunStatus.RUNNING


async def test_a_run_whose_worker_was_lost_closes_as_a_timeout(store: Store) -> None:
    endpoint = await store.add()
    await store.claim_one()
    await store.advance(LEASE)
    claim = await store.claim_one()
    now = await store.clock.now()
    await store.queue.finish([FinishedRun(claim, WORKER_LOST, None, now)])
    run = await store.run(endpoint)
    assert (run.status, run.error_kind) == (RunStatus.TIMEOUT, "worker_lost")
    assert run.started_at is None
    assert (await store.get(endpoint)).failure_count == 1


async def test_missed_slots_are_declared_on_the_run(store: Store) -> None:
    endpoint = await store.add()
    await store.advance(minutes(5) + seconds(30))
    claim = await store.claim_one()
    assert claim.slot_at == NOON
    await store.finish(claim)
    run = await store.run(endpoint)
    assert (run.skipped_slots, run.skipped_reason) == (5, "no worker was free in time")


async def test_retry_after_holds_the_next_run_back(store: Store) -> None:
    endpoint = await store.add()
    busy = Outcome(RunStatus.FAILURE, "status", status_code=429, retry_after=minutes(10))
    await store.finish(await store.claim_one(), busy, takes=timedelta(0))
    after = await store.get(endpoint)
    assert (after.next_run_at, after.next_source) == (NOON + minutes(10), Source.RETRY_AFTER)


@pytest.mark.parametrize(
    "body",
    ["plain text", "", {"a": "\u0000"}, ["\ud800"], {"\u0000": 1}, {"n": float("nan")},
     {"n": float("-inf")}, 2**80, -0.0, True, None, {"deep": [[[[{}]]]]}, "é😀\u2028"],
)  # fmt: skip
async def test_whatever_the_target_answers_the_run_is_stored(store: Store, body: object) -> None:
    endpoint = await store.add()
    await store.finish(await store.claim_one(), Outcome(RunStatus.SUCCESS, body=body))  # pyright: ignore
    run = await store.run(endpoint)
    assert run.status is RunStatus.SUCCESS
    assert (run.body is None) == (body is None)


async def test_a_finish_after_the_sweep_took_the_run_is_late(store: Store) -> None:
    endpoint = await store.add()
    lost = await store.claim_one()
    await store.advance(LEASE)
    (swept,) = await store.queue.claim_lost(ClaimRequest("sweeper", limit=10, lease=LEASE))
    assert swept.epoch > lost.epoch
    assert not await store.finish(lost)
    assert await store.finish(swept)
    assert (await store.run(endpoint)).attempt == 2
