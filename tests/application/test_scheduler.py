"""The scheduler: on time, within its limits, and no endpoint at the cost of another."""

import asyncio
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise

import pytest

from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, FinishReport
from cadenza.application.scheduler import SchedulerOptions
from cadenza.domain import steering
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import CronLine, Endpoint, Every, OnDemand
from cadenza.domain.errors import AlreadyRunning
from cadenza.domain.hint import Author
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from tests.application.bench import Bench, MemoryRunQueue, simulated, takes
from tests.factories import (
    FAILED,
    NOON,
    OK,
    id_of,
    interval_hint,
    minutes,
    one_shot,
    seconds,
)

# --- On time --------------------------------------------------------------------------------


@simulated
async def test_nothing_starts_before_its_slot_though_it_is_claimed_ahead() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(10)))
    async with bench.worker():
        await bench.sleep(55)
    runs = bench.runs()[1:]
    assert [run.slot_at for run in runs] == [NOON + seconds(10 * n) for n in range(1, 6)]
    assert all(run.claimed_at == run.slot_at - timedelta(milliseconds=187.5) for run in runs)
    assert all(run.started_at == run.slot_at for run in runs)


@simulated
async def test_a_claim_held_in_its_timer_waits_again_when_the_clock_steps_back() -> None:
    bench = Bench()
    await bench.add(created_at=NOON + seconds(10))
    async with bench.worker() as worker:
        await bench.sleep(9.9)
        assert bench.row().endpoint.in_flight
        bench.clock.step(seconds(-5))
        await bench.sleep(5)
        assert worker.targets.requests == []
        await bench.sleep(1)
    (run,) = bench.runs()
    assert run.started_at == run.slot_at == NOON + seconds(10)


@simulated
async def test_a_claim_held_in_its_timer_is_given_back_when_the_clock_steps_far_back() -> None:
    bench = Bench()
    await bench.add(created_at=NOON + seconds(10))
    async with bench.worker() as worker:
        await bench.sleep(9.9)
        assert bench.row().endpoint.in_flight
        bench.clock.step(seconds(-90))
        await bench.sleep(1)
        assert not bench.row().endpoint.in_flight
        assert worker.targets.requests == []
        assert bench.runs() == []
        assert bench.row().endpoint.next_run_at == NOON + seconds(10)
        await bench.sleep(95)
    (run,) = bench.runs()
    assert run.started_at == run.slot_at == NOON + seconds(10)


@simulated
async def test_a_forward_step_of_the_clock_starts_what_is_due_once_and_declares_the_rest() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(1)))
    async with bench.worker():
        await bench.sleep(30)
        bench.clock.step(minutes(10))
        await bench.sleep(65)
    first, late, *later = bench.runs()
    assert (first.slot_at, late.slot_at) == (NOON, NOON + minutes(1))
    assert late.skipped_slots == 9
    assert late.skipped_reason == "no worker was free in time"
    assert len(later) == 1


@simulated
async def test_a_new_endpoint_starts_at_once_and_not_at_the_next_tick() -> None:
    bench = Bench()
    async with bench.worker():
        await bench.sleep(1)
        await bench.add()
        await bench.sleep(1)
        (run,) = bench.runs()
    assert run.started_at == NOON + seconds(1)


@simulated
async def test_an_interval_shorter_than_the_tick_is_kept() -> None:
    bench = Bench()
    await bench.add(baseline=Every(seconds(1.5)))
    async with bench.worker(takes(bench, 0.2)):
        await bench.sleep(29)
    assert [run.started_at for run in bench.runs()] == [
        NOON + seconds(1.5 * number) for number in range(20)
    ]


@simulated
async def test_a_nudge_starts_within_a_second() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(30)))
    async with bench.worker():
        await bench.sleep(61.5)
        nudged_at = bench.now
        hint = one_shot(bench.now, bench.now + minutes(5))
        await bench.act("probe", lambda ep, now, cron: steering.suggest_run_at(ep, hint, now, cron))
        await bench.sleep(2)
    run = bench.runs()[-1]
    assert run.source == "ai-oneshot"
    assert run.started_at is not None
    assert timedelta(0) <= run.started_at - nudged_at <= seconds(1)


@simulated
async def test_a_shorter_interval_moves_the_next_run_forward_and_then_the_whole_cadence() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(5)))
    async with bench.worker():
        await bench.sleep(60)
        hint = interval_hint(seconds(90), NOON + minutes(5))
        await bench.act(
            "probe", lambda ep, now, cron: steering.suggest_interval(ep, hint, now, cron)
        )
        await bench.sleep(11 * 60)
    offsets = [(run.slot_at - NOON).total_seconds() for run in bench.runs()]
    assert offsets == [0, 90, 180, 270, 570]


@simulated
async def test_a_resumed_endpoint_starts_at_once() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(1)))
    async with bench.worker():
        await bench.sleep(30)
        await bench.act(
            "probe", lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron)
        )
        await bench.sleep(600)
        assert len(bench.runs()) == 1
        resumed_at = bench.now
        await bench.act(
            "probe", lambda ep, now, cron: steering.resume(ep, Author.PERSON, now, cron)
        )
        await bench.sleep(1)
    assert bench.runs()[-1].started_at == resumed_at
    assert bench.runs()[-1].source == "resumed"


@simulated
async def test_runs_of_a_cron_stay_on_its_grid_whatever_they_take() -> None:
    bench = Bench()
    await bench.add(baseline=CronLine("* * * * *"))
    async with bench.worker(takes(bench, 7.3)):
        await bench.sleep(5 * 60 + 30)
    assert [run.slot_at for run in bench.runs()] == [NOON + minutes(n) for n in range(1, 6)]


@simulated
async def test_an_overdue_endpoint_runs_once_and_says_what_was_skipped() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(1)))
    await bench.sleep(10 * 60 + 30)
    async with bench.worker():
        await bench.sleep(1)
        (run,) = bench.runs()
        assert (run.slot_at, run.started_at) == (NOON, NOON + seconds(630))
        assert (run.skipped_slots, run.skipped_reason) == (10, "no worker was free in time")
        await bench.sleep(60)
    assert [run.slot_at - NOON for run in bench.runs()] == [minutes(0), seconds(690)]


# --- Run now --------------------------------------------------------------------------------


def run_now(endpoint: Endpoint, now: datetime, _: Cron) -> Endpoint:
    return steering.request_run_now(endpoint, now)


@simulated
@pytest.mark.parametrize("paused", [False, True])
async def test_run_now_starts_at_once_also_when_paused_and_moves_nothing(paused: bool) -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)), min_interval=minutes(5))
    async with bench.worker(takes(bench, 1)):
        await bench.sleep(30)
        if paused:
            await bench.act(
                "probe",
                lambda ep, now, cron: steering.pause(ep, None, Author.PERSON, "", now, cron),
            )
        before = bench.endpoint()
        await bench.act("probe", run_now)
        with pytest.raises(AlreadyRunning):
            await bench.act("probe", run_now)
        await bench.sleep(5)
        after = bench.endpoint()
    run = bench.runs()[-1]
    assert (run.source, run.is_manual, run.status) == ("manual", True, "success")
    assert run.started_at == run.slot_at == NOON + seconds(30)
    assert (after.next_run_at, after.last_run_at) == (before.next_run_at, before.last_run_at)


@simulated
async def test_run_now_of_an_endpoint_on_demand_runs_once_and_leaves_it_asleep() -> None:
    bench = Bench()
    await bench.add(baseline=OnDemand())
    async with bench.worker():
        await bench.sleep(60)
        assert bench.runs() == []
        await bench.act("probe", run_now)
        await bench.sleep(3600)
    assert len(bench.runs()) == 1
    assert bench.endpoint().next_run_at is None


@simulated
async def test_run_now_is_refused_while_a_run_is_in_flight_and_its_failure_counts() -> None:
    bench = Bench()
    await bench.add(baseline=Every(minutes(10)))
    async with bench.worker(takes(bench, 5, FAILED)):
        await bench.sleep(1)
        with pytest.raises(AlreadyRunning):
            await bench.act("probe", run_now)
        await bench.sleep(10)
        await bench.act("probe", run_now)
        await bench.sleep(10)
    assert [run.status for run in bench.runs()] == ["failure", "failure"]
    assert bench.endpoint().failure_count == 2


# --- Limits ---------------------------------------------------------------------------------


@simulated
async def test_a_worker_runs_no_more_at_once_than_it_may_and_still_runs_everything() -> None:
    bench = Bench()
    for number in range(120):
        await bench.add(f"probe {number}")
    async with bench.worker(takes(bench, 2), options=SchedulerOptions(in_flight=25)) as worker:
        await bench.sleep(30)
        assert len(worker.targets.requests) == 120
    assert worker.targets.most_at_once() == 25


@simulated
async def test_tenants_and_hosts_keep_their_limits() -> None:
    bench = Bench()
    for number in range(60):
        tenant_id = id_of(f"tenant {number % 3}")
        await bench.add(f"probe {number}", tenant_id=tenant_id, host=f"host-{number % 7}")
    options = SchedulerOptions(in_flight=40, per_tenant=9, per_host=2)
    async with bench.worker(takes(bench, 2), options=options) as worker:
        await bench.sleep(40)
    assert worker.targets.most_at_once(lambda claim: claim.tenant_id) == 9
    assert worker.targets.most_at_once(lambda claim: (claim.tenant_id, claim.target.host)) == 2
    assert {len(worker.targets.of(f"probe {number}")) for number in range(60)} == {1}


@simulated
async def test_a_backlog_of_one_tenant_does_not_starve_another() -> None:
    bench = Bench()
    for number in range(400):
        await bench.add(f"crowd {number}", tenant_id=id_of("crowd"))
    await bench.add("quiet", created_at=NOON + seconds(1.5), tenant_id=id_of("quiet"))
    async with bench.worker(takes(bench, 60)) as worker:
        await bench.sleep(5)
        assert len(worker.targets.requests) == 101
    (quiet,) = worker.targets.of("quiet")
    assert quiet.began_at == NOON + seconds(1.5)


@simulated
async def test_a_hanging_host_uses_up_no_slots_and_holds_up_nobody() -> None:
    bench = Bench()
    for number in range(80):
        await bench.add(f"stuck {number}", host="stuck")
    for number in range(5):
        await bench.add(f"well {number}", baseline=Every(seconds(7)))
    hang = takes(bench, 600)

    async def answer(claim: Claim) -> Outcome:
        return await hang(claim) if claim.target.host == "stuck.example" else OK

    async with bench.worker(answer) as worker:
        await bench.sleep(60)
        assert sum(each.claim.target.host == "stuck.example" for each in worker.targets.requests)
        assert bench.row("stuck 0").endpoint.in_flight
        for number in range(5):
            began = [each.began_at - NOON for each in worker.targets.of(f"well {number}")]
            assert began == [seconds(7 * n) for n in range(9)]
        worker.scheduler.stop()
        worker.scheduler.stop()
        await worker.task
    assert worker.targets.most_at_once(lambda claim: claim.target.host) == 20


@simulated
async def test_a_full_worker_takes_the_oldest_slot_first_when_room_comes() -> None:
    bench = Bench()
    for number in range(6):
        await bench.add(f"probe {number}", created_at=NOON + seconds(number))
    await bench.sleep(10)
    async with bench.worker(takes(bench, 1), options=SchedulerOptions(in_flight=2)) as worker:
        await bench.sleep(10)
    names = [request.claim.endpoint_name for request in worker.targets.requests]
    assert names == [f"probe {number}" for number in range(6)]


# --- Neighbours -----------------------------------------------------------------------------


async def _raise(error: BaseException) -> Outcome:
    raise error


@simulated
@pytest.mark.parametrize(
    "error",
    [ValueError("bad"), TimeoutError(), KeyError("x"), RecursionError(), asyncio.CancelledError()],
    ids=lambda error: type(error).__name__,
)
async def test_a_dispatcher_that_raises_loses_no_slot_and_breaks_no_neighbour(
    error: BaseException,
) -> None:
    bench = Bench()
    await bench.add("broken", baseline=Every(seconds(30)), max_interval=seconds(30))
    await bench.add("well", baseline=Every(seconds(10)))

    async def answer(claim: Claim) -> Outcome:
        return await _raise(error) if claim.endpoint_name == "broken" else OK

    async with bench.worker(answer):
        await bench.sleep(115)
    assert [run.slot_at - NOON for run in bench.runs("broken")] == [
        seconds(30 * n) for n in range(4)
    ]
    for run in bench.runs("broken"):
        assert (run.status, run.error_kind) == ("failure", "internal")
        assert run.error_message is not None
        assert type(error).__name__ in run.error_message
    assert bench.endpoint("broken").failure_count == 4
    assert {run.status for run in bench.runs("well")} == {"success"}
    assert len(bench.runs("well")) == 12


class PickyQueue(MemoryRunQueue):
    """A store that cannot write a certain body, as a database cannot write a zero byte."""

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        if any(each.outcome.body == "\0" for each in finished):
            raise ValueError("cannot contain a zero byte")
        return await super().finish(finished)


@simulated
async def test_a_result_that_the_store_cannot_take_is_a_failure_and_its_neighbours_are_fine() -> (
    None
):
    bench = Bench()
    await bench.add("broken", baseline=Every(seconds(20)), max_interval=seconds(20))
    for number in range(5):
        await bench.add(f"well {number}", baseline=Every(seconds(20)))

    async def answer(claim: Claim) -> Outcome:
        await bench.sleep(1)
        return Outcome(RunStatus.SUCCESS, body="\0" if claim.endpoint_name == "broken" else "fine")

    async with bench.worker(answer, queue=PickyQueue(bench.tables)) as worker:
        await bench.sleep(65)
    for number in range(5):
        assert [run.status for run in bench.runs(f"well {number}")] == ["success"] * 4
    runs = bench.runs("broken")
    assert [(run.status, run.error_kind, run.attempt) for run in runs] == [
        ("failure", "internal", 1)
    ] * 4
    assert "zero byte" in (runs[0].error_message or "")
    assert len(worker.targets.of("broken")) == 4


@simulated
async def test_an_endpoint_that_cannot_be_planned_does_not_break_its_neighbours() -> None:
    bench = Bench()

    class Unplannable(MemoryRunQueue):
        async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
            if any(each.claim.endpoint_name == "broken" for each in finished):
                raise OverflowError("date value out of range")
            return await super().finish(finished)

    await bench.add("broken")
    await bench.add("well", baseline=Every(seconds(10)))
    async with bench.worker(queue=Unplannable(bench.tables)) as worker:
        await bench.sleep(299)
    assert [run.status for run in bench.runs("well")] == ["success"] * 30
    assert len(worker.targets.of("broken")) == 3
    (event, *_) = bench.events("run.unsaved")
    assert event.data["error"] == "OverflowError: date value out of range"


@simulated
async def test_results_that_come_while_others_are_being_stored_are_stored_too() -> None:
    bench = Bench()

    class Slow(MemoryRunQueue):
        async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
            await bench.sleep(0.7)
            return await super().finish(finished)

    for number in range(30):
        await bench.add(f"probe {number}", created_at=NOON + seconds(number / 10))
    async with bench.worker(queue=Slow(bench.tables)) as worker:
        await bench.sleep(10)
        assert {run.status for run in bench.tables.runs.values()} == {RunStatus.SUCCESS}
    assert len(worker.targets.requests) == len(bench.tables.runs) == 30


@simulated
async def test_slow_runs_do_not_delay_fast_ones() -> None:
    bench = Bench()
    await bench.add("slow", baseline=Every(minutes(1)))
    await bench.add("fast", baseline=Every(seconds(5)))

    async def answer(claim: Claim) -> Outcome:
        await bench.sleep(300 if claim.endpoint_name == "slow" else 0.2)
        return OK

    async with bench.worker(answer):
        await bench.sleep(302)
    assert [run.slot_at - NOON for run in bench.runs("fast")] == [seconds(5 * n) for n in range(61)]
    assert all(run.started_at == run.slot_at for run in bench.runs("fast"))
    assert (bench.runs("slow")[0].skipped_slots, bench.runs("slow")[0].status) == (4, "success")


# --- Many workers ---------------------------------------------------------------------------


@simulated
async def test_workers_share_the_work_and_no_slot_is_sent_twice() -> None:
    bench = Bench()
    for number in range(30):
        await bench.add(f"probe {number}", baseline=Every(seconds(10)))
    options = SchedulerOptions(in_flight=8)
    workers = [
        bench.start(takes(bench, 0.7), name=f"worker {n}", options=options) for n in range(3)
    ]
    await bench.sleep(58)
    for worker in workers:
        await worker.stop()
    keys = [each.claim.idempotency_key for worker in workers for each in worker.targets.requests]
    assert len(keys) == len(set(keys)) == 30 * 6
    assert all(len(worker.targets.requests) > 20 for worker in workers)
    for number in range(30):
        slots = [run.slot_at for run in bench.runs(f"probe {number}")]
        assert all(b > a for a, b in pairwise(slots))


@simulated
async def test_an_idle_worker_asks_the_store_once_a_tick_and_no_more() -> None:
    bench = Bench()
    asked = 0

    class Counting(MemoryRunQueue):
        async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
            nonlocal asked
            asked += 1
            return await super().claim_due(request)

    await bench.add(baseline=OnDemand())
    async with bench.worker(queue=Counting(bench.tables)):
        await bench.sleep(600)
    assert 100 <= asked <= 125


class SlowToClaim(MemoryRunQueue):
    """An answer takes its time, as a database's does, and runs end meanwhile."""

    takes = 0.005
    asked = 0

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
        self.asked += 1
        await asyncio.sleep(self.takes)
        return await super().claim_due(request)


@simulated
async def test_a_steady_load_is_claimed_together_though_runs_end_all_the_time() -> None:
    bench = Bench()
    for number in range(100):
        created_at = NOON + number * timedelta(milliseconds=10)
        await bench.add(f"probe {number}", baseline=Every(seconds(1)), created_at=created_at)
    queue = SlowToClaim(bench.tables)
    async with bench.worker(takes(bench, 0.015), queue=queue):
        await bench.sleep(10)
    assert sum(len(bench.runs(f"probe {number}")) for number in range(100)) > 950
    assert queue.asked < 200


@simulated
async def test_room_that_came_while_a_claim_was_under_way_is_used_at_once() -> None:
    bench = Bench()
    took = {"a": 0.3, "b": 0.6, "c": 30.0, "d": 0.1}
    for name in took:
        await bench.add(name, baseline=Every(minutes(10)))
    queue = SlowToClaim(bench.tables)
    queue.takes = 0.5

    async def answer(claim: Claim) -> Outcome:
        await bench.sleep(took[claim.endpoint_name])
        return OK

    async with bench.worker(answer, queue=queue, options=SchedulerOptions(in_flight=2)):
        await bench.sleep(4)
    assert [len(bench.runs(name)) for name in took] == [1, 1, 1, 1]


@simulated
async def test_an_unexpected_error_of_the_store_ends_the_worker_loudly() -> None:
    bench = Bench()

    class Broken(MemoryRunQueue):
        async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
            raise LookupError("a column is missing")

    worker = bench.start(queue=Broken(bench.tables))
    with pytest.raises(LookupError, match="column"):
        await worker.task
