"""A provider on a local port: OpenAI chat completions, Anthropic messages and Google's Gemini.

A test says what the model answers, in plain values; this puts it on the wire of each protocol, at
once or as a stream, as it was asked for.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web

from tests.adapters.brains.llm.streams import (
    Event,
    anthropic_events,
    google_events,
    on_the_wire,
    openai_events,
)

Call = tuple[str, Any]  # a tool and its arguments: an object, or whatever text the model wrote


@dataclass(frozen=True)
class Answer:
    calls: Sequence[Call] = ()
    text: str | None = None
    refusal: str | None = None
    finish: str | None = None
    tokens: tuple[Any, Any] | None = (1000, 50)


@dataclass(frozen=True)
class Raw:
    """An answer that is not one of the model."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Hang:
    pass


@dataclass(frozen=True)
class Cut:
    """The connection ends in the middle of the answer."""


@dataclass(frozen=True)
class Endless:
    """An answer that never stops."""


@dataclass(frozen=True)
class Stream:
    """These events, and then its end or some trouble."""

    events: Sequence[Event]
    then: Literal["end", "cut", "hang", "drip"] = "end"


@dataclass(frozen=True)
class Asked:
    number: int
    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def for_a_stream(self) -> bool:
        return self.body.get("stream") is True or self.path.endswith(":streamGenerateContent")

    @property
    def text(self) -> str:
        return json.dumps(self.body, ensure_ascii=False)


Reply = Answer | Raw | Hang | Cut | Endless | Stream
Model = Callable[[Asked], Reply]


def script(*replies: Reply) -> Model:
    """These answers in this order; the last one for ever."""
    return lambda asked: replies[min(asked.number, len(replies) - 1)]


class Provider:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.asked: list[Asked] = []
        self.url = ""
        self._ending = asyncio.Event()

    async def openai(self, request: web.Request) -> web.StreamResponse:
        return await self._reply(request, OPENAI)

    async def anthropic(self, request: web.Request) -> web.StreamResponse:
        return await self._reply(request, ANTHROPIC)

    async def google(self, request: web.Request) -> web.StreamResponse:
        return await self._reply(request, GOOGLE)

    def end(self) -> None:
        self._ending.set()

    async def _reply(self, request: web.Request, protocol: "Protocol") -> web.StreamResponse:
        asked = Asked(len(self.asked), request.path, await request.json(), dict(request.headers))
        self.asked.append(asked)
        reply = self.model(asked)
        if isinstance(reply, Answer) and asked.for_a_stream:
            reply = Stream(protocol.events(reply))
        if isinstance(reply, Answer):
            return web.json_response(protocol.whole(reply))
        if isinstance(reply, Stream):
            return await self._stream(request, reply)
        if isinstance(reply, Raw):
            return web.Response(
                status=reply.status,
                body=reply.body,
                content_type=reply.content_type,
                headers=reply.headers,
            )
        return await _TROUBLE[type(reply)](self, request)

    async def _stream(self, request: web.Request, stream: Stream) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for event in stream.events:
            await response.write(on_the_wire(event))
        if stream.then == "cut":
            assert request.transport is not None
            request.transport.close()
        while stream.then == "drip" and not self._ending.is_set():
            await response.write(b": still here\n\n")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ending.wait(), 0.02)
        if stream.then == "hang":
            await self._ending.wait()
        return response

    async def _hang(self, _: web.Request) -> web.StreamResponse:
        await self._ending.wait()
        return web.Response(status=500)

    async def _cut(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = 1000
        await response.prepare(request)
        await response.write(b'{"id": "x", "cho')
        assert request.transport is not None
        request.transport.close()
        return response

    async def _endless(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        while not self._ending.is_set():
            await response.write(b'{"text": "' + b"x" * 100_000)
        return response


_TROUBLE: dict[type, Callable[[Provider, web.Request], Awaitable[web.StreamResponse]]] = {
    Hang: Provider._hang,
    Cut: Provider._cut,
    Endless: Provider._endless,
}


def _openai(answer: Answer) -> dict[str, Any]:
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": (arguments if isinstance(arguments, str) else json.dumps(arguments)),
            },
        }
        for number, (name, arguments) in enumerate(answer.calls)
    ]
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    if calls:
        message["tool_calls"] = calls  # pyright: ignore
    finish = answer.finish or ("tool_calls" if calls else "stop")
    whole: dict[str, Any] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "test",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
    }
    if answer.tokens is not None:
        asked, answered = answer.tokens
        total = asked + answered if isinstance(asked, int) and isinstance(answered, int) else 0
        whole["usage"] = {
            "prompt_tokens": asked,
            "completion_tokens": answered,
            "total_tokens": total,
        }
    return whole


def _anthropic(answer: Answer) -> dict[str, Any]:
    content: list[dict[str, Any]] = []
    if answer.text is not None:
        content.append({"type": "text", "text": answer.text})
    content.extend(
        {"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": arguments}
        for number, (name, arguments) in enumerate(answer.calls)
    )
    if answer.refusal is not None:
        stop = "refusal"
    else:
        stop = answer.finish or ("tool_use" if answer.calls else "end_turn")
    asked, answered = answer.tokens or (0, 0)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "test",
        "content": content,
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"input_tokens": asked, "output_tokens": answered},
    }


def _google(answer: Answer) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text is not None else []
    parts.extend(
        {"functionCall": {"name": name, "args": arguments}} for name, arguments in answer.calls
    )
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    candidate["finishReason"] = "SAFETY" if answer.refusal is not None else "STOP"
    asked, answered = answer.tokens or (0, 0)
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": asked,
            "candidatesTokenCount": answered,
            "totalTokenCount": asked + answered,
        },
        "modelVersion": "test",
        "responseId": "resp-1",
    }


@dataclass(frozen=True)
class Protocol:
    whole: Callable[[Answer], dict[str, Any]]
    in_events: Callable[[dict[str, Any]], list[Event]]

    def events(self, answer: Answer) -> list[Event]:
        return self.in_events(self.whole(answer))


OPENAI = Protocol(_openai, openai_events)
ANTHROPIC = Protocol(_anthropic, anthropic_events)
GOOGLE = Protocol(_google, google_events)


@asynccontextmanager
async def served(model: Model) -> AsyncGenerator[Provider]:
    provider = Provider(model)
    app = web.Application(client_max_size=50_000_000)
    app.router.add_post("/v1/chat/completions", provider.openai)
    app.router.add_post("/v1/messages", provider.anthropic)
    app.router.add_post("/v1/models/{name}", provider.google)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    host, port = runner.addresses[0][:2]
    provider.url = f"http://{host}:{port}"
    try:
        yield provider
    finally:
        provider.end()
        await runner.cleanup()
