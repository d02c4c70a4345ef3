"""Streamable HTTP, without sessions: each request stands for itself, as those of the API do.

Who may ask, how often and how much is decided before a request comes here; every tool asks the API
in the same process with the key that came with it, so that scopes, limits and the audit log hold.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from cadenza.client.asgi_transport import URL, Application, AsgiTransport, Message
from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Retries
from cadenza.mcp.server import create_server

NEVER_AGAIN = Retries(times=0, when_busy=False)
LARGEST = 1024 * 1024


def mcp_over(app: Application, documents: Path | None) -> Application:
    """For requests that the API has let in."""
    transport = AsgiTransport(app)

    @asynccontextmanager
    async def client_of(request: Any) -> AsyncGenerator[AsyncClient]:
        _, _, key = request.headers["authorization"].partition(" ")
        yield AsyncClient(URL, key.strip(), retries=NEVER_AGAIN, transport=transport)

    server = create_server(client_of, documents)
    server.streamable_http_app(stateless_http=True)  # it makes the manager that names its server
    inner = server.session_manager.app

    async def handle(scope: Message, receive: Any, send: Any) -> None:
        # A manager for each request: nothing of one is left for the next, or to end at shutdown.
        manager = StreamableHTTPSessionManager(
            inner, json_response=True, stateless=True, max_request_body_size=LARGEST
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    return handle
