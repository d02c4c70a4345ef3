"""Stopping: nothing new, what was not sent is given back, what was sent comes to its end."""

import asyncio
from dataclasses import replace

from cadenza.application.ports.claims import ClaimBatch, ClaimRequest
from cadenza.application.scheduler import SchedulerOptions
from cadenza.domain.endpoint import Every
from cadenza.domain.run import Claim, Outcome
from tests.application.bench import (
    EVERYTHING,
    Bench,
    FragileQueue,
    MemoryRunQueue,
    simulated,
    takes,
)
from tests.factories import NOON, OK, minutes, seconds


async def _never(_: Claim) -> Outcome:
    await asyncio.Event().wait()
    raise AssertionError


@simulated
async def test_a_stopped_worker_finishes_what_it_has_sent() -> None:
    bench = Bench()
    await bench.add("long", baseline=Every(minutes(5)))
    await bench.add("due soon", baseline=Every(minutes(5)), created_at=NOON + seconds(10))
    worker = bench.start(takes(bench, 20))
    await bench.sleep(5)
    await worker.stop()
    assert bench.now == NOON + seconds(20)
    assert [run.status for run in bench.runs("long")] == ["success"]
    assert bench.runs("due soon") == []


@simulated
async def test_what_was_claimed_and_not_sent_is_given_back_as_if_it_had_never_been() -> None:
    bench = Bench()
    await bench.add(created_at=NOON + seconds(10))
    worker = bench.start()
    await bench.sleep(9.9)
    assert bench.endpoint().in_flight
    await worker.stop()
    assert worker.targets.requests == []
    assert bench.runs() == []
    assert not bench.endpoint().in_flight
    assert bench.endpoint().next_run_at == NOON + seconds(10)
    assert len(bench.events("run.given_back")) == 1
    async with bench.worker() as second:
        await bench.sleep(1)
    (request,) = second.targets.requests
    assert (request.claim.attempt, request.began_at) == (1, NOON + seconds(10))
    assert bench.lost_attempts == []


@simulated
async def test_a_run_now_that_was_not_sent_is_given_back_too() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)))
    async with bench.worker():
        await bench.sleep(1)
    in_a_moment = bench.now + seconds(0.2)
    bench.put(replace(bench.endpoint(), manual_slot_at=in_a_moment))
    worker = bench.start()
    await bench.sleep(0.1)
    await worker.stop()
    assert worker.targets.requests == []
    async with bench.worker() as second:
        await bench.sleep(1)
    assert [each.claim.is_manual for each in second.targets.requests] == [True]


@simulated
async def test_a_claim_under_way_when_the_worker_is_stopped_is_given_back() -> None:
    """The store has leased it to us already, though its answer has not come yet."""
    bench = Bench()

    class Slow(MemoryRunQueue):
        async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
            batch = await super().claim_due(request)
            await bench.sleep(0.3)
            return batch

    await bench.add()
    worker = bench.start(queue=Slow(bench.tables))
    await bench.sleep(0.1)
    assert bench.endpoint().in_flight
    await worker.stop()
    assert bench.now <= NOON + seconds(1)
    assert worker.targets.requests == []
    assert not bench.endpoint().in_flight
    assert bench.runs() == []


@simulated
async def test_the_grace_ends_after_half_a_minute_and_the_run_is_cancelled() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)))
    worker = bench.start(_never)
    await bench.sleep(5)
    await worker.stop()
    assert bench.now == NOON + seconds(35)
    (run,) = bench.runs()
    assert (run.status, run.error_kind) == ("cancelled", "worker_stopped")
    assert bench.endpoint().failure_count == 0
    assert bench.endpoint().next_run_at == NOON + minutes(5)


@simulated
async def test_a_lease_is_renewed_while_a_stopped_worker_waits_for_its_runs() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(60)))
    options = SchedulerOptions(stop_grace=minutes(10))
    worker = bench.start(takes(bench, 300), options=options)
    await bench.sleep(5)
    async with bench.worker(name="second") as second:
        await worker.stop()
        assert second.targets.requests == []
    assert bench.now == NOON + minutes(5)
    assert [(run.status, run.attempt) for run in bench.runs()] == [("success", 1)]


@simulated
async def test_a_second_stop_cancels_at_once_and_the_cancellation_is_stored() -> None:
    bench = Bench()
    for number in range(3):
        await bench.add(f"probe {number}", baseline=Every(minutes(5)))
    worker = bench.start(_never)
    await bench.sleep(5)
    worker.scheduler.stop()
    await bench.sleep(2)
    assert not worker.task.done()
    worker.scheduler.stop()
    await worker.task
    assert bench.now == NOON + seconds(7)
    for number in range(3):
        (run,) = bench.runs(f"probe {number}")
        assert (run.status, run.error_kind) == ("cancelled", "worker_stopped")
        assert run.started_at == NOON
    assert all(request.cancelled for request in worker.targets.requests)


@simulated
async def test_two_stops_in_one_breath_are_a_second_stop() -> None:
    bench = Bench()
    await bench.add()
    worker = bench.start(_never)
    await bench.sleep(1)
    worker.scheduler.stop()
    worker.scheduler.stop()
    await worker.task
    assert bench.now == NOON + seconds(1)
    assert [run.status for run in bench.runs()] == ["cancelled"]


@simulated
async def test_a_cancelled_request_that_answers_with_an_error_is_still_cancelled() -> None:
    bench = Bench()
    await bench.add()

    async def answer(_: Claim) -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            raise ConnectionResetError("the session was closed")
        return OK

    worker = bench.start(answer)
    await bench.sleep(1)
    worker.scheduler.stop()
    worker.scheduler.stop()
    await worker.task
    assert [run.status for run in bench.runs()] == ["cancelled"]
    assert bench.endpoint().failure_count == 0


@simulated
async def test_a_stop_before_the_first_breath_ends_at_once() -> None:
    bench = Bench()
    await bench.add()
    worker = bench.start()
    await worker.stop()
    assert bench.now == NOON
    assert worker.targets.requests == []
    assert not bench.endpoint().in_flight


@simulated
async def test_a_worker_stops_also_when_the_store_is_gone() -> None:
    bench = Bench()
    await bench.add("sent")
    await bench.add("held", created_at=NOON + seconds(4.1))
    queue = FragileQueue(bench.queue)
    worker = bench.start(takes(bench, 5), queue=queue)
    await bench.sleep(4)
    assert bench.endpoint("held").in_flight
    queue.down = set(EVERYTHING)
    worker.scheduler.stop()
    async with asyncio.timeout(120):
        await worker.task
    assert [run.status for run in bench.runs("sent")] == ["running"]


@simulated
async def test_a_second_stop_ends_at_once_also_when_the_store_is_gone() -> None:
    bench = Bench()
    await bench.add("sent")
    await bench.add("held", created_at=NOON + seconds(4.1))
    queue = FragileQueue(bench.queue)
    worker = bench.start(_never, queue=queue, options=SchedulerOptions(stop_grace=minutes(1)))
    await bench.sleep(4)
    queue.down = set(EVERYTHING)
    worker.scheduler.stop()
    await bench.sleep(3)
    worker.scheduler.stop()
    await bench.sleep(1)
    queue.down = set()
    await worker.task
    assert bench.now < NOON + seconds(10)
    assert [run.status for run in bench.runs("sent")] == ["cancelled"]
