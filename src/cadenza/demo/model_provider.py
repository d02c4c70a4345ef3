"""A provider of models for examples and tests: no key, no network, and it counts every token.

It speaks OpenAI's chat completions, responses and embeddings and Anthropic's messages, whole and
in streams. A token is a word. What each key has used is at GET /usage. The models `fault-402`,
`fault-429`, `fault-500`, `fault-hang`, `fault-cut` and `fault-rubbish` fail as their names say, and
one whose name ends with `-cached` reads the first word that it is sent from its cache.
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

from aiohttp import web

from cadenza.demo.model_answers import APIS, Answer, Api

HOST = "127.0.0.1"
POET = "cadenza-poet"
MAX_BODY = 16 * 1024 * 1024
_STATUS = {"fault-402": 402, "fault-429": 429, "fault-500": 500}


@dataclass(slots=True)
class Used:
    calls: int = 0
    input_tokens: int = 0  # cached ones among them
    output_tokens: int = 0

    def add(self, answer: Answer) -> None:
        self.calls += 1
        self.input_tokens += answer.input_tokens
        self.output_tokens += answer.output_tokens


class ModelProvider:
    def __init__(self) -> None:
        self.used: dict[str, Used] = {}

    def app(self) -> web.Application:
        app = web.Application(client_max_size=MAX_BODY)
        for path, api in APIS.items():
            app.router.add_post(path, self._answering(api))
        app.router.add_get("/usage", self._usage)
        return app

    def _answering(self, api: Api) -> Any:
        async def handler(request: web.Request) -> web.StreamResponse:
            body = cast("dict[str, Any]", json.loads(await request.read()))
            model = str(body.get("model"))
            if (status := _STATUS.get(model)) is not None:
                error = {"message": f"this model always answers {status}", "type": model}
                return web.json_response({"type": "error", "error": error}, status=status)
            answer = api.answer(body)
            if body.get("stream") is True:
                return await self._stream(request, api, answer)
            await _fail_whole(request, model)
            if model == "fault-rubbish":
                return web.Response(text="<html>not what you asked for</html>")
            self._count(request, answer)
            return web.json_response(api.whole(answer))

        return handler

    async def _stream(self, request: web.Request, api: Api, answer: Answer) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        events = api.events(answer)
        if answer.model == "fault-rubbish":
            await response.write(b"data: {not json\n\n\x00\xff rubbish\n\ndata: 7\n\n")
            return response
        if answer.model in ("fault-hang", "fault-cut"):
            for event in events[: len(events) // 2]:
                await response.write(event)
            await _fail(request, answer.model)
        # Before the last event, for the client may be gone after it.
        self._count(request, answer)
        for event in events:
            await response.write(event)
        return response

    def _count(self, request: web.Request, answer: Answer) -> None:
        key = request.headers.get("Authorization", "").removeprefix("Bearer ")
        self.used.setdefault(request.headers.get("X-Api-Key", key), Used()).add(answer)

    async def _usage(self, _request: web.Request) -> web.Response:
        return web.json_response({key: asdict(used) for key, used in self.used.items()})


async def _fail_whole(request: web.Request, model: str) -> None:
    if model == "fault-cut":
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"id": "cut')
    if model in ("fault-hang", "fault-cut"):
        await _fail(request, model)


async def _fail(request: web.Request, model: str) -> None:
    if model == "fault-cut" and request.transport is not None:
        request.transport.close()
    await asyncio.Event().wait()


@asynccontextmanager
async def served(provider: ModelProvider, host: str = HOST, port: int = 0) -> AsyncGenerator[str]:
    """Its address: for OpenAI's clients with /v1 after it, for Anthropic's as it is."""
    runner = web.AppRunner(
        provider.app(), access_log=None, handler_cancellation=True, shutdown_timeout=1.0
    )
    await runner.setup()
    await web.TCPSite(runner, host, port).start()
    try:
        bound: tuple[str, int] = runner.addresses[0]
        yield f"http://{host}:{bound[1]}"
    finally:
        await runner.cleanup()


async def serve(host: str, port: int) -> None:
    """Until it is cancelled."""
    async with served(ModelProvider(), host, port):
        await asyncio.Event().wait()
