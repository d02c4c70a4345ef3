"""Connections of the HTTP library that only reach what the guard admits, and that end in time.

Three of its parts are replaced: the resolver (which decodes the guard's judged addresses instead of
looking up a name), the socket (checked once more, with the very address it will be connected to),
and the protocol (which bounds what a target may send before, beside and after its answer).
"""

import socket
from contextvars import ContextVar
from functools import partial
from typing import Any

from aiohttp import ClientConnectionError, StreamReader, TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.client_proto import ResponseHandler
from aiohttp.client_reqrep import ConnectionKey
from aiohttp.http import RawResponseMessage

from cadenza.adapters.http.guard import BlockedAddress, Guard, addresses_in

KEEP_ALIVE = 15.0  # seconds
MAX_IDLE_HOSTS = 400  # well below the 1,024 open files that many systems allow
MAX_HEAD = 64 * 1024  # bytes before a body
MAX_RECEIVED = 1024 * 1024  # for one answer, with everything around it
MAX_MESSAGES = 16  # an answer, and what may come before it: 100 Continue, 103 Early Hints
SLICE = 16 * 1024

# Whether the request of this task got a connection of its own, or one that was used before.
made_connection: ContextVar[bool] = ContextVar("made_connection", default=False)


class TooMuchReceived(ClientConnectionError):
    """More than any answer needs: endless headers, or endless answers before the answer."""


class GuardedConnector(TCPConnector):
    def __init__(self, guard: Guard) -> None:
        # The scheduler limits how much is in flight; a second limit here would only queue.
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            limit=0,
            resolver=_GuardResolver(),
            use_dns_cache=False,
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=self._checked_socket,
        )
        self._guard = guard
        self._factory = partial(_BoundedHandler, loop=self._loop)

    def _checked_socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        family, kind, proto, _, address = info
        if not self._guard.admits(str(address[0]), int(address[1])):
            raise BlockedAddress
        return socket.socket(family, kind, proto)

    def _release(
        self, key: ConnectionKey, protocol: ResponseHandler, *, should_close: bool = False
    ) -> None:
        if isinstance(protocol, _BoundedHandler):
            protocol.is_idle = True
        too_many = len(self._conns) >= MAX_IDLE_HOSTS and key not in self._conns
        super()._release(key, protocol, should_close=should_close or too_many)


class _GuardResolver(AbstractResolver):
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        made_connection.set(True)
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in addresses_in(host)
        ]

    async def close(self) -> None:
        return None


class _BoundedHandler(ResponseHandler):
    _received = 0
    _messages = 0
    _is_answered = False
    _is_stopped = False
    is_idle = False

    def set_response_params(self, **params: Any) -> None:
        self._received = 0
        self._messages = 0
        self._is_answered = False
        self.is_idle = False
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        received = self._received + len(data)
        if data and received <= SLICE and not self.is_idle and not self._is_stopped:
            self._received = received
            super().data_received(data)  # nearly every answer
        else:
            self._receive_in_parts(data)

    def _receive_in_parts(self, data: bytes) -> None:
        if self.is_idle and data:  # the library itself calls with nothing, to go on
            # What an idle connection receives would be taken for the next answer.
            self.force_close()
            if self.transport is not None:
                self.transport.close()
            return
        # Thousands of messages fit into what arrives at once: stop in the middle of it.
        for begin in range(0, len(data) or 1, SLICE):
            part = data if len(data) <= SLICE else data[begin : begin + SLICE]
            self._received += len(part)
            if self._received > (MAX_RECEIVED if self._is_answered else MAX_HEAD):
                self._stop()
            if self._is_stopped:
                return
            super().data_received(part)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        message, _ = data
        self._messages += 1
        self._is_answered = self._is_answered or message.code >= 200
        if self._messages <= MAX_MESSAGES:
            super().feed_data(data, size)
        else:
            self._stop()

    def _stop(self) -> None:
        self._is_stopped = True
        if self.transport is not None:
            self.transport.close()
        self.set_exception(TooMuchReceived("the target sends without end"))
