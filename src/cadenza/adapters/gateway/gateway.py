"""The gateway itself: one server on loopback for all runs of a worker, and a token for each."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from uuid import UUID

import structlog
from aiohttp import BaseConnector, ClientSession, DummyCookieJar, web

from cadenza.adapters.gateway.call import Call
from cadenza.adapters.gateway.dialects import DIALECTS, Dialect, error_response
from cadenza.adapters.gateway.onward import Limits, noting_what_is_sent
from cadenza.adapters.gateway.settling import Settling
from cadenza.application.ports.gateway import Meter
from cadenza.domain.billing import ModelApi
from cadenza.domain.graph import ErrorCode, GraphRequest

HOST = "127.0.0.1"
KEEP_ALIVE = 60.0  # seconds

_log = structlog.get_logger()


@dataclass(slots=True)
class _Run:
    token: str
    meter: Meter
    settling: Settling
    calls: set[asyncio.Task[web.StreamResponse]] = field(
        default_factory=set[asyncio.Task[web.StreamResponse]]
    )


class RunGateway:
    """`new_token` makes words that nobody can guess."""

    def __init__(self, new_token: Callable[[], str], limits: Limits | None = None) -> None:
        self._new_token = new_token
        self._limits = limits or Limits()
        self._runs: dict[UUID, _Run] = {}
        self._tokens: dict[str, _Run] = {}
        self._session: ClientSession | None = None
        self._address = ""

    @asynccontextmanager
    async def serving(self, connector: BaseConnector) -> AsyncGenerator[None]:
        """Listen on whatever port is free; at the end every open run is closed.

        The connector decides which addresses may be called, for accounts bring their own.
        """
        self._session = ClientSession(
            connector=connector,
            cookie_jar=DummyCookieJar(),
            trust_env=False,
            trace_configs=[noting_what_is_sent()],
        )
        server = web.Server(
            self._answer, access_log=None, keepalive_timeout=KEEP_ALIVE, auto_decompress=False
        )

        def accept() -> asyncio.Protocol:
            is_full = len(server.connections) >= self._limits.connections
            return _Closed() if is_full else server()

        listener = await asyncio.get_running_loop().create_server(accept, HOST, 0)
        self._address = f"http://{HOST}:{listener.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            listener.close()
            await asyncio.gather(*(self.close(run_id) for run_id in list(self._runs)))
            await server.shutdown(1.0)
            await self._session.close()

    async def open(self, request: GraphRequest, meter: Meter) -> Mapping[str, str]:
        await self.close(request.run_id)
        run = _Run(self._new_token(), meter, Settling(request.run_id, meter))
        self._runs[request.run_id] = self._tokens[run.token] = run
        return {
            "CADENZA_GATEWAY_URL": self._address,
            "OPENAI_BASE_URL": f"{self._address}/v1",
            "OPENAI_API_BASE": f"{self._address}/v1",
            "OPENAI_API_KEY": run.token,
            "ANTHROPIC_BASE_URL": self._address,
            "ANTHROPIC_API_KEY": run.token,
        }

    async def close(self, run_id: UUID) -> None:
        run = self._runs.pop(run_id, None)
        if run is None:
            return
        del self._tokens[run.token]
        for call in run.calls:
            call.cancel()
        if run.calls:
            await asyncio.wait(run.calls)
        await run.settling.end(self._limits.close_s)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        dialect = DIALECTS.get(request.path)
        api = dialect.api if dialect else _api_of_client(request)
        if dialect is None or request.method != "POST":
            message = f"the gateway has {', '.join('POST ' + path for path in DIALECTS)}"
            return error_response(api, 404, ErrorCode.NOT_FOUND, message)
        run = self._tokens.get(_token(request))
        if run is None:
            message = "not the token of a run that is under way"
            return error_response(api, 401, "authentication_error", message)
        if len(run.calls) >= self._limits.calls_at_once:
            message = f"{self._limits.calls_at_once} calls of this run are under way already"
            return error_response(api, 429, ErrorCode.RATE_LIMIT, message, may_retry=True)
        return await self._called(request, dialect, run)

    async def _called(
        self, request: web.BaseRequest, dialect: Dialect, run: _Run
    ) -> web.StreamResponse:
        assert self._session is not None
        call = Call(request, dialect, run.meter, run.settling, self._session, self._limits)
        # A task of its own: the server may drop its request, and a closed run ends only this.
        task = asyncio.create_task(call.answer())
        run.calls.add(task)
        task.add_done_callback(run.calls.discard)
        await asyncio.wait({task})
        try:
            return task.result()
        except asyncio.CancelledError:
            code, message, status = ErrorCode.ABORTED, "the run was closed", 403
        except Exception:  # noqa: BLE001 - the graph gets an answer, and the worker goes on
            _log.exception("call_failed")
            code, message, status = ErrorCode.INTERNAL, "the call failed", 500
        if call.has_begun and request.transport is not None:
            request.transport.abort()  # a stream that nobody may take for whole
        return error_response(dialect.api, status, code, message)


class _Closed(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


def _token(request: web.BaseRequest) -> str:
    scheme, _, credential = request.headers.get("Authorization", "").partition(" ")
    bearer = credential.strip() if scheme.lower() == "bearer" else ""
    return request.headers.get("X-Api-Key") or bearer


def _api_of_client(request: web.BaseRequest) -> ModelApi:
    """The API whose errors a client of an unknown path will understand."""
    is_anthropic = "Anthropic-Version" in request.headers or "X-Api-Key" in request.headers
    return ModelApi.ANTHROPIC if is_anthropic else ModelApi.OPENAI
