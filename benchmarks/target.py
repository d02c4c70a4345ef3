"""A fast local HTTP target in a process of its own, that counts what it is sent.

Any path answers `{"depth": 3}`; `/stats` answers how many requests came and how many keys twice.
"""

import asyncio
import json
import multiprocessing
import socket
from collections.abc import Generator
from contextlib import contextmanager
from typing import ClassVar, cast
from urllib.request import urlopen

import uvloop

BODY = b'{"depth": 3}'
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (
    len(BODY),
    BODY,
)


class _Target(asyncio.Protocol):
    keys: ClassVar[set[bytes]] = set()
    requests: ClassVar[int] = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._rest = b""

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while b"\r\n\r\n" in self._rest:
            head, self._rest = self._rest.split(b"\r\n\r\n", 1)
            self._answer(head)

    def _answer(self, head: bytes) -> None:
        if head.startswith(b"GET /stats"):
            stats = json.dumps({"requests": _Target.requests, "keys": len(_Target.keys)}).encode()
            self._transport.write(
                b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(stats), stats)
            )
            return
        if head.startswith(b"GET /reset"):
            _Target.keys, _Target.requests = set(), 0
        else:
            begins = head.find(b"Idempotency-Key: ")
            if begins >= 0:
                _Target.requests += 1
                _Target.keys.add(head[begins + 17 : head.find(b"\r\n", begins)])
        self._transport.write(ANSWER)


def _serve(listening: socket.socket) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(_Target, sock=listening)
        await server.serve_forever()

    uvloop.run(forever())


class RunningTarget:
    def __init__(self, port: int, pid: int) -> None:
        self.url = f"http://127.0.0.1:{port}"
        self.pid = pid

    def reset(self) -> None:
        urlopen(f"{self.url}/reset", timeout=10).read()

    def stats(self) -> dict[str, int]:
        return json.loads(urlopen(f"{self.url}/stats", timeout=10).read())

    @property
    def duplicates(self) -> int:
        stats = self.stats()
        return stats["requests"] - stats["keys"]


@contextmanager
def running_target() -> Generator[RunningTarget]:
    listening = socket.create_server(("127.0.0.1", 0), backlog=1024)
    process = multiprocessing.get_context("fork").Process(
        target=_serve, args=(listening,), daemon=True
    )
    process.start()
    try:
        yield RunningTarget(listening.getsockname()[1], process.pid or 0)
    finally:
        process.terminate()
        process.join()
