"""Connections of clients: how long each may keep us waiting, and how many there may be.

A connection that waits for its client (for a head, for a body, for the next request, for what was
sent to be taken) has a deadline. Where there are too many, the one that has waited longest makes
room, and where all are at work a newcomer gets one of a few reserved places, in which only
`/healthz` is answered. The server leaves all of this to a proxy in front of it.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from ipaddress import IPv6Address, ip_address
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from cadenza.web.raw_answers import raw_problem, unavailable

MAX_HEAD = 96 * 1024  # bytes; what is over the documented 64 KiB and fits in here is told so
MAX_PIPELINE = 16  # requests that a client may send before it has its answers
MAX_CHUNKS = 10_000  # of one body; each costs as much as a hundred bytes, whatever it holds
HEALTH = b"/healthz"


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    in_all: int = 1000
    per_address: int = 200
    reserved: int = 50
    head_seconds: float = 10
    body_seconds: float = 60
    idle_seconds: float = 30
    take_seconds: float = 30  # that a client may take nothing of its answer
    look_seconds: float = 1.0  # how often deadlines are looked at
    is_proxy: Callable[[str], bool] = lambda _: False  # trusted; it speaks for many


class Waiting(StrEnum):
    """What a connection waits for; who waits in the first makes room first."""

    HEAD = "head"
    NEXT = "next"
    BODY = "body"
    TAKEN = "taken"


_MAKES_ROOM = (Waiting.HEAD, Waiting.NEXT, Waiting.BODY)


class Connections:
    """All of them, each in the order in which it began to wait."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._waiting: dict[Waiting, dict[GuardedProtocol, float]] = {kind: {} for kind in Waiting}
        self._seconds = {
            Waiting.HEAD: limits.head_seconds,
            Waiting.NEXT: limits.idle_seconds,
            Waiting.BODY: limits.body_seconds,
            Waiting.TAKEN: limits.take_seconds,
        }
        self._addresses: Counter[str] = Counter()
        self._open: set[GuardedProtocol] = set()
        self._reserved: set[GuardedProtocol] = set()
        self._timer: asyncio.TimerHandle | None = None

    def admit(self, connection: "GuardedProtocol") -> None:
        """In a place of its own, in one that another made room in, or in a reserved one."""
        address = connection.address
        if self._addresses[address] >= self.limits.per_address and not connection.is_proxy:
            has_room = self._make_room(address)
        else:
            has_room = len(self._open) < self.limits.in_all or self._make_room(None)
        if has_room:
            self._open.add(connection)
            self._addresses[address] += 1
        elif len(self._reserved) < self.limits.reserved:
            connection.is_reserved = True
            self._reserved.add(connection)
        else:
            connection.transport.abort()
            return
        self.waits(connection, Waiting.HEAD)
        if self._timer is None:
            self._look_later(connection.loop)

    def forget(self, connection: "GuardedProtocol") -> None:
        for kind in Waiting:
            self._waiting[kind].pop(connection, None)
        self._reserved.discard(connection)
        if connection in self._open:
            self._open.remove(connection)
            self._addresses[connection.address] -= 1
            if not self._addresses[connection.address]:
                del self._addresses[connection.address]

    def waits(self, connection: "GuardedProtocol", kind: Waiting) -> None:
        waiting = self._waiting[kind]
        waiting.pop(connection, None)  # it is the last again
        waiting[connection] = connection.loop.time()

    def waits_no_more(self, connection: "GuardedProtocol", kind: Waiting) -> None:
        self._waiting[kind].pop(connection, None)

    def _make_room(self, address: str | None) -> bool:
        for kind in _MAKES_ROOM:
            for connection in self._waiting[kind]:
                if connection.is_reserved or address not in (None, connection.address):
                    continue
                self.forget(connection)
                connection.transport.abort()
                return True
        return False

    def _look_later(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(self.limits.look_seconds, self._look, loop)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        for kind, seconds in self._seconds.items():
            late = loop.time() - seconds
            overdue: list[GuardedProtocol] = []
            for connection, since in self._waiting[kind].items():
                if since > late:
                    break
                overdue.append(connection)
            for connection in overdue:
                self.forget(connection)
                connection.give_up(kind)
        self._timer = None
        if self._open or self._reserved:
            self._look_later(loop)


class GuardedProtocol(HttpToolsProtocol):
    """uvicorn's own, which tells what it waits for."""

    def __init__(self, connections: Connections, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._all = connections
        self.address = ""
        self.is_proxy = False
        self.is_reserved = False
        self._in_head = True
        self._body_owed = False
        self._body_moves = False
        self._head_bytes = 0  # of a head, or of what goes with a body and is none of it
        self._chunks = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        peer = self.client[0] if self.client else ""
        self.address, self.is_proxy = _network_of(peer), self._all.limits.is_proxy(peer)
        self._all.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._all.forget(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._body_moves = False
        super().data_received(data)
        if self._body_moves or not (self._in_head or self._body_owed):
            return
        self._head_bytes += len(data)
        if self._head_bytes > MAX_HEAD:
            self._refuse(431, "Too large", f"headers may have {64 * 1024} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._in_head:  # what follows a body in chunks is no header: nobody has looked at it
            super().on_header(name, value)

    def on_chunk_header(self) -> None:
        self._body_moves, self._head_bytes = True, 0
        self._chunks += 1
        if self._chunks > MAX_CHUNKS:
            raise ValueError("too many chunks")

    def on_body(self, body: bytes) -> None:
        self._body_moves, self._head_bytes = True, 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        self._in_head, self._head_bytes, self._chunks = True, 0, 0
        self._all.waits_no_more(self, Waiting.NEXT)
        self._all.waits(self, Waiting.HEAD)
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._all.waits_no_more(self, Waiting.HEAD)
        self._all.waits_no_more(self, Waiting.NEXT)
        self._all.waits(self, Waiting.BODY)
        if len(self.pipeline) >= MAX_PIPELINE:
            raise ValueError("too many requests before their answers")
        assert self.parser is not None
        names_a_host = any(name == b"host" for name, _ in self.headers)
        if self.parser.get_http_version() == "1.1" and not names_a_host:
            raise ValueError("no Host")
        if self.is_reserved and self.url.partition(b"?")[0] != HEALTH:
            self.app = unavailable
        super().on_headers_complete()
        self._body_owed = True
        if self.is_reserved:
            self.cycle.keep_alive = False

    def _unsupported_upgrade_warning(self) -> None:
        """Anybody can ask for an upgrade; that is answered as any request, and no line of a log."""

    def on_message_complete(self) -> None:
        self._body_owed = False
        self._all.waits_no_more(self, Waiting.BODY)
        super().on_message_complete()
        if self.cycle.response_complete:
            self._all.waits(self, Waiting.NEXT)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._all.waits(self, Waiting.TAKEN)
        elif not (self._in_head or self._body_owed or self.pipeline):
            self._all.waits(self, Waiting.NEXT)

    def pause_writing(self) -> None:
        self._all.waits(self, Waiting.TAKEN)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._all.waits_no_more(self, Waiting.TAKEN)
        super().resume_writing()

    def give_up(self, kind: Waiting) -> None:
        """The client was too slow; where it can still be told so, it is."""
        limits = self._all.limits
        if kind is Waiting.BODY and not self.cycle.response_started:
            self._refuse(408, "Too slow", f"a body has {limits.body_seconds:g} s to arrive")
        elif kind is Waiting.HEAD and self._head_bytes:
            self._refuse(408, "Too slow", f"headers have {limits.head_seconds:g} s to arrive")
        else:
            self.transport.abort()

    def _refuse(self, status: int, title: str, detail: str) -> None:
        if self._body_owed and self.cycle.response_started:
            self.transport.abort()  # in the middle of an answer nothing else can be said
        elif not self.transport.is_closing():
            self.transport.write(raw_problem(status, title, detail))
            self.transport.close()
            self._all.waits(self, Waiting.TAKEN)

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - ours says more
        if self._chunks > MAX_CHUNKS:
            self._refuse(413, "Too large", f"a body may have {MAX_CHUNKS} chunks: send larger ones")
            return
        self._refuse(400, "Not HTTP", "the request cannot be read as HTTP/1.1")


def _network_of(address: str) -> str:
    """Whoever has one address of version 6 has all of its network."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, IPv6Address):
        parsed = parsed.ipv4_mapped or parsed
    if isinstance(parsed, IPv6Address):
        return str(int(parsed) >> 64)
    return str(parsed)
