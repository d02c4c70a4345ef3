"""NOTIFY: a hint that something may be due. Work goes on without it, a little later."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from cadenza.adapters.postgres.database import PASSING
from cadenza.adapters.postgres.hosts import CONNECT_SECONDS, Hosts
from cadenza.application.waiting import until_set

NOT_HEARD = "NOTIFY does not arrive behind a pooler: this program looks by its tick"
HEAR_AGAIN = "set CADENZA_LISTEN_DATABASE_URL to the address of the server itself"
RETRY_SECONDS = 1.0
ASK_EVERY = timedelta(seconds=30)  # a network that only swallows never says that it is gone


class Listener:
    """A connection of its own that calls back for each channel, and returns when it is lost."""

    def __init__(self, url: str, callbacks: Mapping[str, Callable[[], None]]) -> None:
        self._hosts = Hosts(url)
        self._callbacks = callbacks

    async def run(self) -> None:
        while True:
            try:
                await self._listen()
            except PASSING:
                await asyncio.sleep(RETRY_SECONDS)

    async def _listen(self) -> None:
        connection = await self._hosts.connect()
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            for channel in self._callbacks:
                await connection.add_listener(channel, self._heard)
            for callback in self._callbacks.values():
                callback()  # whatever was said while nobody listened
            await until_set(lost, at_most=ASK_EVERY)
            while not lost.is_set():
                await connection.execute("SELECT 1", timeout=CONNECT_SECONDS)
                await until_set(lost, at_most=ASK_EVERY)
        finally:
            connection.terminate()

    def _heard(self, _connection: Any, _pid: int, channel: str, _payload: object) -> None:
        self._callbacks[channel]()
