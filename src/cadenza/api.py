"""`cadenza.Client`: the API, at the server that the environment names. `async_api` has the other.

from cadenza import Client

client = Client()
for run in client.list_runs(endpoint="shop/queue", limit=10):
    print(run["slot_at"], run["status"])
"""

from cadenza.client import sync_client
from cadenza.client.core import Retries
from cadenza.client.sync_transport import TIMEOUT
from cadenza.roots.cli_context import find_server

__all__ = ["Client", "Retries"]


class Client(sync_client.SyncClient):
    """Without an address or a key: those of CADENZA_API_URL and CADENZA_API_KEY, else what
    `cadenza up` left here or in a folder above."""

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
