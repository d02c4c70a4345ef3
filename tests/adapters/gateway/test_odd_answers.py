"""Answers of every shape: what is believed, what is passed on, and what is not read for ever."""

import json
from contextlib import suppress
from typing import Any

import pytest
from aiohttp import ClientError, web

from cadenza.adapters.gateway.onward import Limits
from cadenza.domain.billing import Basis, TokenUsage
from cadenza.domain.graph import ErrorCode
from tests.adapters.gateway.support import HAIKU, KEY, MESSAGE, Stage, behind

UNAVAILABLE = ErrorCode.PROVIDER_UNAVAILABLE


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
