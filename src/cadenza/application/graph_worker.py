"""The graph worker: a worker that runs graphs at their slots, under a grant."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from cadenza.application.metering import RunMeter
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.gateway import Gateway
from cadenza.application.ports.graphs import GraphExecutor
from cadenza.application.ports.store import Store
from cadenza.application.run_recorder import RunRecorder
from cadenza.application.slots import ClaimedSlots
from cadenza.application.worker import Worker
from cadenza.domain.billing import Charge
from cadenza.domain.errors import CadenzaError, StoreUnavailable
from cadenza.domain.grant import GrantRefusal
from cadenza.domain.graph import ErrorCode, EventKind, GraphRequest, GraphResult
from cadenza.domain.slot import FinishedSlot, SlotClaim, SlotStatus

NO_CREDITS = "the account has no credits left"
LOST = "the worker was lost during the run; it is not started again"
RETRY_AFTER = timedelta(milliseconds=200)
STOPPED = "the worker was stopped during the run"


class StartRefused(CadenzaError):
    def __init__(self, why: GrantRefusal | ErrorCode) -> None:
        self.why = why
        super().__init__(str(why))


# For a run, the schedule it belongs to, and who is told of each charge.
NewMeter = Callable[[GraphRequest, UUID | None, Callable[[Charge], None]], RunMeter]


GraphWorker = Worker[SlotClaim, FinishedSlot]


class GraphWork:
    def __init__(
        self,
        queue: ClaimedSlots,
        executor: GraphExecutor,
        gateway: Gateway,
        new_meter: NewMeter,
        store: Store,
        clock: Clock,
    ) -> None:
        self._starts = _Starts(queue, clock)
        self._executor = executor
        self._gateway = gateway
        self._new_meter = new_meter
        self._store = store
        self._clock = clock
        self._paying: set[asyncio.Task[None]] = set()

    async def execute(self, claim: SlotClaim, started_at: datetime) -> FinishedSlot:
        recorder = RunRecorder(claim, self._clock, self._store)
        try:
            result = await self._run(claim, recorder)
        except StartRefused as refused:
            return self._refused(claim, refused.why)
        status = _status_of(result)
        return self._finished(claim, status, result, started_at, events=await recorder.end())

    async def _run(self, claim: SlotClaim, recorder: RunRecorder) -> GraphResult:
        definition = claim.schedule.definition
        request = GraphRequest(
            *(claim.run_id, definition.graph_id, definition.input, claim.caller),
            limits=definition.limits,
            slot_at=claim.slot_at,
            attempt=claim.attempt,
            resume=claim.resume,
        )
        meter = self._new_meter(request, claim.schedule.id, partial(_note_usage, recorder))
        environment = await self._gateway.open(request, meter)
        try:
            request = replace(request, environment=environment)
            stream = self._executor.run_graph(request, lambda: self._starts.start(claim))
            async for event in stream.events():
                if event.kind not in (EventKind.DONE, EventKind.USAGE):  # ours to say
                    recorder.add(event.kind, event.data)
            result = await stream.final()
        finally:
            await self._gateway.close(claim.run_id)
            await asyncio.shield(self._paid(meter))
        if result.error is ErrorCode.INTERNAL and meter.failure is not None:
            return replace(result, error=meter.failure.code, message=meter.failure.message)
        return result

    def _paid(self, meter: RunMeter) -> asyncio.Task[None]:
        """What is owed is paid, also where the run's own lease has ended meanwhile."""

        async def pay() -> None:
            while True:
                try:
                    return await meter.pay()
                except StoreUnavailable:
                    await self._clock.sleep(RETRY_AFTER)

        task = asyncio.create_task(pay())
        self._paying.add(task)
        task.add_done_callback(self._paying.discard)
        return task

    # --- Ends -----------------------------------------------------------------------------

    def _refused(self, claim: SlotClaim, why: GrantRefusal | ErrorCode) -> FinishedSlot:
        if isinstance(why, GrantRefusal):
            result = GraphResult(message=f"not started: {why}")
            return self._finished(claim, SlotStatus.SKIPPED, result, None, reason=why)
        message = NO_CREDITS if why is ErrorCode.INSUFFICIENT_CREDITS else "no longer ours"
        result = GraphResult(error=why, message=message)
        return self._finished(claim, SlotStatus.ERROR, result, None)

    def lost(self, claim: SlotClaim) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.WORKER_LOST, message=LOST)
        return self._finished(claim, SlotStatus.ERROR, result, None)

    def stopped(self, claim: SlotClaim, started_at: datetime) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.ABORTED, message=STOPPED)
        return self._finished(claim, SlotStatus.ERROR, result, started_at)

    def broken(self, claim: SlotClaim, started_at: datetime, error: str) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.INTERNAL, message=error)
        return self._finished(claim, SlotStatus.ERROR, result, started_at)

    def unfit(self, finished: FinishedSlot, why: str) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.INTERNAL, message=why)
        return replace(finished, status=SlotStatus.ERROR, result=result, events=())

    def _finished(
        self,
        claim: SlotClaim,
        status: SlotStatus,
        result: GraphResult,
        started_at: datetime | None,
        **fields: object,
    ) -> FinishedSlot:
        finished = FinishedSlot(claim, status, result, started_at, self._clock.now())
        return replace(finished, **fields)


def _note_usage(recorder: RunRecorder, charge: Charge) -> None:
    data = {
        "model": charge.model,
        "input_tokens": charge.usage.input_tokens,
        "output_tokens": charge.usage.output_tokens,
        "credits": charge.credits,
        "basis": charge.basis,
    }
    recorder.add(EventKind.USAGE, data)


def _status_of(result: GraphResult) -> SlotStatus:
    if result.error is not None:
        return SlotStatus.ERROR
    return SlotStatus.WAITING if result.question is not None else SlotStatus.SUCCESS


class _Starts:
    """Starts that come together are stored together. To store one twice does no harm, so a store
    that is away is asked again, until the lease ends and with it whoever waits."""

    def __init__(self, queue: ClaimedSlots, clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._waiting: list[tuple[SlotClaim, asyncio.Future[None]]] = []
        self._storing: asyncio.Task[None] | None = None

    async def start(self, claim: SlotClaim) -> None:
        """Returns when the start is stored; StartRefused where it may not be."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((claim, future))
        if self._storing is None:
            self._storing = asyncio.create_task(self._store())
        await future

    async def _store(self) -> None:
        try:
            while batch := [start for start in self._waiting if not start[1].done()]:
                try:
                    refusals = await self._queue.start([claim for claim, _ in batch])
                except StoreUnavailable:
                    await self._clock.sleep(RETRY_AFTER)
                    continue
                self._waiting = [start for start in self._waiting if start not in batch]
                for claim, future in batch:
                    if not future.done():
                        _answer(future, refusals.get(claim.run_id))
        except Exception as error:  # noqa: BLE001 - whoever waits must hear of it
            for _, future in self._waiting:
                if not future.done():
                    future.set_exception(error)
        finally:
            self._waiting.clear()
            self._storing = None


def _answer(future: asyncio.Future[None], why: GrantRefusal | ErrorCode | None) -> None:
    if why is None:
        future.set_result(None)
    else:
        future.set_exception(StartRefused(why))
