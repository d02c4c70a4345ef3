"""Providers that fail, and streams that end before their time."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import ClientError, web

from cadenza.adapters.gateway.onward import Limits
from cadenza.domain.billing import Basis, TokenUsage
from cadenza.domain.graph import ErrorCode
from tests.adapters.gateway.support import HAIKU, KEY, MESSAGE, Stage, eventually, staged

UNAVAILABLE = ErrorCode.PROVIDER_UNAVAILABLE
PATHS = ["/v1/chat/completions", "/v1/messages"]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


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


def fault(model: str, is_stream: bool = False) -> dict[str, Any]:
    return {**MESSAGE, "model": model, "stream": is_stream}


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(
    ("status", "code"), [(402, UNAVAILABLE), (429, ErrorCode.RATE_LIMIT), (500, UNAVAILABLE)]
)
async def test_a_status_passes_and_charges_nothing(
    stage: Stage, path: str, is_stream: bool, status: int, code: ErrorCode
) -> None:
    answer = await stage.post(path, fault(f"fault-{status}", is_stream))
    assert answer.status == status
    assert f"always answers {status}" in await answer.text()
    message = f"the provider answered {status}: this model always answers {status}"
    assert stage.meter.failures == [(code, message)]
    await stage.gateway.close(stage.run_id)
    assert stage.meter.settled == []


async def test_a_client_asks_again_as_it_does_without_a_gateway(environment: Stage) -> None:
    """Each try is admitted as a call of its own."""
    async with openai.AsyncOpenAI(max_retries=1) as client:
        with pytest.raises(openai.InternalServerError):
            await client.chat.completions.create(model="fault-500", messages=[])
    assert len(environment.meter.admitted) == 2


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_rubbish_passes_and_charges_nothing(stage: Stage, path: str, is_stream: bool) -> None:
    answer = await stage.post(path, fault("fault-rubbish", is_stream))
    assert answer.status == 200
    assert b"not" in await answer.read()
    assert [code for code, _ in stage.meter.failures] == [UNAVAILABLE]
    await stage.gateway.close(stage.run_id)
    assert stage.meter.settled == []


@pytest.mark.parametrize("path", PATHS)
async def test_a_whole_answer_that_is_cut_charges_nothing(stage: Stage, path: str) -> None:
    answer = await stage.post(path, fault("fault-cut"))
    assert answer.status == 502
    assert (await answer.json())["error"]["type"] == UNAVAILABLE
    assert stage.meter.failures == [(UNAVAILABLE, "the provider cut the connection")]
    await stage.gateway.close(stage.run_id)
    assert stage.meter.settled == []


@pytest.mark.parametrize("path", PATHS)
async def test_a_stream_that_is_cut_is_estimated(stage: Stage, path: str) -> None:
    answer = await stage.post(path, fault("fault-cut", is_stream=True))
    with pytest.raises(ClientError):  # nobody can take it for whole
        await answer.read()
    await stage.gateway.close(stage.run_id)
    ((_, model, usage, basis),) = stage.meter.settled
    assert (model, basis) == ("fault-cut", Basis.ESTIMATED)
    assert usage.input_tokens == 4  # said by Anthropic's first event; else 15 characters
    assert 0 < usage.output_tokens < 20
    assert stage.meter.failures == [(UNAVAILABLE, "the provider cut the connection")]


async def test_the_clients_raise_where_a_stream_is_cut(environment: Stage) -> None:
    body: Any = fault("fault-cut", is_stream=True)
    async with openai.AsyncOpenAI() as client:
        with pytest.raises(openai.APIError, match="cut the connection"):
            _ = [chunk async for chunk in await client.chat.completions.create(**body)]
    async with anthropic.AsyncAnthropic() as other:
        with pytest.raises(anthropic.APIError, match="cut the connection"):
            _ = [event async for event in await other.messages.create(**body)]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_provider_that_hangs(path: str, is_stream: bool) -> None:
    async with staged(Limits(idle_s=0.3)) as stage:
        answer = await stage.post(path, fault("fault-hang", is_stream))
        if is_stream:
            with pytest.raises(ClientError):
                await answer.read()
        else:
            assert answer.status == 502
        assert stage.meter.failures == [(UNAVAILABLE, "the provider did not answer in time")]
        await stage.gateway.close(stage.run_id)
        # Half of a stream was used; of what never came, nobody knows.
        assert stage.meter.bases == ({Basis.ESTIMATED} if is_stream else set())


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "http://", "ftp://127.0.0.1", "::"])
async def test_a_provider_that_cannot_be_reached(address: str) -> None:
    async with staged(address=address) as stage:
        answer = await stage.post()
        assert (answer.status, (await answer.json())["error"]["code"]) == (502, UNAVAILABLE)
        assert [code for code, _ in stage.meter.failures] == [UNAVAILABLE]
        await stage.gateway.close(stage.run_id)
        assert stage.meter.settled == []


@pytest.mark.parametrize("path", PATHS)
async def test_a_graph_that_leaves_a_stream_is_charged_an_estimate(stage: Stage, path: str) -> None:
    answer = await stage.post(path, fault("fault-hang", is_stream=True))
    await answer.content.readany()
    answer.close()
    await stage.gateway.close(stage.run_id)
    ((_, _, usage, basis),) = stage.meter.settled
    assert basis is Basis.ESTIMATED
    assert usage.input_tokens == 4
    assert usage.output_tokens > 0
    assert stage.meter.failures == []


async def test_a_graph_that_leaves_stops_the_provider() -> None:
    stopped = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        try:
            while True:
                event = {"choices": [{"index": 0, "delta": {"content": "word "}}]}
                await response.write(f"data: {json.dumps(event)}\n\n".encode())
                await asyncio.sleep(0.001)
        finally:
            stopped.set()

    async with behind(endless) as stage:
        answer = await stage.post(body={**HAIKU, "stream": True})
        await answer.content.readany()
        answer.close()
        async with asyncio.timeout(30):
            await stopped.wait()
        await eventually(lambda: len(stage.meter.settled) == 1)
        assert stage.meter.bases == {Basis.ESTIMATED}


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_run_that_is_closed_cuts_its_calls_and_is_charged_an_estimate(
    stage: Stage, is_stream: bool
) -> None:
    asking = asyncio.create_task(stage.post(body=fault("fault-hang", is_stream)))
    if is_stream:
        answer = await asking
        await answer.content.readany()
    await eventually(lambda: len(stage.meter.admitted) == 1)
    await asyncio.sleep(0.2)  # the other way, it is on its way to the provider
    await stage.gateway.close(stage.run_id)
    ((_, _, usage, basis),) = stage.meter.settled
    assert (usage.input_tokens, basis) == (4, Basis.ESTIMATED)
    if is_stream:
        with pytest.raises(ClientError):
            await answer.read()
    else:
        assert (await asking).status == 403


async def test_a_whole_answer_is_counted_though_the_graph_has_gone() -> None:
    may_answer = asyncio.Event()

    async def slow(_request: web.Request) -> web.StreamResponse:
        await may_answer.wait()
        return web.json_response({"usage": {"prompt_tokens": 7, "completion_tokens": 8}})

    async with behind(slow) as stage:
        asking = asyncio.create_task(stage.post())
        await eventually(lambda: len(stage.meter.admitted) == 1)
        asking.cancel()
        await asyncio.wait({asking})
        may_answer.set()
        await eventually(lambda: len(stage.meter.settled) == 1)
        assert stage.meter.settled[0][2:] == (TokenUsage(7, 8), Basis.COUNTED)


async def answering(raw: bytes, content_type: str, limits: Limits | None = None) -> Stage:
    """One call of a provider that answers with these bytes, and what became of it."""

    async def handler(_request: web.Request) -> web.StreamResponse:
        return web.Response(body=raw, headers={"Content-Type": content_type})

    async with behind(handler, limits) as stage:
        answer = await stage.post(body={**HAIKU, "stream": True})
        with suppress(ClientError):
            await answer.read()
        await stage.gateway.close(stage.run_id)
    return stage


RUBBISH_COUNTS = [-1, 1.5, True, "7", None, [], {}, 10**30]


@pytest.mark.parametrize("number", RUBBISH_COUNTS)
async def test_counts_that_are_no_counts_are_not_believed(number: Any) -> None:
    usage = {"prompt_tokens": number, "completion_tokens": 5}
    body = {"choices": [{"message": {"content": "x" * 40}}], "usage": usage}
    stage = await answering(json.dumps(body).encode(), "application/json")
    assert [(used, basis) for _, _, used, basis in stage.meter.settled] == [
        (TokenUsage(4, 10), Basis.ESTIMATED)
    ]


@pytest.mark.parametrize(
    "body",
    [
        {"usage": 3},
        {"usage": {"prompt_tokens_details": 3}},
        {"choices": 7, "usage": []},
        {"choices": [7, None, {"delta": [3]}]},
    ],
)
async def test_odd_shapes_are_estimated(body: Any) -> None:
    whole = await answering(json.dumps(body).encode(), "application/json")
    stream = await answering(b"data: " + json.dumps(body).encode() + b"\n\n", "text/event-stream")
    assert whole.meter.bases == stream.meter.bases == {Basis.ESTIMATED}


async def test_a_stream_whose_every_chunk_tells_the_usage_so_far() -> None:
    chunks = [
        {
            "choices": [{"delta": {"content": "a"}}],
            "usage": {"prompt_tokens": 3, "completion_tokens": n},
        }
        for n in range(1, 5)
    ]
    raw = b"".join(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks)
    stage = await answering(raw + b"data: [DONE]", "text/event-stream; charset=utf-8")
    assert stage.meter.settled[0][2:] == (TokenUsage(3, 4), Basis.COUNTED)


async def test_an_error_within_a_stream_is_told() -> None:
    error = b'data: {"error": {"message": "overloaded"}}\n\ndata: [DONE]\n\n'
    stage = await answering(error, "text/event-stream")
    assert stage.meter.failures == [
        (UNAVAILABLE, "the provider answered with an error: overloaded")
    ]
    assert stage.meter.settled == []


async def test_an_event_without_end_is_not_read_for_ever() -> None:
    stage = await answering(b"data: " + b"x" * (2 * 1024 * 1024), "text/event-stream")
    assert [code for code, _ in stage.meter.failures] == [UNAVAILABLE]
    assert "1048576" in stage.meter.failures[0][1]


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
async def test_an_answer_without_end_is_not_read_for_ever(content_type: str) -> None:
    limits = Limits(answer_bytes=10_000)
    stage = await answering(b"data: {}\n\n" * 5_000, content_type, limits)
    assert [code for code, _ in stage.meter.failures] == [UNAVAILABLE]
    assert "10000" in stage.meter.failures[0][1]


async def test_what_is_sent_on_and_what_comes_back() -> None:
    seen: list[web.Request] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        headers = {
            "Retry-After": "7",
            "x-request-id": "r1",
            "Set-Cookie": "a=b",
            "x-internal": "secret",
        }
        quoted = f'{{"error": {{"message": "wrong key: {KEY}"}}}}'
        return web.Response(status=401, text=quoted, headers=headers)

    async with behind(handler) as stage:
        given = {"OpenAI-Beta": "x=1", "User-Agent": "mine", "Cookie": "a=b", "X-Mine": "1"}
        answer = await stage.post(headers=given)
        headers = seen[0].headers
        assert headers["Authorization"] == f"Bearer {KEY}"
        assert (headers["OpenAI-Beta"], headers["User-Agent"]) == ("x=1", "mine")
        assert not {"Cookie", "X-Mine", "X-Api-Key"} & set(headers)
        assert (answer.status, answer.headers["Retry-After"]) == (401, "7")
        assert answer.headers["x-request-id"] == "r1"
        assert not {"Set-Cookie", "x-internal"} & set(answer.headers)
        assert KEY not in await answer.text()
        assert stage.meter.failures == [(UNAVAILABLE, "the provider answered 401: wrong key: ***")]
        given = {"anthropic-version": "2023-06-01", "anthropic-beta": "b"}
        await stage.post("/v1/messages?beta=true", MESSAGE, headers=given)
        headers = seen[1].headers
        assert headers["X-Api-Key"] == KEY
        assert "Authorization" not in headers
        assert (headers["anthropic-version"], headers["anthropic-beta"]) == ("2023-06-01", "b")


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_body_passes_as_the_graph_wrote_it(is_stream: bool) -> None:
    seen: list[bytes] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(await request.read())
        return web.json_response({"usage": {"prompt_tokens": 1}})

    odd = b'"x": ["\\ud83d", 1.50, 1e400, 123456789012345678901234567890, "\xe2\x99\xab"]}'
    stream = b'"stream": true , ' if is_stream else b""
    written = b' \n { "model" :"poet", ' + stream + odd
    async with behind(handler) as stage:
        assert (await stage.post(body=written)).status == 200
    asked = b'{"stream_options": {"include_usage": true}, ' + written[4:]
    assert seen == [asked if is_stream else written]


async def test_redirects_are_not_followed() -> None:
    seen: list[str] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        seen.append(request.path)
        return web.Response(status=307, headers={"Location": "/elsewhere"})

    async with behind(handler) as stage:
        answer = await stage.post()
        assert (answer.status, "Location" in answer.headers) == (502, False)
        assert seen == ["/v1/chat/completions"]
        assert [code for code, _ in stage.meter.failures] == [UNAVAILABLE]
