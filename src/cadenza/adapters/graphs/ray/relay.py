"""On a node: an address on loopback where graphs reach the run gateway of their worker.

What they send is fetched by the worker, and what the gateway answers is brought by it, through
Ray: nothing listens on a network, and no key of a provider is ever on the node.
"""

import asyncio
from contextlib import suppress

HOST = "127.0.0.1"
CHUNK = 64 * 1024
MAX_CONNECTIONS = 1000


class Relay:
    def __init__(self) -> None:
        self._connections: dict[int, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = {}
        self._new: list[int] = []
        self._has_new = asyncio.Event()
        self._last = 0

    async def start(self) -> str:
        server = await asyncio.start_server(self._accept, HOST, 0, limit=CHUNK)
        return f"http://{HOST}:{server.sockets[0].getsockname()[1]}"

    async def opened(self, seconds: float) -> list[int]:
        """Connections that nobody has asked about; waits for one."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_new.wait(), seconds)
        self._has_new.clear()
        numbers, self._new = self._new, []
        return numbers

    async def read(self, number: int) -> bytes:
        """What a graph has sent; nothing at its end."""
        if number not in self._connections:
            return b""
        reader, _ = self._connections[number]
        try:
            return await reader.read(CHUNK)
        except ConnectionError:
            return b""

    async def write(self, number: int, data: bytes) -> bool:
        """For a graph that reads slowly this takes long; False where it is gone."""
        if number not in self._connections:
            return False
        _, writer = self._connections[number]
        try:
            writer.write(data)
            await writer.drain()
        except ConnectionError:
            return False
        return True

    def close(self, number: int) -> None:
        if number in self._connections:
            _, writer = self._connections.pop(number)
            writer.close()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= MAX_CONNECTIONS:
            writer.close()
            return
        self._last += 1
        self._connections[self._last] = reader, writer
        self._new.append(self._last)
        self._has_new.set()
