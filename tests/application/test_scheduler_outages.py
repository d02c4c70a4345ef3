"""A store that is away for a while: nothing is lost, nothing is stored twice."""

import asyncio

import pytest

from cadenza.application.scheduler import SchedulerOptions
from cadenza.domain.endpoint import Every
from cadenza.domain.run import RunStatus
from tests.application.bench import (
    EVERYTHING,
    Bench,
    FragileQueue,
    MemoryRunQueue,
    simulated,
    takes,
)
from tests.factories import NOON, OK, minutes, seconds


@simulated
@pytest.mark.parametrize("method", sorted(EVERYTHING))
@pytest.mark.parametrize("applied", [False, True], ids=["before", "after"])
async def test_an_outage_of_each_call_before_or_after_it_took_effect_loses_nothing(
    method: str, applied: bool
) -> None:
    bench = Bench()
    for number in range(6):
        await bench.add(f"probe {number}", baseline=Every(seconds(10)))
    queue = FragileQueue(bench.queue)
    async with bench.worker(takes(bench, 1), queue=queue) as worker:
        for _ in range(5):
            await bench.sleep(20)
            (queue.after if applied else queue.down).add(method)
            await bench.sleep(4.5)
            queue.after.clear()
            queue.down.clear()
        await bench.sleep(60)
    assert bench.late_results == []
    for number in range(6):
        runs = bench.runs(f"probe {number}")
        assert {run.status for run in runs} == {RunStatus.SUCCESS}
        assert len({run.slot_at for run in runs}) == len(runs) >= 12
    stored = len(bench.tables.runs)
    finished = {event.data["slot_at"] for event in bench.events("run.finished")}
    assert len(bench.events("run.finished")) == stored
    assert {run.slot_at for run in bench.tables.runs.values()} == finished
    if method == "finish":
        assert queue.refused > 0
        assert len(worker.targets.requests) == stored  # a result is kept, not made again


@simulated
async def test_a_result_whose_storing_was_answered_with_an_error_is_stored_once() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(1)))
    queue = FragileQueue(bench.queue, after={"finish"})
    async with bench.worker(takes(bench, 1), queue=queue):
        await bench.sleep(10)
        assert queue.refused >= 5
        (run,) = bench.runs()
        assert (run.status, run.finished_at) == ("success", NOON + seconds(1))
        queue.after.clear()
        await bench.sleep(5)
        assert bench.runs() == [run]
        assert bench.endpoint().next_run_at == NOON + minutes(1)
    assert bench.late_results == []
    assert len(bench.events("run.finished")) == 1


@simulated
@pytest.mark.parametrize("outage", [90.3, 90.6], ids=["finish first", "claim first"])
async def test_a_result_that_waited_longer_than_its_lease_is_stored_and_not_sent_again(
    outage: float,
) -> None:
    bench = Bench()
    for number in range(8):
        await bench.add(f"probe {number}", baseline=Every(minutes(10)))
    queue = FragileQueue(bench.queue)
    options = SchedulerOptions(tick=seconds(4.7))  # so that each loop asks at its own moment
    async with bench.worker(takes(bench, 3.5), queue=queue, options=options) as worker:
        await bench.sleep(1)
        queue.down = set(EVERYTHING)
        await bench.sleep(outage)
        queue.down = set()
        await bench.sleep(60)
        assert len(worker.targets.requests) == 8
    for number in range(8):
        assert [(run.status, run.attempt) for run in bench.runs(f"probe {number}")] == [
            ("success", 1)
        ]
    assert bench.late_results == []


@simulated
async def test_after_an_outage_overdue_endpoints_run_once_and_declare_the_gap() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(10)))
    queue = FragileQueue(bench.queue)
    async with bench.worker(queue=queue):
        await bench.sleep(15)
        queue.down = set(EVERYTHING)
        await bench.sleep(100)
        queue.down = set()
        await bench.sleep(20)
    slots = [run.slot_at for run in bench.runs()]
    assert len(slots) == len(set(slots))
    (late,) = [run for run in bench.runs() if run.skipped_slots]
    assert late.slot_at == NOON + seconds(20)
    assert late.skipped_slots == 9
    assert late.skipped_reason == "no worker was free in time"


@simulated
async def test_a_claim_whose_answer_was_lost_is_taken_over_and_not_lost() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    queue = FragileQueue(bench.queue, after={"claim_due"})
    async with bench.worker(queue=queue) as worker:
        await bench.sleep(0.5)
        queue.after.clear()
        await bench.sleep(40)
    (request,) = worker.targets.requests
    assert request.claim.attempt == 2
    assert [run.status for run in bench.runs()] == ["success"]


@simulated
async def test_claiming_stops_while_too_many_results_wait_for_the_store() -> None:
    bench = Bench()
    for number in range(50):
        await bench.add(f"probe {number}", created_at=NOON + seconds(number))
    queue = FragileQueue(bench.queue, down={"finish"})
    options = SchedulerOptions(unsaved=10)
    async with bench.worker(queue=queue, options=options) as worker:
        await bench.sleep(61.5)
        assert len(worker.targets.requests) <= 11
        queue.down.clear()
        await bench.sleep(2)
        assert len({each.claim.endpoint_id for each in worker.targets.requests}) == 50
    assert {run.status for run in bench.tables.runs.values()} == {OK.status}


@simulated
async def test_while_the_store_is_slow_nothing_more_is_claimed() -> None:
    """What is claimed then would wait behind the results, with leases that only we hold."""
    bench = Bench()
    for number in range(30):
        await bench.add(f"probe {number}", baseline=Every(seconds(4)))
    hold = asyncio.Event()

    class SlowFinish(MemoryRunQueue):
        async def finish(self, finished):
            await hold.wait()
            return await super().finish(finished)

    options = SchedulerOptions(in_flight=5, tick=seconds(1))
    async with bench.worker(
        takes(bench, 1), queue=SlowFinish(bench.tables), options=options
    ) as worker:
        await bench.sleep(20)
        begun = len(worker.targets.requests)
        assert begun < 30
        hold.set()
        await bench.sleep(20)
        assert len(worker.targets.requests) > 100
    assert bench.late_results == []


@simulated
async def test_what_cannot_be_stored_is_left_to_whoever_can() -> None:
    """Its lease is not renewed: another worker sends it again under the same key."""
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    queue = FragileQueue(bench.queue, down={"finish"})
    async with bench.worker(takes(bench, 1), queue=queue) as first:
        await bench.sleep(20)
        assert len(first.targets.requests) == 1
        async with bench.worker(takes(bench, 1)) as second:
            await bench.sleep(30)
            (request,) = second.targets.requests
            assert request.claim.attempt == 2
    (run,) = bench.runs()
    assert (run.status, run.attempt) == (RunStatus.SUCCESS, 2)
