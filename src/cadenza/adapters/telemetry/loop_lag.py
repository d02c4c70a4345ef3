"""How long the event loop is held up by those who do not give it back."""

import asyncio
from collections.abc import Callable

LOOK_EVERY = 0.25


async def measure_lag(observe: Callable[[float], None], every: float = LOOK_EVERY) -> None:
    loop = asyncio.get_running_loop()
    while True:
        asked = loop.time()
        await asyncio.sleep(every)
        observe(max(0.0, loop.time() - asked - every))
