"""Standard input and output: one person, one key, one server elsewhere."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from cadenza.client.async_client import AsyncClient
from cadenza.client.core import Retries
from cadenza.mcp.registry import SECONDS
from cadenza.mcp.server import create_server

ONCE_MORE = Retries(times=1, when_busy=False)


async def serve_stdio(url: str, key: str, documents: Path | None, *, only_reads: bool) -> None:
    async with AsyncClient(url, key, timeout=SECONDS, retries=ONCE_MORE) as client:

        @asynccontextmanager
        async def only_client(_request: Any) -> AsyncGenerator[AsyncClient]:
            yield client

        server = create_server(only_client, documents, only_reads=only_reads)
        await server.run_stdio_async()
