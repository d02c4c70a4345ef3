"""`cadenza.AsyncClient`: `Client` on a loop. A module of its own, for aiohttp is slow to load.

async with AsyncClient() as client:
    async for run in client.list_runs(endpoint="shop/queue", limit=10):
        print(run["slot_at"], run["status"])
"""

from cadenza.client import async_client
from cadenza.client.async_transport import TIMEOUT
from cadenza.client.core import Retries
from cadenza.roots.cli_context import find_server

__all__ = ["AsyncClient"]


class AsyncClient(async_client.AsyncClient):
    """Without an address or a key it asks where `Client` does."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
    ) -> None:
        server = find_server(url, key)
        super().__init__(server.url, server.key, timeout=timeout, retries=retries)
