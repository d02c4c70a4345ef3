"""Providers that fail, and streams that end before their time."""

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import ClientError, web

from cadenza.adapters.gateway.onward import Limits
from cadenza.domain.billing import Basis, TokenUsage
from cadenza.domain.graph import ErrorCode
from tests.adapters.gateway.support import HAIKU, MESSAGE, Stage, behind, eventually, staged

UNAVAILABLE = ErrorCode.PROVIDER_UNAVAILABLE
PATHS = ["/v1/chat/completions", "/v1/messages"]


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
    async with staged(Limits(idle_s=2)) as stage:
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


async def test_a_run_that_is_closed_cuts_its_stream_and_is_charged_an_estimate(
    stage: Stage,
) -> None:
    answer = await stage.post(body=fault("fault-hang", is_stream=True))
    await answer.content.readany()
    await stage.gateway.close(stage.run_id)
    ((_, _, usage, basis),) = stage.meter.settled
    assert (usage.input_tokens, basis) == (4, Basis.ESTIMATED)
    with pytest.raises(ClientError):
        await answer.read()


async def test_a_run_that_is_closed_cuts_what_was_sent_and_is_charged_an_estimate() -> None:
    arrived = asyncio.Event()

    async def silent(_request: web.Request) -> web.StreamResponse:
        arrived.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody sets it")

    async with behind(silent) as stage:
        asking = asyncio.create_task(stage.post())
        await arrived.wait()
        await stage.gateway.close(stage.run_id)
        assert stage.meter.bases == {Basis.ESTIMATED}
        assert (await asking).status == 403


async def test_a_run_that_is_closed_before_its_call_was_sent_is_charged_nothing() -> None:
    """The provider's machine takes the connection, and TLS is never agreed on."""
    connected = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await reader.read()  # until it is closed
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, staged(address=f"https://127.0.0.1:{port}/v1") as stage:
        asking = asyncio.create_task(stage.post())
        await connected.wait()
        await stage.gateway.close(stage.run_id)
        assert len(stage.meter.admitted) == 1
        assert stage.meter.settled == []
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
