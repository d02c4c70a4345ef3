"""HTTP on a loop, by aiohttp."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypeVar
from urllib.parse import urlsplit

import aiohttp

from cadenza.client.core import LOOPBACK, Flow, Request, Response, Wait
from cadenza.client.errors import Unreachable
from cadenza.domain.errors import Refused

T = TypeVar("T")
TIMEOUT = 30.0
CUT = (aiohttp.ServerDisconnectedError, aiohttp.ClientPayloadError, ConnectionResetError)


class AsyncTransport:
    def __init__(self, url: str, timeout: float = TIMEOUT) -> None:
        self._url = url
        self._timeout = timeout
        # Proxies of the environment, but not for this machine.
        self._trusts_environment = urlsplit(url).hostname not in LOOPBACK
        self._session: aiohttp.ClientSession | None = None
        self._is_closed = False

    async def drive(self, flow: Flow[T]) -> T:
        """Do what it asks for until its result is there."""
        try:
            asked = next(flow)
            while True:
                if isinstance(asked, Wait):
                    await asyncio.sleep(asked.seconds)
                    asked = flow.send(None)
                    continue
                try:
                    response = await self.exchange(asked)
                except Unreachable as error:
                    asked = flow.throw(error)
                else:
                    asked = flow.send(response)
        except StopIteration as ended:
            return ended.value

    async def exchange(self, request: Request) -> Response:
        limit = aiohttp.ClientTimeout(total=self._timeout)
        async with self.opened(request, limit) as answer:
            headers = {name.lower(): value for name, value in answer.headers.items()}
            return Response(answer.status, headers, await answer.read())

    @asynccontextmanager
    async def opened(
        self, request: Request, limit: aiohttp.ClientTimeout
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """The answer while it comes; no redirect is followed, for the key would go with it."""
        try:
            async with self._open_session().request(
                request.method,
                request.url,
                data=request.body,
                headers=dict(request.headers),
                timeout=limit,
                allow_redirects=False,
            ) as answer:
                yield answer
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise Unreachable(self._url, error, was_cut=isinstance(error, CUT)) from error

    def _open_session(self) -> aiohttp.ClientSession:
        if self._is_closed:
            raise Refused("the client is closed: use it inside its `async with`, or make another")
        if self._session is None:
            self._session = aiohttp.ClientSession(trust_env=self._trusts_environment)
        return self._session

    async def close(self) -> None:
        self._is_closed = True
        if self._session is not None:
            await self._session.close()
            self._session = None
