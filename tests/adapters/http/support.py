"""A target that says exactly what a test wants, byte by byte, and a dispatcher to call it with."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ssl import SSLContext
from typing import Any
from uuid import UUID

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.expressions.pool import endable_expressions
from cadenza.adapters.http.addresses import AddressPolicy, parse_networks
from cadenza.adapters.http.dispatcher import HttpDispatcher
from cadenza.adapters.http.look_up import LookUp
from cadenza.application.ports.awaited_results import Results
from cadenza.application.ports.expressions import Expressions
from cadenza.domain.run import Outcome
from cadenza.domain.target import HttpTarget
from tests.factories import NOON, make_claim, make_endpoint, seconds

ENDPOINT = make_endpoint()


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]  # names in lower case
    names: list[str]  # as they came, in order
    body: bytes = b""


@dataclass
class Talk:
    """One connection, as the target sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def say(self, *parts: bytes | str) -> None:
        for part in parts:
            self.writer.write(part.encode() if isinstance(part, str) else part)
        await self.writer.drain()

    async def answer(self, body: bytes | str = b"", status: str = "200 OK", **headers: str) -> None:
        raw = body.encode() if isinstance(body, str) else body
        sent = {"Content-Length": str(len(raw))}
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items() if value != "-")
        await self.say(f"HTTP/1.1 {status}\r\n{lines}\r\n", raw)

    async def hear(self) -> Request | None:
        try:
            head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except (asyncio.IncompleteReadError, ConnectionError):
            return None
        first, *lines = head.strip().split("\r\n")
        method, path, _ = first.split(" ")
        pairs = [line.split(": ", 1) for line in lines]
        headers = {name.lower(): value for name, value in pairs}
        body = await self.reader.readexactly(int(headers.get("content-length", "0")))
        return Request(method, path, headers, [name for name, _ in pairs], body)


Behaviour = Callable[[Talk, Request], Awaitable[None]]


@dataclass
class Target:
    """A server on loopback. Every path has its behaviour; the others are answered with 200."""

    port: int = 0
    host: str = "127.0.0.1"
    behaviours: dict[str, Behaviour] = field(default_factory=dict[str, Behaviour])
    requests: list[Request] = field(default_factory=list[Request])
    connections: int = 0
    _talking: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])

    def url(self, path: str = "/", host: str | None = None, scheme: str = "http") -> str:
        return f"{scheme}://{host or self.host}:{self.port}{path}"

    def on(self, path: str, behaviour: Behaviour) -> str:
        self.behaviours[path] = behaviour
        return self.url(path)

    async def talk(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._talking.add(task)
        self.connections += 1
        talk = Talk(reader, writer)
        try:
            while (request := await talk.hear()) is not None:
                self.requests.append(request)
                path = request.path.partition("?")[0]
                await self.behaviours.get(path, _plainly)(talk, request)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, Done):
            pass
        finally:
            self._talking.discard(task)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def hang_up(self) -> None:
        for task in list(self._talking):
            task.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)


class Done(Exception):
    """The target closes the connection."""


async def _plainly(talk: Talk, _: Request) -> None:
    await talk.answer('{"ok": true}', Content_Type="application/json")


@asynccontextmanager
async def serving(host: str = "127.0.0.1", tls: SSLContext | None = None) -> AsyncIterator[Target]:
    target = Target(host=host)
    server = await asyncio.start_server(target.talk, host, 0, ssl=tls)
    target.port = server.sockets[0].getsockname()[1]
    try:
        yield target
    finally:
        server.close()
        await target.hang_up()
        await server.wait_closed()


class FixedClock:
    def now(self) -> datetime:
        return NOON

    async def sleep(self, duration: timedelta) -> None:
        await asyncio.sleep(duration.total_seconds())


@dataclass
class FakeSigner:
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    error: Exception | None = None
    asked: list[tuple[UUID, str, datetime, bytes]] = field(
        default_factory=list[tuple[UUID, str, datetime, bytes]]
    )

    async def headers_for(
        self, tenant_id: UUID, message_id: str, sent_at: datetime, body: bytes
    ) -> Mapping[str, str]:
        self.asked.append((tenant_id, message_id, sent_at, body))
        if self.error is not None:
            raise self.error
        return self.headers


class Caller:
    """A dispatcher, and short ways to use it."""

    def __init__(
        self,
        allowed: str = "loopback",
        look_up: LookUp | None = None,
        signer: FakeSigner | None = None,
        closed_ports: frozenset[int] = frozenset(),
        expressions: Expressions | None = None,
        results: Results | None = None,
    ) -> None:
        policy = AddressPolicy(parse_networks(allowed), closed_ports)
        expressions = expressions or CelExpressions()
        self.dispatcher = HttpDispatcher(
            policy, signer or FakeSigner(), FixedClock(), expressions, look_up, results
        )

    async def call(self, url: str, within: float = 5, **target: Any) -> Outcome:
        fields = {"timeout": seconds(within), **target}
        claim = make_claim(ENDPOINT, target=HttpTarget(url, **fields))
        return await self.dispatcher.dispatch(claim)


@asynccontextmanager
async def calling(**options: Any) -> AsyncIterator[Caller]:
    async with endable_expressions(at_once=False) as expressions:
        caller = Caller(**{"expressions": expressions, **options})
        try:
            yield caller
        finally:
            await caller.dispatcher.close()


@asynccontextmanager
async def both(**options: Any) -> AsyncIterator[tuple[Target, Caller]]:
    async with AsyncExitStack() as stack:
        yield (
            await stack.enter_async_context(serving()),
            await stack.enter_async_context(calling(**options)),
        )


def saying(*parts: bytes | str, close: bool = True) -> Behaviour:
    """These bytes, whatever is asked."""

    async def behaviour(talk: Talk, _: Request) -> None:
        await talk.say(*parts)
        if close:
            raise Done

    return behaviour


def answering(body: bytes | str = b"", status: str = "200 OK", **headers: str) -> Behaviour:
    async def behaviour(talk: Talk, _: Request) -> None:
        await talk.answer(body, status, **headers)

    return behaviour


def resolving(names: Mapping[str, Sequence[str]]) -> LookUp:
    async def look_up(name: str) -> Sequence[str]:
        return names[name]

    return look_up
