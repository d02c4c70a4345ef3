"""The receivers: an HTTP server in a process of its own, the second witness.

It answers as the path says and writes one line for each request into a log when that has ended:
answered, or its sender is gone. It is the provider of models of the graphs, too, and writes down
who asked.
"""

import asyncio
import json
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from time import time as wall_time  # noqa: TID251 - a witness has its own clock
from typing import IO, Any, cast

import uvloop

DRIP = 0.2
AGAIN = 7.0  # seconds


class Log:
    def __init__(self, file: IO[str]) -> None:
        self._file = file
        self._number = 0

    def next_number(self) -> int:
        self._number += 1
        return self._number

    def write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")


class Receiver(asyncio.Protocol):
    def __init__(self, log: Log, open_ones: set["Receiver"]) -> None:
        self._log = log
        self._open = open_ones
        self._rest = b""
        self._pending: dict[str, Any] | None = None
        self._timers: list[asyncio.TimerHandle] = []

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._open.add(self)

    def connection_lost(self, _error: Exception | None) -> None:
        self._open.discard(self)
        self.end()

    def data_received(self, data: bytes) -> None:
        self._rest += data
        while b"\r\n\r\n" in self._rest:
            head, rest = self._rest.split(b"\r\n\r\n", 1)
            first, *lines = head.decode("latin-1").split("\r\n")
            exact = dict(line.split(": ", 1) for line in lines if ": " in line)
            headers = {name.lower(): value.lower() for name, value in exact.items()}
            length = int(headers.get("content-length", 0))
            if len(rest) < length:
                return
            body, self._rest = rest[:length], rest[length:]
            if first.startswith("POST /models/"):
                self._think(body)
            else:
                self._ask(first, exact, headers)

    def _think(self, body: bytes) -> None:
        """An answer of a model, in OpenAI's words, to the key of a slot."""
        asked = json.loads(body)
        self._log.write({"asked": asked["messages"][-1]["content"]})
        message = {"role": "assistant", "content": "So it is."}
        answer = {
            "id": f"call-{self._log.next_number()}",
            "object": "chat.completion",
            "created": int(wall_time()),
            "model": asked["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 4, "total_tokens": 11},
        }
        self._reply(b"200 OK", json.dumps(answer).encode())

    def _ask(self, first: str, exact: dict[str, str], headers: dict[str, str]) -> None:
        self._pending = {
            "number": self._log.next_number(),
            "key": exact.get("Idempotency-Key", ""),
            "attempt": int(headers.get("cadenza-attempt", 0)),
            "began": wall_time(),
            "signature": exact.get("webhook-signature"),
            "signed_at": exact.get("webhook-timestamp"),
        }
        _, way, amount = first.split(" ")[1].split("/")[:3]
        self._answer_as(way, float(amount))

    def _answer_as(self, way: str, amount: float) -> None:
        assert self._pending is not None
        body = json.dumps({"delivery": self._pending["number"]}).encode()
        match way:
            case "fails":
                self._later(amount, lambda: self._reply(b"500 Broken", body))
            case "waits":
                after = b"\r\nRetry-After: 3"
                self._later(amount, lambda: self._reply(b"503 Busy" + after, body))
            case "hangs":
                pass
            case "drips":
                self._transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                self._drip()
            case "owes":  # whoever comes after the first may wait for what that one owes
                again = self._pending["attempt"] > 1
                self._later(AGAIN if again else amount, lambda: self._reply(b"200 OK", body))
            case "lies":
                self._later(amount, self._lie)
            case _:
                self._later(amount, lambda: self._reply(b"200 OK", body))

    def _later(self, delay: float, then: Callable[[], None]) -> None:
        if delay <= 0:
            then()
        else:
            self._timers.append(asyncio.get_running_loop().call_later(delay, then))

    def _reply(self, status: bytes, body: bytes) -> None:
        kind = b"\r\nContent-Type: application/json"
        head = b"HTTP/1.1 " + status + kind + b"\r\nContent-Length: %d\r\n\r\n" % len(body)
        self._transport.write(head + body)
        self.end()

    def _lie(self) -> None:
        self._transport.write(b"HTTP/9.9 OK maybe\r\nContent-Length: -3\r\n\r\n\xff\x00")
        self._transport.close()

    def _drip(self) -> None:
        self._transport.write(b" ")
        self._later(DRIP, self._drip)

    def end(self) -> None:
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._pending is not None:
            self._log.write({**self._pending, "ended": wall_time()})
            self._pending = None


async def serve(port_file: Path, log_file: Path) -> None:
    loop, stopping, open_ones = asyncio.get_running_loop(), asyncio.Event(), set[Receiver]()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    with log_file.open("w") as file:
        log = Log(file)
        server = await loop.create_server(
            lambda: Receiver(log, open_ones), "127.0.0.1", 0, backlog=1024
        )
        port_file.write_text(str(server.sockets[0].getsockname()[1]))  # noqa: ASYNC240 - at start
        await stopping.wait()
        for each in list(open_ones):
            each.end()


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1]), Path(sys.argv[2])))
