"""Simulated time: an event loop that jumps to the next thing that happens instead of waiting.

Everything that sleeps or times out on this loop, ours or a library's, lives in simulated time, so
the simulation runs the very code that production runs.
"""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from contextvars import Context
from datetime import datetime, timedelta
from math import inf, nextafter
from typing import Any, TypeVar

T = TypeVar("T")


class NothingLeftToHappen(RuntimeError):
    """Every task waits for something that no timer and no other task will bring."""


class _JumpingSelector(selectors.DefaultSelector):
    """Waits for nothing, since nothing comes from outside: it only counts how far time jumped."""

    jumped = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise NothingLeftToHappen("every task waits, and no timer is set")
        self.jumped += max(0.0, timeout)
        return []


class SimulatedLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._jumping = _JumpingSelector()
        super().__init__(self._jumping)
        # Coarser than asyncio's: after half a year a float has no nanoseconds left, and a timer
        # that is due would wait for ever for time to pass it.
        self._clock_resolution = 1e-7
        self._next_free: dict[float, float] = {}
        self._many = 1000

    def time(self) -> float:
        return self._jumping.jumped

    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Timers with the same time fire in the order they were set: the heap would forget it."""
        at = self._next_free.get(when, when)
        self._next_free[when] = nextafter(at, inf)
        if len(self._next_free) > self._many:
            self._next_free = {k: v for k, v in self._next_free.items() if k >= self.time()}
            self._many = 1000 + 2 * len(self._next_free)
        return super().call_at(at, callback, *args, context=context)


class SimulatedClock:
    """The Clock port on a simulated loop. `step` moves the wall clock, not the passing of time."""

    def __init__(self, start: datetime) -> None:
        self._start = start
        self._stepped = timedelta(0)
        self._last = (-1.0, start)  # it is asked many times at each instant

    def now(self) -> datetime:
        passed = asyncio.get_running_loop().time()
        if passed != self._last[0]:
            since = timedelta(microseconds=round(passed * 1e6))
            self._last = (passed, self._start + self._stepped + since)
        return self._last[1]

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(max(0.0, duration.total_seconds()))

    def step(self, by: timedelta) -> None:
        self._stepped += by
        self._last = (-1.0, self._start)


def run_simulated(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        return runner.run(main)
