"""What is slow to make and the same for everybody: made when first asked for, beside the loop."""

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """However many ask together, it is made once."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: list[T] = []
        self._lock = asyncio.Lock()

    async def get(self) -> T:
        async with self._lock:
            if not self._made:
                self._made.append(await asyncio.to_thread(self._make))
        return self._made[0]
