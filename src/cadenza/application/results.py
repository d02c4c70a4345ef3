"""Results on their way into the store: kept and tried again until it has said yes.

Those that come together are stored together. Where one of them does not fit, each goes by itself,
so that a bad result holds back no other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Generic, TypeVar
from uuid import UUID

from cadenza.application.ports.claims import Finished, FinishReport, Leased, Stores
from cadenza.application.ports.clock import Clock
from cadenza.application.sanitizing import error_text
from cadenza.application.waiting import until_set
from cadenza.domain.errors import StoreUnavailable

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
        self._arrived = asyncio.Event()
        self._stored = asyncio.Event()
        self.are_owed = False  # the store refused some: what is claimed now may be what we owe

    def add(self, finished: F) -> None:
        self._waiting.append(finished)
        self._arrived.set()

    @property
    def has_room(self) -> bool:
        return not self.are_owed and len(self._waiting) < self._options.unsaved

    async def store_forever(self, retry: Retry) -> None:
        while True:
            await self._arrived.wait()
            await retry(self.store_once)
            if not self._waiting:
                self._arrived.clear()
            if len(self._waiting) < self._options.enough:  # the next ones are stored together
                await self._clock.sleep(self._options.gather)

    async def store_once(self) -> int:
        batch = self._waiting[: self._options.finish_batch]
        if not batch:
            return 0
        try:
            report = await self._store(batch)
        except StoreUnavailable:
            self.are_owed = True
            raise
        self.are_owed = False
        del self._waiting[: len(batch)]
        for finished in batch:
            self._on_stored(finished, finished.claim.run_id in report.late)
        self._on_batch(report)
        self._stored.set()
        return len(batch)

    async def wait_until_stored(self, at_most: timedelta) -> None:
        """A database that is gone must not hold a worker for ever."""
        while self._waiting:
            self._stored.clear()
            before = len(self._waiting)
            await until_set(self._stored, at_most=at_most)
            if len(self._waiting) == before:
                break

    async def _store(self, batch: Sequence[F]) -> FinishReport:
        """In one transaction; where the store cannot take them all, each in its own."""
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
        return FinishReport(late, min(due, default=None))

    async def _store_unfit(self, finished: F, error: Exception) -> FinishReport:
        """Without what it brought; where even that fails, its lease ends and the slot is closed."""
        why = f"its result could not be stored: {error_text(error)}"
        try:
            return await self._queue.finish([self._unfit(finished, why)])
        except StoreUnavailable:
            raise
        except Exception as second:  # noqa: BLE001 - nor may a bad endpoint
            self._on_unsaved(finished.claim, error_text(second))
            return FinishReport(late=frozenset([finished.claim.run_id]))
