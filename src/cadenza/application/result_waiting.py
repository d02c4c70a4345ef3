"""Waiting for reported results: one look at the store for all runs of a worker that wait."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar
from uuid import UUID

from cadenza.application.ports.awaited_results import ResultReads
from cadenza.application.ports.clock import Clock
from cadenza.application.run_results import RunResults
from cadenza.application.waiting import until_set
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.result import Report
from cadenza.domain.run import Claim

LOOK_EVERY = timedelta(seconds=5)  # also where no NOTIFY came through
RETRY_AFTER = timedelta(seconds=1)
T = TypeVar("T")


class WaitingResults:
    def __init__(self, results: RunResults, reads: ResultReads, clock: Clock) -> None:
        self._results = results
        self._reads = reads
        self._clock = clock
        self._waiting: dict[UUID, asyncio.Future[Report]] = {}
        self._woken = asyncio.Event()
        self._looking: asyncio.Task[None] | None = None

    def wake(self) -> None:
        """Something was reported, perhaps to us."""
        self._woken.set()

    async def expect(self, claim: Claim) -> tuple[str, Report | None]:
        return await self._retry(lambda: self._results.expect(claim))

    async def close(self, run_id: UUID) -> Report | None:
        return await self._retry(lambda: self._results.close(run_id))

    async def report(self, run_id: UUID, token: str, report: Report) -> None:
        """That came over a broker."""
        await self._results.report(run_id, token, report)

    async def wait(self, run_id: UUID) -> Report:
        """Until something is reported; its deadline is the caller's."""
        future = asyncio.get_running_loop().create_future()
        self._waiting[run_id] = future
        self._woken.set()  # it may have been reported before we waited
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            return await future
        finally:
            if self._waiting.get(run_id) is future:
                del self._waiting[run_id]
            self._woken.set()

    async def end(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.wait([self._looking])

    async def _look(self) -> None:
        while self._waiting:
            await until_set(self._woken, at_most=LOOK_EVERY)
            self._woken.clear()
            if not self._waiting:
                return
            try:
                reports = await self._reads.reports_of(list(self._waiting))
            except StoreUnavailable:
                await self._clock.sleep(RETRY_AFTER)
                self._woken.set()
                continue
            for run_id, report in reports.items():
                future = self._waiting.get(run_id)
                if future is not None and not future.done():
                    future.set_result(report)

    async def _retry(self, step: Callable[[], Awaitable[T]]) -> T:
        while True:
            try:
                return await step()
            except StoreUnavailable:
                await self._clock.sleep(RETRY_AFTER)
