"""In the worker: from the connections that graphs open on a node to the run gateway."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from cadenza.adapters.graphs.ray.relay import CHUNK


class Tunnel:
    """`call` is how a host is asked; it raises when its node is lost."""

    def __init__(self, call: Callable[..., Awaitable[Any]]) -> None:
        self._call = call
        self._carrying: set[asyncio.Task[None]] = set()

    def open(self, connection: int, gateway: str | None) -> None:
        task = asyncio.create_task(self._carry(connection, gateway))
        self._carrying.add(task)
        task.add_done_callback(self._carrying.discard)

    async def close(self) -> None:
        for task in self._carrying:
            task.cancel()
        if self._carrying:
            await asyncio.wait(self._carrying)

    async def _carry(self, connection: int, gateway: str | None) -> None:
        """Until either side hangs up; then the other is hung up, too."""
        with suppress(Exception):  # of one connection; a lost node is seen elsewhere
            try:
                if gateway is not None:
                    await self._connect(connection, gateway)
            finally:
                await self._call("hang_up", connection)

    async def _connect(self, connection: int, gateway: str) -> None:
        url = urlsplit(gateway)
        reader, writer = await asyncio.open_connection(url.hostname, url.port)
        ways = [
            asyncio.create_task(self._there(connection, writer)),
            asyncio.create_task(self._back(connection, reader)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()

    async def _there(self, connection: int, writer: asyncio.StreamWriter) -> None:
        while data := await self._call("receive", connection):
            writer.write(data)
            await writer.drain()

    async def _back(self, connection: int, reader: asyncio.StreamReader) -> None:
        while data := await reader.read(CHUNK):
            if not await self._call("deliver", connection, data):
                return
