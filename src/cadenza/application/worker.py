"""A worker: claim what is due, execute it concurrently, renew, finish.

Four loops that share one table of executions. An execution is a claim that this worker holds, from
the claim to the moment its result is stored. Nothing starts before its slot; a result that cannot
be stored now is kept and tried again; a lease that cannot be kept ends its request.
"""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from math import inf
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

from cadenza.application.executions import Execution, Load
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
from cadenza.application.sanitizing import error_text
from cadenza.application.waiting import end_all, until_set
from cadenza.domain.clock_steps import CLOCK_STEP
from cadenza.domain.errors import StoreUnavailable

STANDS_STILL_AFTER = 10.0  # seconds, beyond a few ticks
T = TypeVar("T")
C = TypeVar("C", bound=Leased)
F = TypeVar("F", bound=Finished)
C_contra = TypeVar("C_contra", bound=Leased, contravariant=True)


class Work(Protocol[C_contra, F]):
    """What is done with a claim, and what is reported of it: the part that is not the worker's."""

    async def execute(self, claim: C_contra, started_at: datetime) -> F:
        """Do it and wait for its end; what goes wrong is a result, not an error."""
        ...

    def lost(self, claim: C_contra) -> F:
        """Another worker had it and was lost, and it may not be done again."""
        ...

    def stopped(self, claim: C_contra, started_at: datetime) -> F:
        """This worker was told to stop, and could wait no longer."""
        ...

    def broken(self, claim: C_contra, started_at: datetime, error: str) -> F:
        """It could not even fail in an orderly way."""
        ...

    def unfit(self, finished: F, why: str) -> F:
        """The store could not take what it brought."""
        ...


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
        self._work = work
        self._clock = clock
        self._events = events
        self._options = options or SchedulerOptions()
        self._executions: dict[UUID, Execution[C]] = {}
        self._load = load or Load()
        self._load.on_room.append(self._freed)
        self._results = Results(
            *(queue, work.unfit, clock, self._options),
            on_stored=self._on_stored,
            on_unsaved=self._on_unsaved,
            on_batch=self._on_batch,
        )
        self._to_claim = asyncio.Event()
        self._backlog = False  # more is due than there is room for
        self._claims_again_at: datetime | None = None  # None while a claim is under way
        self._moved_at = inf  # the loop that claims; not begun
        self._to_renew = asyncio.Event()
        self._stopping = asyncio.Event()
        self._stopping_now = asyncio.Event()

    # --- Life -----------------------------------------------------------------------------

    async def run(self) -> None:
        """Work until stopped; returns when everything in flight has ended and is stored."""
        claiming = asyncio.create_task(self._claim_forever())
        sweeping = asyncio.create_task(self._sweep_forever())
        renewing = asyncio.create_task(self._renew_forever())
        finishing = asyncio.create_task(self._results.store_forever(self._retry))
        stopping = asyncio.create_task(self._stopping.wait())
        loops = (claiming, sweeping, renewing, finishing)
        try:
            await asyncio.wait({*loops, stopping}, return_when=asyncio.FIRST_COMPLETED)
            await self._drain(claiming, sweeping)
        finally:
            await end_all([stopping, *loops, *self._tasks()])

    def wake(self) -> None:
        """Something may be due sooner than was known: a new endpoint, a nudge, a resume."""
        self._to_claim.set()

    def renew_soon(self) -> None:
        """A run that we hold may have been cancelled: ask which leases are still ours."""
        self._to_renew.set()

    def stop(self) -> None:
        """Stop claiming and let what is in flight finish; a second call ends that at once."""
        if self._stopping.is_set():
            self._stopping_now.set()
        self._stopping.set()
        self._to_claim.set()

    def is_moving(self) -> bool:
        """Whether it still looks for work; one whose loop stands still must not seem healthy."""
        longest = 6 * self._options.tick.total_seconds() + STANDS_STILL_AFTER
        return asyncio.get_running_loop().time() - self._moved_at < longest

    # --- Claim ----------------------------------------------------------------------------

    async def _claim_forever(self) -> None:
        while not self._stopping.is_set():
            self._to_claim.clear()
            self._claims_again_at = None
            self._moved_at = asyncio.get_running_loop().time()
            batch = await self._retry(self.claim_once)
            if batch.backlog:
                await self._wait_for_room(batch.next_due_at)
            else:
                await self._wait_until_due(batch.next_due_at)

    def _freed(self) -> None:
        """There is room for one more, if more is waiting for it."""
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
            self._launch(claim, asked)
        return batch

    def _request(self, limit: int) -> ClaimRequest:
        return self._load.request(self._worker, limit, self._options)

    async def _wait_for_room(self, next_due_at: datetime | None) -> None:
        """With a backlog, wait until a slot is free, and a moment longer for others to join it.

        Or until the next one is due: it may be of a tenant and a host that have room.
        """
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
        while not self._stopping.is_set():
            await self._retry(self.sweep_once)
            await until_set(self._stopping, at_most=self._options.sweep_every)

    async def sweep_once(self) -> int:
        """Take over runs that say `running` while nobody holds a lease on them."""
        room = self._options.in_flight - self._load.total
        if room <= 0 or self._results.are_owed:
            return 0
        asked = asyncio.get_running_loop().time()
        claims = await self._queue.claim_lost(self._request(room))
        for claim in claims:
            self._launch(claim, asked)
        return len(claims)

    # --- Execute --------------------------------------------------------------------------

    def _launch(self, claim: C, asked: float) -> None:
        older = self._executions.get(claim.run_id)
        if older is not None and older.task is not None:
            older.task.cancel()  # we lost its lease, and were the next to get it
        if claim.must_close:
            self._executions[claim.run_id] = Execution(claim, self._lease_end(asked))
            self._results.add(self._work.lost(claim))
            return
        execution = Execution(claim, self._lease_end(asked))
        self._executions[claim.run_id] = execution
        self._load.add(claim, 1)
        execution.task = asyncio.create_task(self._execute(execution))

    async def _execute(self, execution: Execution[C]) -> None:
        claim = execution.claim
        try:
            if not await self._comes(claim):
                await self._give_back([claim])
                return
            if self._stopping.is_set():
                return  # not sent: it is given back
            if asyncio.get_running_loop().time() >= execution.lease_ends:
                self._drop(claim, "run.lease_lost")
                return
            execution.started_at = self._clock.now()
            self._emit("run.started", claim, slot_at=claim.slot_at, attempt=claim.attempt)
            execution.guard()
            self._results.add(await self._perform(claim, execution.started_at))
        except asyncio.CancelledError:
            if execution.lost:
                self._drop(claim, "run.lease_lost")
            elif self._stopping_now.is_set() and execution.started_at is not None:
                self._results.add(self._work.stopped(claim, execution.started_at))
            else:
                raise
        finally:
            execution.release()
            self._load.remove(claim)

    async def _comes(self, claim: Leased) -> bool:
        """Never early: the clock is asked again after every sleep. Where it stepped back, only what
        was sent at its slot before does not wait for that to come again."""
        while (left := claim.slot_at - self._clock.now()) > timedelta(0):
            if left > CLOCK_STEP:
                return claim.attempt > 1
            await self._clock.sleep(left)
        return True

    async def _perform(self, claim: C, started_at: datetime) -> F:
        try:
            return await self._work.execute(claim, started_at)
        except (Exception, asyncio.CancelledError) as error:  # a broken one must not lose the slot
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from error  # it was us who ended it
            return self._work.broken(claim, started_at, error_text(error))

    def _drop(self, claim: Leased, why: str) -> None:
        self._forget(claim)
        self._emit(why, claim, slot_at=claim.slot_at)

    def _forget(self, claim: Leased) -> None:
        execution = self._executions.get(claim.run_id)
        if execution is not None and execution.claim.epoch == claim.epoch:  # none that came after
            del self._executions[claim.run_id]

    # --- Store ----------------------------------------------------------------------------

    def _on_stored(self, finished: F, is_late: bool) -> None:
        claim = finished.claim
        self._forget(claim)
        kind = "run.late" if is_late else "run.finished"
        self._emit(kind, claim, slot_at=claim.slot_at, status=finished.status)

    def _on_unsaved(self, claim: Leased, error: str) -> None:
        self._emit("run.unsaved", claim, slot_at=claim.slot_at, error=error)

    def _on_batch(self, report: FinishReport) -> None:
        self._freed()
        self._wake_for(report.next_due_at)

    def _wake_for(self, due_at: datetime | None) -> None:
        """Claim sooner than intended where a next run was just planned before that."""
        if due_at is None:
            return
        again_at = self._claims_again_at
        if again_at is None or self._claimed_by(due_at) < again_at:
            self.wake()

    def _claimed_by(self, due_at: datetime) -> datetime:
        """Not as far ahead as claims reach, so that each brings a quarter of that together: some
        sixteen claims a second, however many runs there are."""
        return due_at - self._options.ahead * 3 / 4

    # --- Renew ----------------------------------------------------------------------------

    async def _renew_forever(self) -> None:
        while True:
            await until_set(self._to_renew, at_most=self._options.lease / 3)
            self._to_renew.clear()
            await self._retry(self.renew_once)

    async def renew_once(self) -> int:
        """Extend every lease that is ours; an execution whose lease is gone ends its request."""
        owed = self._results.owed
        executions = [one for one in self._executions.values() if one.claim.run_id not in owed]
        if not executions:
            return 0
        asked = asyncio.get_running_loop().time()
        held = await self._queue.renew(
            [execution.claim for execution in executions], self._options.lease
        )
        for execution in executions:
            execution.hold_until(
                self._lease_end(asked) if execution.claim.run_id in held else asked
            )
        return len(held)

    def _lease_end(self, asked: float) -> float:
        """Before the lease ends by the store's clock, for it began after we asked for it."""
        return asked + self._options.lease.total_seconds() * 0.9

    # --- Stop -----------------------------------------------------------------------------

    async def _drain(self, *claimers: asyncio.Task[None]) -> None:
        """Claim no more, give back what was not sent, wait for what was, store every result."""
        self._stopping.set()
        try:
            # Let a claim under way come to its end: what the store has leased to us we give back.
            patience = self._options.retry_store_after.total_seconds()
            await asyncio.wait(claimers, timeout=patience)
            await end_all(claimers)
        finally:
            giving_back = asyncio.create_task(self._give_back_unsent())
            await self._wait_for_executions(giving_back)
            self._stopping_now.set()
            await end_all([giving_back, *self._tasks()])
            await self._results.wait_until_stored(2 * self._options.store_limit)

    def _tasks(self) -> list[asyncio.Task[None]]:
        return [
            execution.task for execution in self._executions.values() if execution.task is not None
        ]

    async def _give_back_unsent(self) -> None:
        waiting = [
            execution
            for execution in self._executions.values()
            if execution.task and not execution.started_at
        ]
        await end_all(execution.task for execution in waiting if execution.task)
        unsent = [execution.claim for execution in waiting if not execution.started_at]
        if unsent:
            await self._give_back(unsent)

    async def _give_back(self, unsent: list[C]) -> None:
        await self._retry(lambda: self._queue.give_back(unsent))
        for claim in unsent:
            self._drop(claim, "run.given_back")

    async def _wait_for_executions(self, giving_back: asyncio.Task[None]) -> None:
        """As long as the grace allows, or until somebody asks a second time to stop."""
        hurry = asyncio.create_task(self._stopping_now.wait())
        deadline = asyncio.get_running_loop().time() + self._options.stop_grace.total_seconds()
        while running := [task for task in (giving_back, *self._tasks()) if not task.done()]:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or hurry.done():
                break
            await asyncio.wait([*running, hurry], timeout=left, return_when=asyncio.FIRST_COMPLETED)
        await end_all([hurry])

    # --- Shared ---------------------------------------------------------------------------

    async def _retry(self, step: Callable[[], Awaitable[T]]) -> T:
        """Until the store answers: what is in flight goes on, and nothing is lost meanwhile."""
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
                {"worker": self._worker, **data},
            )
        )
