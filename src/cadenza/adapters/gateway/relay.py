"""A stream on its way from the provider to the graph, event by event, read while it passes."""

from aiohttp import ClientResponse, web

from cadenza.adapters.gateway.asked import Asked
from cadenza.adapters.gateway.events import Event, EventBuffer
from cadenza.adapters.gateway.onward import AnswerTooLong, Limits, json_object
from cadenza.adapters.gateway.settling import Bill
from cadenza.adapters.gateway.usage import Reading, is_usage_only

_DONE = b"[DONE]"


class GraphGone(Exception):
    """The graph does not read on: nothing more is asked of the provider."""

    def __init__(self, response: web.StreamResponse) -> None:
        self.response = response
        super().__init__()


class Relay:
    def __init__(
        self,
        request: web.BaseRequest,
        response: web.StreamResponse,
        asked: Asked,
        bill: Bill,
        reading: Reading,
        limits: Limits,
    ) -> None:
        self._request = request
        self._response = response
        self._asked = asked
        self._bill = bill
        self._reading = reading
        self._limits = limits
        self._waiting = bytearray()  # complete events that came in one piece

    async def pass_on(self, answer: ClientResponse) -> None:
        """To its end, of which the graph hears when it is charged: it may exit then."""
        await self._response.prepare(self._request)
        events = EventBuffer()
        received = 0
        async for chunk in answer.content.iter_any():
            received += len(chunk)
            if received > self._limits.answer_bytes:
                raise AnswerTooLong(f"a stream of more than {self._limits.answer_bytes} bytes")
            for event in events.feed(chunk):
                await self._pass(event)
            await self._flush()
        if (rest := events.rest()) is not None:
            await self._pass(rest)
        self._reading.end()
        await self._settled()
        await self._flush()
        try:
            await self._response.write_eof()
        except ConnectionError as error:
            raise GraphGone(self._response) from error

    async def _pass(self, event: Event) -> None:
        data = event.data
        body = json_object(data) if data else None
        if body is not None:
            self._reading.read_event(body)
        if data == _DONE:
            self._reading.end()
        if data == _DONE or self._reading.is_complete:
            await self._settled()
        if body is not None and self._asked.hides_usage and is_usage_only(body):
            return
        self._waiting += event.raw

    async def _settled(self) -> None:
        await self._flush()
        await self._bill.settle(self._limits.settle_s)

    async def _flush(self) -> None:
        if not self._waiting:
            return
        try:
            await self._response.write(bytes(self._waiting))
        except ConnectionError as error:
            raise GraphGone(self._response) from error
        self._waiting.clear()
