"""The store of a life: the memory store behind a wire that fails, and a watch on what it commits.

A call is served outside of the worker that makes it: a worker that dies or freezes after it has
asked does not take back what the store has heard.
"""

import asyncio
from collections.abc import Sequence
from contextvars import Context
from datetime import timedelta
from typing import Any, TypeVar

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, FinishReport, Renewal
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.run import Claim, FinishedRun
from tests.chaos.history import EndpointVersion, RunVersion
from tests.factories import CRON

K = TypeVar("K")
V = TypeVar("V")


class Watched(dict[K, V]):
    """Remembers which keys were written."""

    def __init__(self) -> None:
        super().__init__()
        self.written: dict[K, None] = {}

    def __setitem__(self, key: K, value: V) -> None:
        self.written[key] = None
        super().__setitem__(key, value)

    def pop(self, key: K, *default: Any) -> Any:
        self.written[key] = None
        return super().pop(key, *default)


class Journal:
    """What was committed, in order. No transaction in memory is ever seen half-way."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.endpoints: list[EndpointVersion] = []
        self.runs: list[RunVersion] = []
        tables.endpoints = Watched()
        tables.runs = Watched()

    def note(self) -> None:
        now = self._tables.clock.now()
        endpoints, runs = self._tables.endpoints, self._tables.runs
        assert isinstance(endpoints, Watched)
        assert isinstance(runs, Watched)
        for endpoint_id in endpoints.written:
            row = endpoints[endpoint_id]
            self.endpoints.append(EndpointVersion(now, row.endpoint, row.epoch))
        for run_id in runs.written:
            self.runs.append(RunVersion(now, run_id, runs.get(run_id)))
        endpoints.written.clear()
        runs.written.clear()


class Wire:
    """Between one worker and the store."""

    def __init__(self) -> None:
        self.fault: str | None = None
        self.refused = 0


class WiredQueue:
    def __init__(
        self,
        queue: ClaimedRuns,
        journal: Journal,
        wire: Wire,
        chance: SeededChance,
        limit: timedelta,
    ) -> None:
        self._queue = queue
        self._journal = journal
        self._wire = wire
        self._chance = chance
        self._limit = limit.total_seconds()
        self._asked = 0

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[Claim]:
        return await self._ask("claim_due", request)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        return await self._ask("claim_lost", request)

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        return await self._ask("renew", claims, lease)

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        return await self._ask("finish", finished)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        return await self._ask("give_back", claims)

    async def _ask(self, method: str, *arguments: Any) -> Any:
        loop = asyncio.get_running_loop()
        serving = loop.create_task(self._serve(method, *arguments), context=Context())
        serving.add_done_callback(_look_at)
        try:
            async with asyncio.timeout(self._limit):
                return await asyncio.shield(serving)
        except TimeoutError as error:
            raise StoreUnavailable("the store says nothing") from error

    async def _serve(self, method: str, *arguments: Any) -> Any:
        self._asked += 1
        fault = self._wire.fault
        if fault == "fails":
            self._wire.refused += 1
            raise StoreUnavailable("the store is away")
        await asyncio.sleep(self._latency(fault, "there"))
        if self._wire.fault == "is silent":
            if self._chance.between(0, 1, "swallowed", self._asked) < 0.5:
                await self._done(method, *arguments)
            await asyncio.sleep(1e9)
        answer = await self._done(method, *arguments)
        await asyncio.sleep(self._latency(fault, "back"))
        if self._wire.fault == "loses answers":
            self._wire.refused += 1
            raise StoreUnavailable("the answer was lost")
        return answer

    async def _done(self, method: str, *arguments: Any) -> Any:
        answer = await getattr(self._queue, method)(*arguments)
        self._journal.note()
        return answer

    def _latency(self, fault: str | None, way: str) -> float:
        if fault == "is slow":
            return self._chance.between(0.1, 4, way, self._asked)
        return 0.001


def _look_at(task: asyncio.Task[Any]) -> None:
    """So that nobody complains about an error that nobody waited for."""
    if not task.cancelled():
        task.exception()


def new_queue(tables: Tables) -> ClaimedRuns:
    memory = MemoryStores(tables)
    return ClaimedRuns(memory.claims, memory.store, CRON)
