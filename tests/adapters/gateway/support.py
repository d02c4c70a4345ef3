"""A gateway before the example provider, and a meter that keeps what it is told."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from aiohttp import ClientResponse, ClientSession, TCPConnector, web

from cadenza.adapters.gateway.gateway import RunGateway
from cadenza.adapters.gateway.onward import Limits
from cadenza.application.ports.gateway import CallRefused, Provider
from cadenza.demo.model_provider import ModelProvider, Used, served
from cadenza.domain.billing import Basis, ModelApi, TokenUsage
from cadenza.domain.graph import ErrorCode, GraphCaller, GraphRequest
from cadenza.domain.target import Secret

KEY = "the-real-key-of-the-account"
HAIKU = {"model": "cadenza-poet", "messages": [{"role": "user", "content": "a verse on rain"}]}
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MESSAGE = {**HAIKU, "max_tokens": 100}


@dataclass
class RecordingMeter:
    address: str  # of the provider
    refusal: CallRefused | Exception | None = None
    settled: list[tuple[str, str, TokenUsage, Basis]] = field(default_factory=list)
    failures: list[tuple[ErrorCode, str]] = field(default_factory=list)
    admitted: list[tuple[ModelApi, str]] = field(default_factory=list)
    store_is_away: list[Exception] = field(default_factory=list)  # raised by settle, one by one
    may_settle: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.may_settle.set()

    async def admit(self, api: ModelApi, model: str) -> tuple[str, Provider]:
        if self.refusal is not None:
            raise self.refusal
        self.admitted.append((api, model))
        base = self.address if api is ModelApi.ANTHROPIC else f"{self.address}/v1"
        return str(len(self.admitted)), Provider(api, base, Secret(KEY))

    async def settle(self, unit: str, model: str, usage: TokenUsage, basis: Basis) -> None:
        await self.may_settle.wait()
        if self.store_is_away:
            raise self.store_is_away.pop(0)
        self.settled.append((unit, model, usage, basis))

    def failed(self, code: ErrorCode, message: str) -> None:
        self.failures.append((code, message))

    @property
    def used(self) -> Used:
        """In the words of the provider's own account."""
        usages = [usage for _, _, usage, _ in self.settled]
        return Used(
            len(usages),
            sum(usage.input_tokens for usage in usages),
            sum(usage.output_tokens for usage in usages),
        )

    @property
    def bases(self) -> set[Basis]:
        return {basis for _, _, _, basis in self.settled}


@dataclass
class Stage:
    gateway: RunGateway
    provider: ModelProvider
    meter: RecordingMeter
    run_id: UUID
    environment: Mapping[str, str]
    client: ClientSession

    @property
    def address(self) -> str:
        return self.environment["CADENZA_GATEWAY_URL"]

    @property
    def token(self) -> str:
        return self.environment["OPENAI_API_KEY"]

    async def post(
        self, path: str = "/v1/chat/completions", body: Any = HAIKU, **options: Any
    ) -> ClientResponse:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        sent = {"data": body} if isinstance(body, bytes) else {"json": body}
        return await self.client.post(self.address + path, headers=headers, **sent, **options)


def request_of(run_id: UUID) -> GraphRequest:
    caller = GraphCaller(uuid4(), uuid4(), uuid4(), uuid4())
    return GraphRequest(run_id, "langgraph:poet", {}, caller)


@asynccontextmanager
async def staged(limits: Limits | None = None, address: str | None = None) -> AsyncGenerator[Stage]:
    """`address`: of another provider than the one of the examples."""
    numbers = count(1)
    gateway = RunGateway(lambda: f"token-{next(numbers)}", limits)
    provider = ModelProvider()
    run_id = uuid4()
    async with (
        served(provider) as own,
        gateway.serving(TCPConnector(limit=0)),
        ClientSession() as client,
    ):
        meter = RecordingMeter(address or own)
        environment = await gateway.open(request_of(run_id), meter)
        yield Stage(gateway, provider, meter, run_id, environment, client)


@asynccontextmanager
async def behind(handler: Handler, limits: Limits | None = None) -> AsyncGenerator[Stage]:
    """A gateway before a provider that does only this."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=1.0)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        async with staged(limits, f"http://127.0.0.1:{runner.addresses[0][1]}") as stage:
            yield stage
    finally:
        await runner.cleanup()


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - many things may bring it about
            await asyncio.sleep(0.01)
