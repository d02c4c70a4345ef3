"""The same worker with its guard off: the library's own connector, and the URL as it is.

What throughput loses against it is what the guard costs. Never run it on anything but a benchmark.
"""

from typing import Any

import aiohttp

from cadenza.adapters.http.dispatcher import HttpDispatcher
from cadenza.adapters.http.request import Request
from cadenza.roots import dispatch, scheduler


class UnguardedDispatcher(HttpDispatcher):
    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._guarded_connector = self._session.connector
        self._session._connector = aiohttp.TCPConnector(limit=0)  # noqa: SLF001

    async def close(self) -> None:
        await super().close()
        if self._guarded_connector is not None:
            await self._guarded_connector.close()

    async def _send(self, request: Request) -> aiohttp.ClientResponse:
        return await self._session.request(
            request.method,
            request.location.url,
            headers=request.headers,
            data=request.body,
            allow_redirects=False,
        )


if __name__ == "__main__":
    dispatch.HttpDispatcher = UnguardedDispatcher
    scheduler.scheduler()
