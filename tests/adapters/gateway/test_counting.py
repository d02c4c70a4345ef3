"""Whatever library a graph uses, the ledger agrees with the provider to the token."""

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from openai import AsyncOpenAI

from cadenza.demo.model_provider import Used
from cadenza.domain.billing import Basis, TokenUsage
from tests.adapters.gateway.support import HAIKU, KEY, MESSAGE, Stage

POET = "cadenza-poet"
MESSAGES: Any = HAIKU["messages"]


@asynccontextmanager
async def closing(model: Any) -> AsyncIterator[Any]:
    """LangChain leaves its connections open until its process ends; a test has to close them."""
    yield model
    if isinstance(model, ChatAnthropic):
        await model._async_client.close()
    elif isinstance(model, OpenAIEmbeddings):
        await model.async_client._client.close()
    else:
        await model.root_async_client.close()


def agrees(stage: Stage, calls: int = 1) -> None:
    used = stage.provider.used[KEY]
    assert used.calls == calls
    assert stage.meter.used == used
    assert stage.meter.bases == {Basis.COUNTED}
    assert used.input_tokens > 0


async def test_langchain_whole(environment: Stage) -> None:
    async with closing(ChatOpenAI(model=POET)) as model:
        answer = await model.ainvoke("a verse on rain")
    assert "rain" in answer.text
    agrees(environment)


async def test_langchain_in_a_stream_that_does_not_ask_for_usage(environment: Stage) -> None:
    async with closing(ChatOpenAI(model=POET)) as model:
        chunks = [chunk async for chunk in model.astream("a verse on rain")]
    assert "rain" in "".join(chunk.text for chunk in chunks)
    assert all(chunk.usage_metadata is None for chunk in chunks)
    agrees(environment)


async def test_langchain_in_a_stream_that_asks_for_usage(environment: Stage) -> None:
    async with closing(ChatOpenAI(model=POET, stream_usage=True)) as model:
        usages = [chunk.usage_metadata async for chunk in model.astream("a verse on rain")]
    agrees(environment)
    seen = [usage for usage in usages if usage]
    assert [usage["output_tokens"] for usage in seen] == [environment.meter.used.output_tokens]


async def test_langchain_over_the_responses_api(environment: Stage) -> None:
    async with closing(ChatOpenAI(model=POET, use_responses_api=True)) as model:
        assert "rain" in (await model.ainvoke("a verse on rain")).text
        chunks = [chunk async for chunk in model.astream("a verse on rain")]
    assert "rain" in "".join(chunk.text for chunk in chunks)
    agrees(environment, calls=2)


async def test_langchain_embeddings(environment: Stage) -> None:
    embeddings = OpenAIEmbeddings(model="embedder", check_embedding_ctx_length=False)
    async with closing(embeddings) as model:
        assert len(await model.aembed_documents(["a verse", "on rain"])) == 2
    agrees(environment)
    assert environment.meter.used == Used(1, 4, 0)


async def test_embeddings_of_tokens(stage: Stage) -> None:
    body = {"model": "embedder", "input": [[1, 2, 3], [4, 5]]}
    answer = await (await stage.post("/v1/embeddings", body)).json()
    assert len(answer["data"]) == 2
    agrees(stage)


async def test_the_raw_openai_client(environment: Stage) -> None:
    async with AsyncOpenAI() as client:
        whole = await client.chat.completions.create(model=POET, messages=MESSAGES)
        stream = await client.chat.completions.create(model=POET, messages=MESSAGES, stream=True)
        # As user code has it: a chunk without choices would break it.
        text = "".join([chunk.choices[0].delta.content or "" async for chunk in stream])
        response = await client.responses.create(model=POET, input="a verse on rain")
    assert whole.choices[0].message.content == text == response.output_text
    agrees(environment, calls=3)


async def test_the_raw_openai_client_gets_the_usage_that_it_asks_for(environment: Stage) -> None:
    async with AsyncOpenAI() as client:
        stream = await client.chat.completions.create(
            model=POET, messages=MESSAGES, stream=True, stream_options={"include_usage": True}
        )
        usages = [chunk.usage async for chunk in stream if chunk.usage]
    agrees(environment)
    assert [usage.completion_tokens for usage in usages] == [environment.meter.used.output_tokens]


async def test_langchain_anthropic_whole_and_in_a_stream(environment: Stage) -> None:
    async with closing(ChatAnthropic(model_name=POET)) as model:
        assert "rain" in (await model.ainvoke("a verse on rain")).text
        chunks = [chunk async for chunk in model.astream("a verse on rain")]
    assert "rain" in "".join(chunk.text for chunk in chunks)
    agrees(environment, calls=2)


async def test_the_raw_anthropic_client(environment: Stage) -> None:
    async with AsyncAnthropic() as client:
        options: Any = {"model": POET, "messages": MESSAGES, "max_tokens": 100}
        await client.messages.create(**options)
        async with client.messages.stream(**options) as stream:
            text = "".join([piece async for piece in stream.text_stream])
    assert "rain" in text
    agrees(environment, calls=2)


async def test_a_raw_stream_is_what_the_provider_sent(stage: Stage) -> None:
    body = {**HAIKU, "stream": True, "stream_options": {"include_usage": True}}
    through = await (await stage.post(body=body)).read()
    url = f"{stage.meter.address}/v1/chat/completions"
    direct = await (await stage.client.post(url, json=body)).read()
    assert through == direct
    agrees(stage)


@pytest.mark.parametrize("options", [None, {}, {"include_usage": False}, {"x": 1}])
async def test_a_stream_that_asks_for_no_usage_gets_none(stage: Stage, options: Any) -> None:
    body = {**HAIKU, "stream": True, "stream_options": options}
    assert b"usage" not in await (await stage.post(body=body)).read()
    agrees(stage)


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
@pytest.mark.parametrize("is_stream", [False, True])
async def test_cached_tokens_are_among_the_input_tokens(
    stage: Stage, path: str, is_stream: bool
) -> None:
    body = {"model": "poet-cached", "stream": is_stream, "max_tokens": 9}
    body["input" if path.endswith("responses") else "messages"] = MESSAGES
    await (await stage.post(path, body)).read()
    agrees(stage)
    usage = stage.meter.settled[0][2]
    assert usage == TokenUsage(4, usage.output_tokens, cache_read_tokens=1)


async def test_fifty_streams_at_once(stage: Stage) -> None:
    async def one(number: int) -> bytes:
        body = {**MESSAGE, "stream": True, "messages": [{"role": "user", "content": "w " * number}]}
        path = "/v1/messages" if number % 2 else "/v1/chat/completions"
        return await (await stage.post(path, body)).read()

    answers = await asyncio.gather(*(one(number) for number in range(1, 51)))
    assert all(b"bell" in answer for answer in answers)
    agrees(stage, calls=50)
    assert len({unit for unit, *_ in stage.meter.settled}) == 50


CHILD = """
import os
from langchain_openai import ChatOpenAI
for chunk in ChatOpenAI(model="cadenza-poet").stream("a verse on rain"):
    if chunk.response_metadata.get("finish_reason"):
        break
else:
    os._exit(1)
for chunk in ChatOpenAI(model="cadenza-poet").stream("a verse on rain"):
    pass
os._exit(0)
"""


async def test_a_child_that_exits_with_the_last_word_is_charged(stage: Stage) -> None:
    """The first of its streams it leaves at the last word, and does not wait for the end."""
    command = [sys.executable, "-c", CHILD]
    run = asyncio.to_thread(
        subprocess.run, command, env=dict(stage.environment), capture_output=True, text=True
    )
    done = await run
    assert done.returncode == 0, done.stderr
    await stage.gateway.close(stage.run_id)
    assert stage.meter.used.calls == stage.provider.used[KEY].calls == 2
    assert stage.meter.used.input_tokens == stage.provider.used[KEY].input_tokens
