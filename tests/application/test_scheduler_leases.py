"""Leases: kept while a run lasts, lost with its worker, and fenced by their epoch."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from cadenza.application.ports.claims import ClaimRequest, Renewal
from cadenza.application.scheduler import SchedulerOptions
from cadenza.domain import steering
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.hint import Author
from cadenza.domain.run import Claim, FinishedRun, Outcome
from tests.application.bench import Bench, FragileQueue, MemoryRunQueue, simulated, takes
from tests.factories import FAILED, NOON, OK, minutes, seconds


class LostLeases(MemoryRunQueue):
    """A store that says of every lease that somebody else holds it now."""

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        return Renewal(frozenset())


async def _never(_: Claim) -> Outcome:
    await asyncio.Event().wait()
    raise AssertionError


# --- Kept -----------------------------------------------------------------------------------


@simulated
async def test_renewal_keeps_the_lease_of_a_long_run() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(1)))
    async with bench.worker(takes(bench, 20 * 60)) as first, bench.worker() as second:
        for _ in range(19 * 6):
            await bench.sleep(10)
            lease_until = bench.row().lease_until
            assert lease_until is not None
            assert lease_until - bench.now >= seconds(10)
        await bench.sleep(65)
    (run, *_) = bench.runs()
    assert (run.attempt, run.status) == (1, "success")
    assert len([each for each in first.targets.requests if each.claim.run_id == run.id]) == 1
    assert all(each.claim.run_id != run.id for each in second.targets.requests)


@simulated
async def test_a_lease_is_free_between_runs_so_that_a_nudge_is_not_blocked() -> None:
    bench = Bench()
    await bench.add()
    async with bench.worker():
        await bench.sleep(10)
        assert (bench.row().lease_until, bench.row().run_id) == (None, None)


# --- Lost -----------------------------------------------------------------------------------


@simulated
async def test_a_lost_lease_cancels_the_request_and_writes_nothing() -> None:
    bench = Bench()
    await bench.add()
    async with bench.worker(_never, queue=LostLeases(bench.tables)) as worker:
        await bench.sleep(11)
        (request,) = worker.targets.requests
        assert request.cancelled
        assert request.ended_at == NOON + seconds(10)
        (run,) = bench.runs()
        assert (run.status, run.finished_at) == ("running", None)
        assert len(bench.events("run.lease_lost")) == 1
        assert bench.late_results == []
        await worker.crash()
    assert bench.endpoint().failure_count == 0


@simulated
async def test_a_worker_that_cannot_renew_ends_its_request_before_the_lease_does() -> None:
    bench = Bench()
    await bench.add()
    queue = FragileQueue(bench.queue, down={"renew"})
    async with bench.worker(_never, queue=queue) as worker:
        await bench.sleep(29.9)
        lease_until = bench.row().lease_until
        (request,) = worker.targets.requests
        assert request.cancelled
        assert request.ended_at is not None
        assert lease_until is not None
        assert request.ended_at < lease_until
        await worker.crash()


@simulated
async def test_a_request_that_answers_its_cancellation_with_an_error_is_no_failure() -> None:
    bench = Bench()
    await bench.add()

    async def answer(_: Claim) -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ConnectionResetError("the session was closed") from None
        return OK

    async with bench.worker(answer, queue=LostLeases(bench.tables)) as worker:
        await bench.sleep(11)
        assert [run.status for run in bench.runs()] == ["running"]
        assert len(bench.events("run.lease_lost")) == 1
        await worker.crash()


@simulated
async def test_a_lost_lease_frees_its_place_for_another_run() -> None:
    bench = Bench()
    await bench.add("lost", created_at=NOON)
    await bench.add("waiting", created_at=NOON + seconds(1))

    async def answer(claim: Claim) -> Outcome:
        return await _never(claim) if claim.endpoint_name == "lost" else OK

    options = SchedulerOptions(in_flight=1)
    async with bench.worker(answer, queue=LostLeases(bench.tables), options=options) as worker:
        await bench.sleep(15)
        assert len(worker.targets.of("waiting")) == 1
        await worker.crash()


# --- Taken over -----------------------------------------------------------------------------


@simulated
async def test_after_a_crash_the_same_slot_is_sent_again_under_the_same_key() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)), min_interval=minutes(4))
    first = bench.start(_never)
    await bench.sleep(5)
    await first.crash()
    async with bench.worker(takes(bench, 1)) as second:
        await bench.sleep(60)
    (lost,), (sent,) = first.targets.requests, second.targets.requests
    assert (lost.claim.attempt, sent.claim.attempt) == (1, 2)
    assert lost.claim.idempotency_key == sent.claim.idempotency_key
    assert lost.claim.run_id == sent.claim.run_id
    assert sent.claim.epoch > lost.claim.epoch
    assert seconds(30) <= sent.began_at - NOON <= seconds(35)
    (run,) = bench.runs()
    assert (run.status, run.attempt, run.slot_at) == ("success", 2, NOON)
    assert bench.lost_attempts == [(run.id, 1)]
    assert bench.endpoint().failure_count == 0
    assert bench.endpoint().next_run_at == NOON + minutes(5)


@simulated
async def test_three_lost_attempts_close_the_run_and_the_next_is_planned() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)))
    sent: list[Claim] = []
    for _ in range(3):
        worker = bench.start(_never)
        await bench.sleep(36)
        await worker.crash()
        sent += [each.claim for each in worker.targets.requests]
    async with bench.worker() as last:
        await bench.sleep(60)
        assert last.targets.requests == []
    assert [claim.attempt for claim in sent] == [1, 2, 3]
    assert len({claim.idempotency_key for claim in sent}) == 1
    (run,) = bench.runs()
    assert (run.status, run.error_kind, run.started_at) == ("timeout", "worker_lost", None)
    assert len(bench.lost_attempts) == 3
    assert bench.endpoint().failure_count == 1
    assert bench.endpoint().next_run_at == NOON + minutes(10)


@simulated
@pytest.mark.parametrize("fate", ["paused", "job paused", "archived", "manual"])
async def test_a_lost_run_that_nobody_wants_any_more_is_closed_and_not_sent_again(
    fate: str,
) -> None:
    bench = Bench()
    manual = fate == "manual"
    await bench.add(baseline=OnDemand() if manual else Every(minutes(5)))
    if manual:
        await bench.act("probe", lambda ep, now, _: steering.request_run_now(ep, now))
    worker = bench.start(_never)
    await bench.sleep(5)
    assert len(worker.targets.requests) == 1
    await worker.crash()
    acts = {
        "paused": lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
        "job paused": lambda ep, now, cron: steering.set_job_pause(
            ep, NOON + minutes(60), now, cron
        ),
        "archived": steering.archive,
    }
    if not manual:
        await bench.act("probe", acts[fate])
    async with bench.worker() as second:
        await bench.sleep(301)
        assert second.targets.requests == []
        assert not bench.endpoint().in_flight
    (run,) = bench.runs()
    assert (run.status, run.error_kind) == ("timeout", "worker_lost")
    if fate == "archived":
        assert bench.endpoint().next_run_at is None


@simulated
async def test_the_sweep_at_the_start_closes_what_a_dead_worker_left() -> None:
    bench = Bench()
    await bench.add(baseline=OnDemand())
    await bench.act("probe", lambda ep, now, _: steering.request_run_now(ep, now))
    worker = bench.start(_never)
    await bench.sleep(1)
    await worker.crash()
    await bench.sleep(60)
    async with bench.worker():
        await bench.sleep(0.1)
        (run,) = bench.runs()
        assert (run.status, run.error_kind) == ("timeout", "worker_lost")


@simulated
async def test_a_lost_run_by_hand_holds_up_its_endpoint_no_longer_than_its_lease() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(10)))
    async with bench.worker() as worker:
        await bench.sleep(1)
        await bench.act("probe", lambda ep, now, _: steering.request_run_now(ep, now))
        (claim,) = (await bench.queue.claim_due(ClaimRequest("dies", 1, seconds(30)))).claims
        await bench.sleep(60)
        starts = [request.began_at for request in worker.targets.requests]
    assert bench.tables.runs[claim.run_id].error_kind == "worker_lost"
    assert max(after - before for before, after in pairwise(starts)) < seconds(30 + 10 + 5)
    (late,) = [run for run in bench.runs() if run.skipped_slots]
    assert (late.skipped_slots, late.skipped_reason) == (2, "no worker was free in time")


@simulated
async def test_the_sweep_comes_back_every_five_minutes() -> None:
    bench = Bench()
    swept: list[datetime] = []

    class WatchedSweep(MemoryRunQueue):
        async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
            swept.append(bench.clock.now())
            return await super().claim_lost(request)

    async with bench.worker(queue=WatchedSweep(bench.tables)):
        await bench.sleep(601)
    assert swept == [NOON, NOON + minutes(5), NOON + minutes(10)]


@simulated
async def test_a_late_result_is_told_apart_and_changes_nothing() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)))
    (claim,) = (await bench.queue.claim_due(ClaimRequest("sleepwalker", 1, seconds(30)))).claims
    await bench.sleep(40)
    async with bench.worker(takes(bench, 30)):
        await bench.sleep(10)
        before = (bench.endpoint(), bench.runs())
        late = FinishedRun(claim, FAILED, NOON, bench.now)
        assert (await bench.queue.finish([late])).late == {claim.run_id}
        assert (bench.endpoint(), bench.runs()) == before
        await bench.sleep(30)
    assert [run.status for run in bench.runs()] == ["success"]
    assert len(bench.late_results) == 1


@simulated
async def test_a_worker_that_takes_over_its_own_lost_slot_ends_the_older_request() -> None:
    """A step of the store's clock can end a lease that the worker still believes in."""
    bench = Bench()
    await bench.add(baseline=Every(minutes(60)))
    async with bench.worker(takes(bench, 100)) as worker:
        await bench.sleep(3)
        bench.clock.step(minutes(1))
        await bench.sleep(10)
        older, newer = worker.targets.requests
        assert (older.claim.attempt, newer.claim.attempt) == (1, 2)
        assert older.cancelled
        await bench.sleep(95)
        (run,) = bench.runs()
        assert (run.status, run.attempt) == ("success", 2)
        assert not newer.cancelled
    assert len(worker.targets.requests) == 2


@simulated
async def test_an_old_result_of_a_slot_does_not_end_the_lease_of_the_new_one() -> None:
    """The worker's own late result must not make it forget that it flies the slot again."""
    bench = Bench()
    await bench.add(baseline=Every(minutes(60)))
    hold = asyncio.Event()

    class SlowFinish(MemoryRunQueue):
        async def finish(self, finished):
            await hold.wait()
            return await super().finish(finished)

    lengths = {1: 2.0, 2: 90.0, 3: 1.0}

    async def answer(claim: Claim) -> Outcome:
        await bench.sleep(lengths[claim.attempt])
        return OK

    async with bench.worker(answer, queue=SlowFinish(bench.tables)) as worker:
        await bench.sleep(3)
        bench.clock.step(minutes(1))  # the lease is over while the result waits to be stored
        worker.scheduler.wake()  # before the store seems slow
        await bench.sleep(10)
        assert [each.claim.attempt for each in worker.targets.requests] == [1, 2]
        hold.set()
        await bench.sleep(100)
        assert [each.claim.attempt for each in worker.targets.requests] == [1, 2]
    (run,) = bench.runs()
    assert (run.status, run.attempt) == ("success", 2)
    assert len(bench.late_results) == 1
