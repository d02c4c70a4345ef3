"""The client on a loop."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

import aiohttp

from cadenza.client.async_transport import TIMEOUT, AsyncTransport
from cadenza.client.core import Api, Operation, Pages, Response, Retries
from cadenza.client.errors import ClientError
from cadenza.client.events import LONGEST_LINE, SILENCE, Event, EventReader, Reconnection
from cadenza.client.generated.async_operations import AsyncOperations


class AsyncClient(AsyncOperations):
    """The same as without a loop; lists and events are async iterators."""

    def __init__(
        self,
        url: str,
        key: str | None,
        *,
        timeout: float = TIMEOUT,
        retries: Retries | None = None,
        new_id: Callable[[], object] = uuid4,
        transport: AsyncTransport | None = None,
    ) -> None:
        self._api = Api(url, key, new_id, retries or Retries())
        self._transport = transport or AsyncTransport(url, timeout)

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def call(self, operation: Operation, *values: str, **fields: Any) -> Any:
        """Any operation, as the API answers it: of a list one page, and its cursor as `next`."""
        return await self._call(operation, values, fields)

    async def _call(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> Any:
        return await self._transport.drive(self._api.perform(operation, values, fields))

    async def _pages(
        self, operation: Operation, values: Sequence[str], fields: Mapping[str, Any]
    ) -> AsyncIterator[Any]:
        pages = Pages(self._api, operation, values, fields)
        while not pages.is_over:
            for item in await self._transport.drive(pages.next_page()):
                yield item

    async def events(
        self,
        *,
        kind: Sequence[str] | None = None,
        job: str | None = None,
        endpoint: str | None = None,
        last_id: str | None = None,
    ) -> AsyncIterator[Event]:
        """What happens, as it happens, without an end; taken up again where it broke off. With a
        `last_id` of before, from there on: Missing where that is no longer kept."""
        asked = {"kind": kind, "job": job, "endpoint": endpoint}
        query = await self._transport.drive(self._api.open_events(asked))
        reader, again = EventReader(last_id), Reconnection()
        while True:
            failure = None
            try:
                async for event in self._followed(query, reader, again):
                    yield event
            except ClientError as error:
                failure = error
            reader.broken_off()
            await asyncio.sleep(again.pause_after(failure))

    async def _followed(
        self, query: Mapping[str, Any], reader: EventReader, again: Reconnection
    ) -> AsyncIterator[Event]:
        request = self._api.request("GET", "/events", query=query, headers=reader.headers)
        limit = aiohttp.ClientTimeout(total=None, sock_read=SILENCE)
        async with self._transport.opened(request, limit) as answer:
            if answer.status != 200:
                self._api.decoded(Response(answer.status, {}, await answer.read()))
            lines = _lines(answer.content)
            async for line in lines:
                again.heard()
                if (event := reader.read(line)) is not None:
                    yield event


async def _lines(content: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """aiohttp's own refuses long ones."""
    rest = b""
    async for chunk in content.iter_any():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
        if len(rest) > LONGEST_LINE:
            raise ValueError("a line of the stream is too long")
