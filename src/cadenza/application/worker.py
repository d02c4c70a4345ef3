"""A worker: claims what is due, executes it concurrently, renews leases, stores results.

Four loops around the executions (`executions.py`) and their results (`results.py`). A result that
cannot be stored now is kept and tried again; a lease that cannot be renewed ends its request.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from math import inf
from typing import Any, Generic, TypeVar

from cadenza.application.executions import Executions, Load, Work
from cadenza.application.ports.claims import (
    ClaimBatch,
    ClaimRequest,
    Finished,
    FinishReport,
    Leased,
    RunQueue,
)
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.events import Event, Events
from cadenza.application.results import Results, SchedulerOptions
from cadenza.application.waiting import Stop, end_all, until_set
from cadenza.domain.errors import StoreUnavailable

STANDS_STILL_AFTER = 10.0  # seconds, beyond a few ticks
T = TypeVar("T")
C = TypeVar("C", bound=Leased)
F = TypeVar("F", bound=Finished)


class Worker(Generic[C, F]):
    def __init__(
        self,
        worker: str,
        queue: RunQueue[C, F],
        work: Work[C, F],
        clock: Clock,
        events: Events,
        options: SchedulerOptions | None = None,
        load: Load | None = None,
    ) -> None:
        self._worker = worker
        self._queue = queue
        self._clock = clock
        self._events = events
        self._options = options or SchedulerOptions()
        self._load = load or Load()
        self._load.on_room.append(self._freed)
        self._results = Results(
            queue,
            work.unfit,
            clock,
            self._options,
            on_stored=self._on_stored,
            on_unsaved=self._on_unsaved,
            on_batch=self._on_batch,
        )
        self._stop = Stop()
        self._executions = Executions(
            work,
            clock,
            self._load,
            self._stop,
            on_finished=self._results.add,
            give_back=self._give_back,
            emit=self._emit,
        )
        self._to_claim = asyncio.Event()
        self._backlog = False  # more is due than there is room for
        self._claims_again_at: datetime | None = None  # None while a claim is under way
        self._moved_at = inf  # the loop that claims; not begun
        self._to_renew = asyncio.Event()

    # --- Life -----------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until stopped; returns when every execution has ended and its result is stored."""
        claiming = asyncio.create_task(self._claim_forever())
        sweeping = asyncio.create_task(self._sweep_forever())
        renewing = asyncio.create_task(self._renew_forever())
        finishing = asyncio.create_task(self._results.store_forever(self._retry))
        stopping = asyncio.create_task(self._stop.asked.wait())
        loops = (claiming, sweeping, renewing, finishing)
        try:
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            await self._drain(claiming, sweeping)
        finally:
            await end_all([stopping, *loops, *self._executions.tasks()])

    def wake(self) -> None:
        """Claim now: something may be due earlier than was known (a new endpoint, a nudge, a
        resume)."""
        self._to_claim.set()

    def renew_soon(self) -> None:
        """Renew now: a run that we hold may have been cancelled."""
        self._to_renew.set()

    def stop(self) -> None:
        """Stop claiming and let executions end; a second call ends them at once."""
        self._stop.ask()
        self._to_claim.set()

    def is_moving(self) -> bool:
        """Whether the claim loop still runs; a worker whose loop is stuck must not look healthy."""
        longest = 6 * self._options.tick.total_seconds() + STANDS_STILL_AFTER
        return asyncio.get_running_loop().time() - self._moved_at < longest

    # --- Claim ----------------------------------------------------------------------------

    async def _claim_forever(self) -> None:
        while not self._stop.asked.is_set():
            self._to_claim.clear()
            self._claims_again_at = None
            self._moved_at = asyncio.get_running_loop().time()
            batch = await self._retry(self.claim_once)
            if batch.backlog:
                await self._wait_for_room(batch.next_due_at)
            else:
                await self._wait_until_due(batch.next_due_at)

    def _freed(self) -> None:
        """An execution ended: claim again where more is waiting."""
        if self._backlog:
            self._to_claim.set()

    async def claim_once(self) -> ClaimBatch[C]:
        """Claim what is due, as far as there is room, and start it."""
        room = self._options.in_flight - self._load.total
        if room <= 0 or not self._results.has_room:
            self._backlog = True
            return ClaimBatch((), None, backlog=True)
        asked = asyncio.get_running_loop().time()
        self._backlog = False  # room that comes meanwhile wakes us when its result is stored
        batch = await self._queue.claim_due(self._request(room))
        self._backlog = batch.backlog
        for claim in batch.claims:
            self._executions.launch(claim, self._lease_end(asked))
        return batch

    def _request(self, limit: int) -> ClaimRequest:
        return self._load.request(self._worker, limit, self._options)

    async def _wait_for_room(self, next_due_at: datetime | None) -> None:
        """With a backlog, wait until an execution ends, and a moment longer so that several share a
        claim. Also until the next slot is due: its tenant and host may have room."""
        await self._wait_until_due(next_due_at)
        enough = self._options.in_flight // 4
        if self._options.in_flight - self._load.total < enough:
            await self._clock.sleep(self._options.gather)

    async def _wait_until_due(self, next_due_at: datetime | None) -> None:
        now = self._clock.now()
        again_at = now + self._options.tick
        if next_due_at is not None:
            again_at = min(again_at, self._claimed_by(next_due_at))
        self._claims_again_at = again_at
        if again_at > now:
            await until_set(self._to_claim, at_most=again_at - now)

    # --- Sweep ----------------------------------------------------------------------------

    async def _sweep_forever(self) -> None:
        while not self._stop.asked.is_set():
            await self._retry(self.sweep_once)
            await until_set(self._stop.asked, at_most=self._options.sweep_every)

    async def sweep_once(self) -> int:
        """Take over runs in status `running` without a live lease."""
        room = self._options.in_flight - self._load.total
        if room <= 0 or self._results.are_owed:
            return 0
        asked = asyncio.get_running_loop().time()
        claims = await self._queue.claim_lost(self._request(room))
        for claim in claims:
            self._executions.launch(claim, self._lease_end(asked))
        return len(claims)

    # --- Store ----------------------------------------------------------------------------

    def _on_stored(self, finished: F, is_late: bool) -> None:
        claim = finished.claim
        self._executions.forget(claim)
        kind = "run.late" if is_late else "run.finished"
        self._emit(kind, claim, slot_at=claim.slot_at, status=finished.status)

    def _on_unsaved(self, claim: Leased, error: str) -> None:
        self._emit("run.unsaved", claim, slot_at=claim.slot_at, error=error)

    def _on_batch(self, report: FinishReport) -> None:
        self._freed()
        self._wake_for(report.next_due_at)

    def _wake_for(self, due_at: datetime | None) -> None:
        """Claim earlier than intended where a finish planned a run before that."""
        if due_at is None:
            return
        again_at = self._claims_again_at
        if again_at is None or self._claimed_by(due_at) < again_at:
            self.wake()

    def _claimed_by(self, due_at: datetime) -> datetime:
        """When to claim it: three quarters of `ahead` before it is due, so that one claim brings a
        quarter of that together: some sixteen claims a second, however many runs there are."""
        return due_at - self._options.ahead * 3 / 4

    # --- Renew ----------------------------------------------------------------------------

    async def _renew_forever(self) -> None:
        while True:
            await until_set(self._to_renew, at_most=self._options.lease / 3)
            self._to_renew.clear()
            await self._retry(self.renew_once)

    async def renew_once(self) -> int:
        """Extend all leases that are still ours; an execution whose lease is gone ends its
        request."""
        executions = self._executions.all_but(self._results.owed)
        if not executions:
            return 0
        asked = asyncio.get_running_loop().time()
        claims = [execution.claim for execution in executions]
        renewal = await self._queue.renew(claims, self._options.lease)
        for execution in executions:
            if execution.claim.run_id in renewal.renewed:
                self._executions.hold(execution, self._lease_end(asked))
            elif execution.claim.run_id not in renewal.locked:
                self._executions.hold(execution, asked)
        if renewal.locked:
            loop = asyncio.get_running_loop()
            loop.call_later(self._options.retry_store_after.total_seconds(), self.renew_soon)
        return len(renewal.renewed)

    def _lease_end(self, asked: float) -> float:
        """Earlier than by the store's clock, for the lease began after we asked."""
        return asked + self._options.lease.total_seconds() * 0.9

    # --- Stop -----------------------------------------------------------------------------

    async def _drain(self, *claimers: asyncio.Task[None]) -> None:
        """Stop claiming, give back what was not sent, wait for the rest, store every result."""
        self._stop.asked.set()
        try:
            # Let a claim under way come to its end: what the store has leased to us we give back.
            patience = self._options.retry_store_after.total_seconds()
            await asyncio.wait(claimers, timeout=patience)
            await end_all(claimers)
        finally:
            await self._executions.drain(self._options.stop_grace)
            await self._results.wait_until_stored(2 * self._options.store_limit)

    async def _give_back(self, unsent: list[C]) -> None:
        await self._retry(lambda: self._queue.give_back(unsent))
        for claim in unsent:
            self._executions.drop(claim, "run.given_back")

    # --- Shared ---------------------------------------------------------------------------

    async def _retry(self, step: Callable[[], Awaitable[T]]) -> T:
        """Try again until the store answers; executions continue meanwhile."""
        while True:
            try:
                return await step()
            except StoreUnavailable:
                await self._clock.sleep(self._options.retry_store_after)

    def _emit(self, kind: str, claim: Leased, **data: Any) -> None:
        if not self._events.wants(kind):
            return
        self._events.emit(
            Event(
                self._clock.now(),
                kind,
                claim.tenant_id,
                claim.subject_id,
                claim.subject_name,
                {"worker": self._worker, "run_id": str(claim.run_id), **data},
            )
        )
