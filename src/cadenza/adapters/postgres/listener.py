"""NOTIFY: a hint that something may be due. Work goes on without it, a little later."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import asyncpg

from cadenza.adapters.postgres.database import CONNECT_SECONDS, PASSING

RETRY_SECONDS = 1.0


class Listener:
    """A connection of its own that calls back for each channel, and returns when it is lost."""

    def __init__(self, url: str, callbacks: Mapping[str, Callable[[], None]]) -> None:
        self._url = url
        self._callbacks = callbacks

    async def run(self) -> None:
        while True:
            try:
                await self._listen()
            except PASSING:
                await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self) -> None:
        connection = await asyncpg.connect(self._url, timeout=CONNECT_SECONDS)
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            for channel in self._callbacks:
                await connection.add_listener(channel, self._heard)
            for callback in self._callbacks.values():
                callback()  # whatever was said while nobody listened
            await lost.wait()
        finally:
            connection.terminate()

    def _heard(self, _connection: Any, _pid: int, channel: str, _payload: object) -> None:
        self._callbacks[channel]()
