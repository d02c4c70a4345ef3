"""Waiting for the first of several things, and ending tasks, in one way everywhere."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Any


async def first_of(*events: asyncio.Event, at_most: timedelta) -> None:
    """Until one of the events is set, or the time is over."""
    waits = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waits, timeout=at_most.total_seconds(), return_when=asyncio.FIRST_COMPLETED)
    await end_all(waits)


async def end_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel, wait until each has ended, and raise the error that one of them ended with."""
    ending = list(tasks)
    for task in ending:
        task.cancel()
    for result in await asyncio.gather(*ending, return_exceptions=True):
        if isinstance(result, Exception):
            raise result
