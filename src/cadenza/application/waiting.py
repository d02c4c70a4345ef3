"""Waiting for an event, and ending tasks, in one way everywhere."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any


async def until_set(event: asyncio.Event, at_most: timedelta) -> None:
    """Until the event is set, or the time is over."""
    with suppress(TimeoutError):
        async with asyncio.timeout(at_most.total_seconds()):
            await event.wait()


async def end_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel, wait until each has ended, and raise the error that one of them ended with."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    for result in await asyncio.gather(*ending, return_exceptions=True):
        if isinstance(result, Exception):
            raise result
