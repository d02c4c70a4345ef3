"""One run of a graph, metered and paid for behind the gateway.

The start is stored before any user code runs. Slots of schedules and runs of endpoints share this
code.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Generic, Protocol, TypeVar

from cadenza.application.metering import RunMeter
from cadenza.application.ports.claims import Leased
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.gateway import Gateway
from cadenza.application.ports.graphs import BeforeStart, GraphExecutor
from cadenza.application.starting import LOCKED, Refusals
from cadenza.domain.billing import Charge
from cadenza.domain.errors import CadenzaError, StoreUnavailable
from cadenza.domain.grant import GrantRefusal
from cadenza.domain.graph import ErrorCode, EventKind, GraphRequest, GraphResult

NO_CREDITS = "the account has no credits left"
RETRY_AFTER = timedelta(milliseconds=200)
C = TypeVar("C", bound=Leased)
C_contra = TypeVar("C_contra", bound=Leased, contravariant=True)

# For a run, and who is told of each charge.
NewMeter = Callable[[GraphRequest, Callable[[Charge], None]], RunMeter]
OnEvent = Callable[[EventKind, Mapping[str, Any]], None]


class StartRefused(CadenzaError):
    def __init__(self, why: GrantRefusal | ErrorCode) -> None:
        self.why = why
        super().__init__(str(why))

    @property
    def message(self) -> str:
        if isinstance(self.why, GrantRefusal):
            return f"not started: {self.why}"
        return NO_CREDITS if self.why is ErrorCode.INSUFFICIENT_CREDITS else "no longer ours"


class GraphRuns:
    def __init__(
        self, executor: GraphExecutor, gateway: Gateway, new_meter: NewMeter, clock: Clock
    ) -> None:
        self._executor = executor
        self._gateway = gateway
        self._new_meter = new_meter
        self._clock = clock
        self._paying: set[asyncio.Task[None]] = set()

    async def run(
        self, request: GraphRequest, before_start: BeforeStart, on_event: OnEvent
    ) -> GraphResult:
        """Run the graph to its end; failures are results, only StartRefused is raised. Cancelling
        ends the child process."""
        meter = self._new_meter(request, lambda charge: on_event(EventKind.USAGE, _usage(charge)))
        environment = await self._gateway.open(request, meter)
        try:
            request = replace(request, environment=environment)
            stream = self._executor.run_graph(request, before_start)
            async for event in stream.events():
                if event.kind not in (EventKind.DONE, EventKind.USAGE):  # ours to say
                    on_event(event.kind, event.data)
            result = await stream.final()
        finally:
            await self._gateway.close(request.run_id)
            await asyncio.shield(self._paid(meter))
        if result.error is ErrorCode.INTERNAL and meter.failure is not None:
            return replace(result, error=meter.failure.code, message=meter.failure.message)
        return result

    def _paid(self, meter: RunMeter) -> asyncio.Task[None]:
        """Pay what is owed, even where the run's own lease has ended."""

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


def _usage(charge: Charge) -> dict[str, Any]:
    return {
        "model": charge.model,
        "input_tokens": charge.usage.input_tokens,
        "output_tokens": charge.usage.output_tokens,
        "credits": charge.credits,
        "basis": charge.basis,
    }


class StartQueue(Protocol[C_contra]):
    def start(self, claims: Sequence[C_contra]) -> Awaitable[Refusals]:
        """Store that they start; what is not given back as refused may begin."""
        ...


class Starts(Generic[C]):
    """Stores starts in batches. Storing one twice is harmless, so it retries while the store is
    away, until the lease ends and cancels the caller."""

    def __init__(self, queue: StartQueue[C], clock: Clock) -> None:
        self._queue = queue
        self._clock = clock
        self._waiting: list[tuple[C, asyncio.Future[None]]] = []
        self._storing: asyncio.Task[None] | None = None

    async def start(self, claim: C) -> None:
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
                locked = {run_id for run_id, why in refusals.items() if why is LOCKED}
                answered = [start for start in batch if start[0].run_id not in locked]
                self._waiting = [start for start in self._waiting if start not in answered]
                for claim, future in answered:
                    if not future.done():
                        _answer(future, refusals.get(claim.run_id))
                if locked:
                    await self._clock.sleep(RETRY_AFTER)
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
