"""An application in the same process, asked without a socket: its middleware and its checks hold
all the same."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote, urlsplit

from cadenza.client.async_transport import TIMEOUT, AsyncTransport
from cadenza.client.core import Request, Response
from cadenza.client.errors import Unreachable

Message = MutableMapping[str, Any]
Application = Callable[
    [Message, Callable[[], Awaitable[Message]], Callable[[Message], Awaitable[None]]],
    Awaitable[None],
]
URL = "http://in-process"


class AsgiTransport(AsyncTransport):
    def __init__(self, app: Application, timeout: float = TIMEOUT) -> None:
        super().__init__(URL, timeout)
        self._app = app
        self._seconds = timeout

    async def exchange(self, request: Request) -> Response:
        asked = [{"type": "http.request", "body": request.body or b"", "more_body": False}]
        answered: list[Message] = []

        async def receive() -> Message:
            if asked:
                return asked.pop()
            return await asyncio.get_running_loop().create_future()  # nobody disconnects

        async def send(message: Message) -> None:
            answered.append(message)

        try:
            async with asyncio.timeout(self._seconds):
                await self._app(_scope(request), receive, send)
        except TimeoutError as error:
            raise Unreachable(URL, error) from error
        return _response(answered)


def _scope(request: Request) -> Message:
    parts = urlsplit(request.url)
    headers = {"Host": parts.netloc, "Content-Length": str(len(request.body or b""))}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": parts.scheme,
        "path": unquote(parts.path),
        "raw_path": parts.path.encode(),
        "query_string": parts.query.encode(),
        "root_path": "",
        "headers": [
            (name.lower().encode(), value.encode("latin-1"))
            for name, value in {**request.headers, **headers}.items()
        ],
        "client": None,
        "server": None,
    }


def _response(answered: list[Message]) -> Response:
    start, *rest = answered
    headers = {name.decode().lower(): value.decode("latin-1") for name, value in start["headers"]}
    return Response(start["status"], headers, b"".join(part.get("body", b"") for part in rest))
