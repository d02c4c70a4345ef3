"""Waiting for events, and ending tasks, in one way everywhere."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

OVER = "it is over"  # what a worker says to a task that it cancels


@dataclass(slots=True)
class Stop:
    """Asked once: what is in execution may end by itself. Asked twice: it ends at once."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    at_once: asyncio.Event = field(default_factory=asyncio.Event)

    def ask(self) -> None:
        if self.asked.is_set():
            self.at_once.set()
        self.asked.set()


async def until_set(event: asyncio.Event, at_most: timedelta) -> None:
    """Wait until the event is set, at most so long."""
    with suppress(TimeoutError):
        async with asyncio.timeout(at_most.total_seconds()):
            await event.wait()


async def end_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel all, wait until each has ended, and raise the exception that one of them ended
    with."""
    ending = list(tasks)
    for task in ending:
        task.cancel(OVER)
    for result in await asyncio.gather(*ending, return_exceptions=True):
        if isinstance(result, Exception):
            raise result
