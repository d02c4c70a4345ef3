"""One call of a model: admitted, sent on, counted, and passed back as it comes."""

import json
from contextlib import suppress

from aiohttp import ClientError, ClientResponse, ClientSession, web

from cadenza.adapters.gateway.asked import Asked, BadCall, read_call
from cadenza.adapters.gateway.dialects import STATUS_OF, Dialect, error_body, error_response
from cadenza.adapters.gateway.events import EventTooLong
from cadenza.adapters.gateway.onward import (
    AnswerTooLong,
    Limits,
    code_of,
    headers_back,
    json_object,
    message_in,
    read_answer,
    send,
    why,
)
from cadenza.adapters.gateway.relay import GraphGone, Relay
from cadenza.adapters.gateway.settling import Bill, Settling
from cadenza.adapters.gateway.usage import Reading
from cadenza.application.ports.gateway import CallRefused, Meter, Provider
from cadenza.domain.billing import ModelApi
from cadenza.domain.errors import InvalidInput, StoreUnavailable
from cadenza.domain.graph import ErrorCode
from cadenza.domain.redaction import redacted

_FAILURES = (ClientError, OSError, TimeoutError, EventTooLong, AnswerTooLong)


class Call:
    def __init__(
        self,
        request: web.BaseRequest,
        dialect: Dialect,
        meter: Meter,
        settling: Settling,
        session: ClientSession,
        limits: Limits,
    ) -> None:
        self._request = request
        self._dialect = dialect
        self._meter = meter
        self._settling = settling
        self._session = session
        self._limits = limits
        self._response: web.StreamResponse | None = None  # of a stream

    @property
    def has_begun(self) -> bool:
        return self._response is not None and self._response.prepared

    async def answer(self) -> web.StreamResponse:
        """What the graph gets, whatever happens; cancelled where the run is closed."""
        try:
            asked = await read_call(self._request, self._dialect, self._limits.request_bytes)
            unit, provider = await self._meter.admit(self._dialect.api, asked.model)
        except BadCall as error:
            code = ErrorCode.INVALID_REQUEST
            return self._error(error.status, code, str(error), field=error.field)
        except CallRefused as error:
            return self._error(STATUS_OF.get(error.code, 500), error.code, str(error))
        except InvalidInput as error:
            return self._error(400, ErrorCode.INVALID_REQUEST, str(error), field=error.field)
        except StoreUnavailable as error:
            return self._error(503, ErrorCode.INTERNAL, str(error), may_retry=True)
        return await self._sent_on(asked, unit, provider)

    async def _sent_on(self, asked: Asked, unit: str, provider: Provider) -> web.StreamResponse:
        reading = Reading(self._dialect)
        bill = Bill(self._settling, unit, asked, reading)
        has_answer = False
        try:
            async with send(
                self._session,
                self._request,
                self._dialect,
                asked,
                provider,
                self._limits,
                on_sent=bill.owe,
            ) as answer:
                has_answer = 200 <= answer.status < 300
                if not has_answer:
                    bill.forgive()
                    return await self._refused(answer, provider)
                if answer.content_type == "text/event-stream":
                    return await self._streamed(answer, asked, bill, reading)
                return await self._whole(answer, bill, reading)
        except GraphGone as gone:
            return gone.response
        except _FAILURES as error:
            if not has_answer or reading.is_worthless:
                bill.forgive()
            bill.settle_soon()
            self._meter.failed(ErrorCode.PROVIDER_UNAVAILABLE, why(error))
            return await self._broken(why(error))
        finally:
            # Also where the run was closed or the graph has gone: once sent it may be answered.
            bill.settle_soon()

    async def _whole(self, answer: ClientResponse, bill: Bill, reading: Reading) -> web.Response:
        raw = await read_answer(answer, self._limits.answer_bytes)
        body = json_object(raw)
        if body is not None:
            reading.read_whole(body)
        self._report(reading)
        await bill.settle(self._limits.settle_s)
        return web.Response(status=answer.status, body=raw, headers=headers_back(answer))

    async def _streamed(
        self, answer: ClientResponse, asked: Asked, bill: Bill, reading: Reading
    ) -> web.StreamResponse:
        self._response = response = web.StreamResponse(
            status=answer.status, headers=headers_back(answer)
        )
        relay = Relay(self._request, response, asked, bill, reading, self._limits)
        await relay.pass_on(answer)
        self._report(reading)
        return response

    def _report(self, reading: Reading) -> None:
        if not reading.is_understood:
            message = "the provider answered with something that is not JSON"
            self._meter.failed(ErrorCode.PROVIDER_UNAVAILABLE, message)
        elif reading.error is not None:
            message = f"the provider answered with an error: {reading.error}"
            self._meter.failed(ErrorCode.PROVIDER_UNAVAILABLE, message)

    async def _refused(self, answer: ClientResponse, provider: Provider) -> web.Response:
        raw = await read_answer(answer, self._limits.error_bytes)
        # Providers like to quote the key that they refuse.
        text = redacted(raw.decode("utf-8", "replace"), (provider.key,))
        message = f"the provider answered {answer.status}: {message_in(text)}"
        code = code_of(answer.status)
        self._meter.failed(code, message)
        if answer.status < 400:
            return self._error(502, code, "the provider redirects, which is not followed")
        return web.Response(status=answer.status, body=text.encode(), headers=headers_back(answer))

    async def _broken(self, message: str) -> web.StreamResponse:
        """The provider did not answer, or cut its stream: then it has no good end here, too."""
        code = ErrorCode.PROVIDER_UNAVAILABLE
        if self._response is None or not self._response.prepared:
            return self._error(502, code, message, may_retry=True)
        body = json.dumps(error_body(self._dialect.api, code, message))
        name = "event: error\n" if self._dialect.api is ModelApi.ANTHROPIC else ""
        with suppress(ConnectionError):
            await self._response.write(f"{name}data: {body}\n\n".encode())
        if self._request.transport is not None:
            self._request.transport.close()
        return self._response

    def _error(
        self,
        status: int,
        code: ErrorCode,
        message: str,
        *,
        field: str | None = None,
        may_retry: bool = False,
    ) -> web.Response:
        return error_response(
            self._dialect.api, status, code, message, field=field, may_retry=may_retry
        )
