"""Results on their way into the store: kept and tried again until they are stored.

Results that arrive together are stored together. Where a batch fails, each is stored by itself, so
that one bad result does not hold back the others.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar
from uuid import UUID

from cadenza.application.ports.claims import Finished, FinishReport, Leased, Stores
from cadenza.application.ports.clock import Clock
from cadenza.application.sanitizing import error_text
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.target import ANYWHERE

SLOW_STORE = 2.0  # seconds that results are under way: until they are stored, nothing is claimed
LOCKED_AGAIN = timedelta(milliseconds=100)  # where all that wait are of rows others have locked
F = TypeVar("F", bound=Finished)
Retry = Callable[[Callable[[], Awaitable[int]]], Awaitable[int]]


@dataclass(frozen=True, slots=True)
class SchedulerOptions:
    in_flight: int = 200
    per_tenant: int = 100
    per_host: int = 20
    lease: timedelta = timedelta(seconds=30)
    ahead: timedelta = timedelta(milliseconds=250)  # of their slots, runs may be claimed
    tick: timedelta = timedelta(seconds=5)
    sweep_every: timedelta = timedelta(minutes=5)
    stop_grace: timedelta = timedelta(seconds=30)
    retry_store_after: timedelta = timedelta(seconds=1)
    gather: timedelta = timedelta(milliseconds=20)  # that a slot or a result waits for company
    finish_batch: int = 500
    enough: int = 100  # results that wait for no more company
    unsaved: int = 600  # results, each with its body, that may wait for the store
    runs_on: str = ANYWHERE  # of what is due, that which these workers claim

    @property
    def store_limit(self) -> timedelta:
        """How long a worker waits for the store: short enough that another connection, or another
        worker, can still act before the lease ends."""
        return max(timedelta(seconds=3), self.lease / 3)


class Results(Generic[F]):
    def __init__(
        self,
        queue: Stores[F],
        unfit: Callable[[F, str], F],
        clock: Clock,
        options: SchedulerOptions,
        *,
        on_stored: Callable[[F, bool], None],  # and whether it came too late to count
        on_unsaved: Callable[[Leased, str], None],
        on_batch: Callable[[FinishReport], None],
    ) -> None:
        self._queue = queue
        self._unfit = unfit
        self._clock = clock
        self._options = options
        self._on_stored = on_stored
        self._on_unsaved = on_unsaved
        self._on_batch = on_batch
        self._waiting: list[F] = []
        self._storing_since: float | None = None
        self._batch = options.finish_batch
        self._arrived = asyncio.Event()
        self._stored = asyncio.Event()
        self.are_owed = False  # the store refused some: what is claimed now may be what we owe

    def add(self, finished: F) -> None:
        self._waiting.append(finished)
        self._arrived.set()

    @property
    def has_room(self) -> bool:
        if self.are_owed or len(self._waiting) >= self._options.unsaved:
            return False
        since, now = self._storing_since, asyncio.get_running_loop().time()
        return since is None or now - since < SLOW_STORE

    @property
    def owed(self) -> frozenset[UUID]:
        """Runs whose results the store did not take. Their leases are not renewed, so that another
        worker can take them over."""
        return (
            frozenset(run.claim.run_id for run in self._waiting) if self.are_owed else frozenset()
        )

    async def store_forever(self, retry: Retry) -> None:
        while True:
            await self._arrived.wait()
            stored = await retry(self.store_once)
            if not self._waiting:
                self._arrived.clear()
            elif not stored:
                await self._clock.sleep(LOCKED_AGAIN)
            if len(self._waiting) < self._options.enough:  # the next ones are stored together
                await self._clock.sleep(self._options.gather)

    async def store_once(self) -> int:
        batch = self._next_batch()
        if not batch:
            return 0
        self._storing_since = asyncio.get_running_loop().time()
        try:
            report = await self._store(batch)
        except StoreUnavailable:
            self.are_owed = True
            self._batch = max(1, self._batch // 2)  # it may have been too much for the time
            raise
        finally:
            self._storing_since = None
        stored = [run for run in batch if run.claim.run_id not in report.locked]
        locked = [run for run in batch if run.claim.run_id in report.locked]
        self._waiting = [*self._waiting[len(batch) :], *locked]  # it holds up no other
        self._batch = self._options.finish_batch
        self.are_owed = self.are_owed and bool(self._waiting)
        for finished in stored:
            self._on_stored(finished, finished.claim.run_id in report.late)
        self._on_batch(report)
        self._stored.set()
        return len(stored)

    def _next_batch(self) -> list[F]:
        """At most one result per run. A worker that lost a lease and then claimed the same run
        again may have two; a batch that is fenced by run would mistake the older one for the
        newer."""
        batch = self._waiting[: self._batch]
        if len({finished.claim.run_id for finished in batch}) == len(batch):
            return batch
        run_ids = [finished.claim.run_id for finished in batch]
        repeated = next(n for n, run_id in enumerate(run_ids) if run_id in run_ids[:n])
        return batch[:repeated]

    async def wait_until_stored(self, at_most: timedelta) -> None:
        """Bounded: a database that is gone must not keep a worker from ending."""
        with suppress(TimeoutError):
            async with asyncio.timeout(at_most.total_seconds()):
                while self._waiting:
                    self._stored.clear()
                    await self._stored.wait()

    async def _store(self, batch: Sequence[F]) -> FinishReport:
        """Store the batch in one transaction; where that fails, each result in its own."""
        try:
            return await self._queue.finish(batch)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one bad result must not hold back the others
            if len(batch) == 1:
                return await self._store_unfit(batch[0], error)
        reports = [await self._store([finished]) for finished in batch]
        due = (report.next_due_at for report in reports if report.next_due_at is not None)
        late = frozenset[UUID]().union(*(report.late for report in reports))
        locked = frozenset[UUID]().union(*(report.locked for report in reports))
        return FinishReport(late, min(due, default=None), locked)

    async def _store_unfit(self, finished: F, error: Exception) -> FinishReport:
        """Store it without its contents; where even that fails, its lease ends and the slot is
        closed later."""
        why = f"its result could not be stored: {error_text(error)}"
        try:
            return await self._queue.finish([self._unfit(finished, why)])
        except StoreUnavailable:
            raise
        except Exception as second:  # noqa: BLE001 - nor may a bad endpoint
            self._on_unsaved(finished.claim, error_text(second))
            return FinishReport(late=frozenset([finished.claim.run_id]))
