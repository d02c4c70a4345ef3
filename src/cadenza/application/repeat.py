"""A background loop: do something, wait, do it again; survives a store that is away."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

from cadenza.application.ports.clock import Clock
from cadenza.domain.errors import StoreUnavailable


async def repeat(
    step: Callable[[], Awaitable[object]],
    clock: Clock,
    every: timedelta,
    on_trouble: Callable[[StoreUnavailable], None],
) -> None:
    while True:
        try:
            await step()
        except StoreUnavailable as error:
            on_trouble(error)
        await clock.sleep(every)
