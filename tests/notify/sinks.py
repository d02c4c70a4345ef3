"""Where messages end in tests: a small SMTP server, and a webhook server that keeps what comes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass(slots=True)
class Mailbox:
    port: int = 0
    mails: list[str] = field(default_factory=list[str])
    came: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def say(line: str) -> None:
            writer.write(f"{line}\r\n".encode())

        say("220 sink")
        try:
            while line := await reader.readline():
                word = line.decode("utf-8", "replace").strip().upper()
                if word.startswith("EHLO"):
                    say("250-sink")
                    say("250 8BITMIME")
                elif word == "DATA":
                    say("354 go on")
                    text = await reader.readuntil(b"\r\n.\r\n")
                    self.mails.append(text.decode("utf-8", "replace"))
                    self.came.set()
                    say("250 taken")
                elif word == "QUIT":
                    say("221 bye")
                    break
                else:
                    say("250 fine")
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def mail_sink() -> AsyncIterator[Mailbox]:
    box = Mailbox()
    server = await asyncio.start_server(box.serve, "127.0.0.1", 0)
    box.port = server.sockets[0].getsockname()[1]
    async with server:
        yield box


@dataclass(slots=True)
class Hook:
    """Answers with `status`, once `gate` is open."""

    url: str = ""
    status: int = 204
    came: list[tuple[dict[str, str], Any]] = field(default_factory=list[Any])
    news: asyncio.Event = field(default_factory=asyncio.Event)
    gate: asyncio.Event = field(default_factory=asyncio.Event)

    async def take(self, request: web.Request) -> web.Response:
        text = await request.text()
        self.came.append((dict(request.headers), text))
        self.news.set()
        await self.gate.wait()
        return web.Response(status=self.status)

    async def until(self, count: int) -> None:
        async with asyncio.timeout(60):
            while len(self.came) < count:
                self.news.clear()
                await self.news.wait()


@asynccontextmanager
async def hook_sink(*, is_open: bool = True) -> AsyncIterator[Hook]:
    hook = Hook()
    if is_open:
        hook.gate.set()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", hook.take)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]
    hook.url = f"http://127.0.0.1:{port}/hook"
    try:
        yield hook
    finally:
        hook.gate.set()
        await runner.cleanup()
