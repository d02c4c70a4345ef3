"""Asking again for what a target accepted and has not done yet: how often, and until what."""

import asyncio
from collections.abc import Coroutine, Iterator
from datetime import timedelta
from typing import Any, TypeVar

from aiohttp import ClientConnectionError, ClientPayloadError

ACCEPTED_STATUS = 202
NOT_YET = frozenset((202, 429, 502, 503, 504))  # busy, or restarting: that is no result
PASSING = (ClientConnectionError, ClientPayloadError, OSError)
FIRST_GAP, LONGEST_GAP = 1.0, 30.0  # seconds
LONGEST_WAIT = 300.0  # that a target may ask for
A = TypeVar("A")
B = TypeVar("B")


def poll_gaps() -> Iterator[float]:
    gap = FIRST_GAP
    while True:
        yield gap
        gap = min(2 * gap, LONGEST_GAP)


def poll_gap(usual: float, asked_for: timedelta | None) -> float:
    """As the target asks, within bounds."""
    if asked_for is None:
        return usual
    return min(max(asked_for.total_seconds(), FIRST_GAP), LONGEST_WAIT)


async def first_of(one: Coroutine[Any, Any, A], other: Coroutine[Any, Any, B]) -> A | B:
    """Whichever ends first; the other is given up."""
    first, second = asyncio.create_task(one), asyncio.create_task(other)
    try:
        await asyncio.wait([first, second], return_when=asyncio.FIRST_COMPLETED)
        return first.result() if first.done() else second.result()
    finally:
        for task in (first, second):
            task.cancel()
        await asyncio.wait([first, second])
