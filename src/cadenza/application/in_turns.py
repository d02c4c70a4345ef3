"""Thousands of things that are made on the event loop, which others need, too."""

import asyncio
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
A_TURN = 100


async def in_turns(things: Iterable[T]) -> list[T]:
    """All that a generator makes; others are served after every hundred."""
    made: list[T] = []
    for number, thing in enumerate(things, 1):
        made.append(thing)
        if number % A_TURN == 0:
            await asyncio.sleep(0)
    return made
