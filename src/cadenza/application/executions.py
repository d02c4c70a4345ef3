"""The executions of a worker: one for each claim, from the claim until its result is stored.
Nothing starts before its slot."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from math import inf
from typing import Generic, Protocol, TypeVar
from uuid import UUID

from cadenza.application.ports.claims import ClaimRequest, Finished, Leased
from cadenza.application.ports.clock import Clock
from cadenza.application.present import present_claim
from cadenza.application.results import SchedulerOptions
from cadenza.application.sanitizing import error_text
from cadenza.application.waiting import OVER, Stop, end_all
from cadenza.domain.claiming import TenantHost
from cadenza.domain.clock_steps import CLOCK_STEP

C = TypeVar("C", bound=Leased)
F = TypeVar("F", bound=Finished)
C_contra = TypeVar("C_contra", bound=Leased, contravariant=True)
K = TypeVar("K")


class Work(Protocol[C_contra, F]):
    """What a worker does with a claim, and what it reports; the part that differs between
    workers."""

    async def execute(self, claim: C_contra, started_at: datetime) -> F:
        """Execute it to its end; failures are results, not exceptions."""
        ...

    def lost(self, claim: C_contra) -> F:
        """The result where an earlier worker was lost and the claim may not be executed again."""
        ...

    def stopped(self, claim: C_contra, started_at: datetime) -> F:
        """The result where this worker was told to stop and its grace ended."""
        ...

    def broken(self, claim: C_contra, started_at: datetime, error: str) -> F:
        """The result where `execute` raised."""
        ...

    def unfit(self, finished: F, why: str) -> F:
        """The result to store instead of one that the store could not take."""
        ...


@dataclass(slots=True)
class Execution(Generic[C]):
    claim: C
    lease_ends: float  # by the loop's monotonic clock, a little before the store's
    task: asyncio.Task[None] | None = None
    started_at: datetime | None = None  # None while nothing has been sent
    lost: bool = False

    @property
    def is_over(self) -> bool:
        """It has ended, and perhaps its result waits to be stored."""
        return self.task is None or self.task.done()

    def lose(self) -> None:
        self.lost = True
        if self.task is not None:
            self.task.cancel(OVER)


@dataclass(slots=True)
class Load:
    """How many executions there are, by tenant and host; two workers may share one."""

    total: int = 0
    tenants: Counter[UUID] = field(default_factory=Counter[UUID])
    hosts: Counter[TenantHost] = field(default_factory=Counter[TenantHost])
    on_room: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def add(self, claim: Leased, count: int) -> None:
        self.total += count
        _count(self.tenants, claim.tenant_id, count)
        _count(self.hosts, (claim.tenant_id, claim.host), count)

    def remove(self, claim: Leased) -> None:
        self.add(claim, -1)
        for has_room in self.on_room:
            has_room()

    def request(self, worker: str, limit: int, options: SchedulerOptions) -> ClaimRequest:
        return ClaimRequest(
            worker=worker,
            limit=limit,
            lease=options.lease,
            ahead=options.ahead,
            per_tenant=options.per_tenant,
            per_host=options.per_host,
            busy_tenants=self.tenants,
            busy_hosts=self.hosts,
            runs_on=options.runs_on,
        )


def _count(counter: Counter[K], key: K, count: int) -> None:
    counter[key] += count
    if counter[key] == 0:
        del counter[key]


class Executions(Generic[C, F]):
    def __init__(
        self,
        work: Work[C, F],
        clock: Clock,
        load: Load,
        stop: Stop,
        *,
        on_finished: Callable[[F], None],
        give_back: Callable[[list[C]], Awaitable[None]],
        emit: Callable[..., None],
    ) -> None:
        self._work = work
        self._clock = clock
        self._load = load
        self._stop = stop
        self._on_finished = on_finished
        self._give_back = give_back
        self._emit = emit
        self._by_run: dict[UUID, Execution[C]] = {}
        self._lease_timer: asyncio.TimerHandle | None = None
        self._looks_at = inf  # when the timer ends

    def all_but(self, run_ids: Container[UUID]) -> list[Execution[C]]:
        return [one for one in self._by_run.values() if one.claim.run_id not in run_ids]

    def tasks(self) -> list[asyncio.Task[None]]:
        return [one.task for one in self._by_run.values() if one.task is not None]

    # --- Execute --------------------------------------------------------------------------

    def launch(self, claim: C, lease_ends: float) -> None:
        older = self._by_run.get(claim.run_id)
        if older is not None and older.task is not None:
            older.task.cancel(OVER)  # we lost its lease, and were the next to get it
        execution = Execution(claim, lease_ends)
        self._by_run[claim.run_id] = execution
        if claim.must_close:
            self._on_finished(self._work.lost(claim))
            return
        self._load.add(claim, 1)
        execution.task = asyncio.create_task(self._execute(execution))
        self._look_at_leases(lease_ends)

    async def _execute(self, execution: Execution[C]) -> None:
        claim = execution.claim
        present_claim.set(claim)  # in this task alone
        try:
            started_at = await self._wait_for_slot(claim)
            if started_at is None:
                await self._give_back([claim])
                return
            if self._stop.asked.is_set():
                return  # not sent: it is given back
            if asyncio.get_running_loop().time() >= execution.lease_ends:
                self.drop(claim, "run.lease_lost")
                return
            execution.started_at = started_at
            self._emit("run.started", claim, slot_at=claim.slot_at, attempt=claim.attempt)
            self._on_finished(await self._perform(claim, started_at))
        except asyncio.CancelledError:
            if execution.lost:
                self.drop(claim, "run.lease_lost")
            elif self._stop.at_once.is_set() and execution.started_at is not None:
                self._on_finished(self._work.stopped(claim, execution.started_at))
            else:
                raise
        finally:
            self._load.remove(claim)

    async def _wait_for_slot(self, claim: Leased) -> datetime | None:
        """When it starts; None where it may not. It never starts early: the clock is read again
        after every sleep. After the clock stepped back, only a retry starts, whose slot had come
        before."""
        while (left := claim.slot_at - (now := self._clock.now())) > timedelta(0):
            if left > CLOCK_STEP:
                return now if claim.attempt > 1 else None
            await self._clock.sleep(left)
        return now

    async def _perform(self, claim: C, started_at: datetime) -> F:
        try:
            return await self._work.execute(claim, started_at)
        except (Exception, asyncio.CancelledError) as error:  # a broken one must not lose the slot
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from error  # it was us who ended it
            return self._work.broken(claim, started_at, error_text(error))

    def drop(self, claim: Leased, why: str) -> None:
        self.forget(claim)
        self._emit(why, claim, slot_at=claim.slot_at)

    def forget(self, claim: Leased) -> None:
        execution = self._by_run.get(claim.run_id)
        if execution is not None and execution.claim.epoch == claim.epoch:  # none that came after
            del self._by_run[claim.run_id]

    # --- Leases ---------------------------------------------------------------------------

    def hold(self, execution: Execution[C], lease_ends: float) -> None:
        """Its lease now ends then, and with it the request."""
        execution.lease_ends = lease_ends
        self._look_at_leases(lease_ends)

    def _look_at_leases(self, at: float) -> None:
        """At the latest then. One timer serves all: one for each would cost each run some time."""
        if at < self._looks_at:
            if self._lease_timer is not None:
                self._lease_timer.cancel()
            self._looks_at = at
            self._lease_timer = asyncio.get_running_loop().call_at(
                at, self._end_what_lost_its_lease
            )

    def _end_what_lost_its_lease(self) -> None:
        now, self._looks_at = asyncio.get_running_loop().time(), inf
        present = [execution for execution in self._by_run.values() if not execution.is_over]
        for execution in present:
            if execution.lease_ends > now:
                self._look_at_leases(execution.lease_ends)
            elif execution.started_at is not None:  # else it looks itself, before it starts
                execution.lose()

    # --- Stop -----------------------------------------------------------------------------

    async def drain(self, grace: timedelta) -> None:
        """Give back what was not sent, then wait for the rest until the grace ends or a stop at
        once is asked for; what is left is cancelled."""
        giving_back = asyncio.create_task(self._give_back_unsent())
        at_once = asyncio.create_task(self._stop.at_once.wait())
        deadline = asyncio.get_running_loop().time() + grace.total_seconds()
        while running := [task for task in (giving_back, *self.tasks()) if not task.done()]:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0 or at_once.done():
                break
            first = asyncio.FIRST_COMPLETED
            await asyncio.wait([*running, at_once], timeout=left, return_when=first)
        await end_all([at_once])
        self._stop.at_once.set()
        await end_all([giving_back, *self.tasks()])

    async def _give_back_unsent(self) -> None:
        waiting = [one for one in self._by_run.values() if one.task and not one.started_at]
        await end_all(one.task for one in waiting if one.task)
        unsent = [one.claim for one in waiting if not one.started_at]
        if unsent:
            await self._give_back(unsent)
