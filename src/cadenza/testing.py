"""Your program in simulated time: the same decorators, hours in milliseconds, no server.

    def test_a_deep_queue_is_watched_closely(simulate):
        shop = simulate(app)
        shop.advance("1h")
        assert len(shop.runs(queue_depth)) == 60

`simulate` is a pytest fixture that comes with Cadenza. Functions run on the loop of the simulation:
what they sleep takes simulated time; nothing may come from outside.
"""

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from types import TracebackType
from typing import Any, TypeVar

from cadenza.adapters.functions.dispatcher import FunctionDispatcher
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.simulated.time import SimulatedClock, SimulatedLoop
from cadenza.app import Cadenza
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner
from cadenza.application.ports.store import Channel
from cadenza.application.programs import Reconciled
from cadenza.application.quotas import Quotas
from cadenza.application.scheduler import SchedulerOptions
from cadenza.application.waiting import end_all
from cadenza.domain.run import Run
from cadenza.program.control import Written, duration_of
from cadenza.program.function import Function
from cadenza.roots.brain import rules_brain
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.program_dependencies import CRON, declared, make_programs, make_worker

__all__ = ["START", "Simulation"]

START = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)  # a Monday
T = TypeVar("T")


class Simulation:
    """A program that lives in simulated time, between one `advance` and the next stands still."""

    def __init__(self, app: Cadenza, start: datetime = START, seed: int = 1) -> None:
        self._app = app
        self._chance = SeededChance(seed)
        self._clock = SimulatedClock(start)
        self._tables = Tables(self._clock, self._chance.new_id)
        self._stores = MemoryStores(self._tables)
        self._runner = asyncio.Runner(loop_factory=SimulatedLoop)
        self._life = AsyncExitStack()
        self.started: Reconciled = self.call(self._life.enter_async_context(self._living()))

    def advance(self, duration: Written) -> None:
        """Let so much time pass."""
        self.call(self._clock.sleep(duration_of("duration", duration)))

    def call(self, steering: Coroutine[Any, Any, T]) -> T:
        """Steer a function at this instant: `shop.call(queue_depth.run_now())`."""
        return self._runner.run(steering)

    @property
    def now(self) -> datetime:
        async def now() -> datetime:
            return self._clock.now()

        return self.call(now())

    def runs(self, function: Function[..., Any]) -> list[Run]:
        """By slot, oldest first: when, why, how it ended, and what it returned."""
        ids = {
            row.endpoint.id
            for row in self._tables.endpoints.values()
            if row.endpoint.name == function.name
        }
        runs = (run for run in self._tables.runs.values() if run.endpoint_id in ids)
        return sorted(runs, key=lambda run: run.slot_at)

    def gaps(self, function: Function[..., Any]) -> list[timedelta]:
        """From slot to slot."""
        slots = [run.slot_at for run in self.runs(function)]
        return [later - earlier for earlier, later in pairwise(slots)]

    def restart(self, app: Cadenza | None = None) -> None:
        """End the program and start it again, perhaps another version of it, on what is stored."""
        self.call(self._life.aclose())
        self._app = app or self._app
        self.started = self.call(self._life.enter_async_context(self._living()))

    def close(self) -> None:
        self.call(self._life.aclose())
        self._runner.close()

    def __enter__(self) -> "Simulation":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @asynccontextmanager
    async def _living(self) -> AsyncGenerator[Reconciled]:
        declarations, store, stores = self._app.declarations, self._stores.store, self._stores
        prices = LoadedPrices(self._clock, {})
        programs = make_programs(
            store, stores.accounts, stores.billing, prices, self._chance.new_id
        )
        control, reconciled = await declared(
            declarations, programs, stores.catalogue, stores.steering, None
        )
        log, calls = EventLog(), FunctionDispatcher(declarations.functions, self._clock)
        queue = ClaimedRuns(stores.claims, store, CRON)
        at_once = SchedulerOptions(gather=timedelta(0))  # nothing is cheaper here in company
        worker = make_worker(declarations, "worker", queue, calls, self._clock, log, at_once)
        quota, new_id = Quotas(store, self._chance.new_id), self._chance.new_id
        planner = Planner(
            rules_brain(), store, stores.analysis_queue, quota, self._clock, CRON, log, new_id
        )
        self._tables.listen(Channel.DUE, worker.wake)
        self._tables.listen(Channel.FINISHED, planner.wake)
        declarations.control = control
        tasks = [asyncio.create_task(worker.run()), asyncio.create_task(planner.run())]
        try:
            yield reconciled
        finally:
            declarations.control = None
            worker.stop()
            planner.stop()
            await asyncio.wait(tasks)
            await end_all(tasks)
