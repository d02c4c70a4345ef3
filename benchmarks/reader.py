"""A client of its own for many reads a second: it shares two cores with what it measures, and a
whole HTTP client would take a good part of them."""

import asyncio
from asyncio import LifoQueue
from typing import cast

CONNECTIONS = 100


class Connection(asyncio.Protocol):
    """One request at a time, over a connection that stays open."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._answer: asyncio.Future[int] | None = None

    async def get(self, path: str, headers: dict[str, str]) -> int:
        """The status, when all of the answer is here."""
        lines = [f"GET {path} HTTP/1.1", "Host: api", *(f"{k}: {v}" for k, v in headers.items())]
        self._answer = asyncio.get_running_loop().create_future()
        self._read, self._length = bytearray(), -1
        self._transport.write("\r\n".join([*lines, "", ""]).encode())
        return await self._answer

    def data_received(self, data: bytes) -> None:
        self._read += data
        if self._length < 0 and (end := self._read.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._read[:end]).lower()
            _, _, length = head.partition(b"content-length: ")
            self._length = end + 4 + int(length.split(b"\r\n")[0])
        if self._answer is not None and 0 <= self._length <= len(self._read):
            self._answer.set_result(int(self._read[9:12]))
            self._answer = None

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None:
            self._answer.set_exception(exc or ConnectionError("closed while it answered"))


class Reader:
    """So many connections; who finds none free waits for one."""

    def __init__(self) -> None:
        self._free: LifoQueue[Connection] = LifoQueue()

    async def open(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            _, connection = await loop.create_connection(Connection, host, port)
            self._free.put_nowait(connection)

    async def get(self, path: str, headers: dict[str, str]) -> int:
        connection = await self._free.get()
        try:
            return await connection.get(path, headers)
        finally:
            self._free.put_nowait(connection)
