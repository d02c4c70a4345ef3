"""Several planners in one program, one for each brain: they start, wake and end together."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta

from cadenza.application.planner import Planner
from cadenza.application.waiting import end_all
from cadenza.domain.errors import StoreUnavailable


class Planners:
    def __init__(self, planners: Sequence[Planner], stop_grace: timedelta) -> None:
        self._planners = planners
        self._stop_grace = stop_grace
        self._stopping = asyncio.Event()
        self._running: list[asyncio.Task[None]] = []

    async def run(self) -> None:
        """Until stopped; sessions may end within the grace, and what is left of them is saved."""
        self._running = [asyncio.create_task(planner.run()) for planner in self._planners]
        stopping = asyncio.create_task(self._stopping.wait())
        tasks = [*self._running, stopping]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            self._stop_each()
            await asyncio.wait(self._running, timeout=self._stop_grace.total_seconds())
        finally:
            try:
                await end_all(tasks)
            finally:
                for planner in self._planners:
                    with suppress(StoreUnavailable):
                        await planner.clean_up()

    def wake(self) -> None:
        for planner in self._planners:
            planner.wake()

    def stop(self) -> None:
        """Let sessions under way end; a second call ends them at once."""
        if self._stopping.is_set():
            for task in self._running:
                task.cancel()
        self._stopping.set()
        self._stop_each()

    def _stop_each(self) -> None:
        for planner in self._planners:
            planner.stop()
