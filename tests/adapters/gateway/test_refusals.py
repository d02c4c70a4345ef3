"""Calls that are not made, and how a graph hears of it: once, in the words of its own library."""

import json
from typing import Any
from uuid import uuid4

import anthropic
import openai
import pytest

from cadenza.adapters.gateway.onward import Limits
from cadenza.application.ports.gateway import CallRefused
from cadenza.domain.errors import InvalidInput, StoreUnavailable
from cadenza.domain.graph import ErrorCode
from tests.adapters.gateway.support import HAIKU, KEY, MESSAGE, Stage, request_of, staged

MESSAGES: Any = HAIKU["messages"]
STATUSES = {
    ErrorCode.INSUFFICIENT_CREDITS: 402,
    ErrorCode.RATE_LIMIT: 429,
    ErrorCode.ABORTED: 403,
    ErrorCode.TIMEOUT: 403,
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.PROVIDER_UNAVAILABLE: 502,
    ErrorCode.WORKER_LOST: 500,
    ErrorCode.INTERNAL: 500,
}


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_the_openai_client_hears_the_code_and_does_not_ask_again(
    environment: Stage, code: ErrorCode
) -> None:
    asked = count_admissions(environment, CallRefused(code, "no, and here is why"))
    async with openai.AsyncOpenAI() as client:
        with pytest.raises(openai.APIStatusError, match="here is why") as refused:
            await client.chat.completions.create(model="poet", messages=MESSAGES)
    assert (refused.value.status_code, refused.value.code) == (STATUSES[code], code)
    assert (refused.value.type, len(asked)) == (code, 1)
    assert environment.provider.used == {}
    assert environment.meter.settled == []


@pytest.mark.parametrize("code", list(ErrorCode))
async def test_the_anthropic_client_hears_the_code_and_does_not_ask_again(
    environment: Stage, code: ErrorCode
) -> None:
    asked = count_admissions(environment, CallRefused(code, "no, and here is why"))
    async with anthropic.AsyncAnthropic() as client:
        with pytest.raises(anthropic.APIStatusError, match="here is why") as refused:
            await client.messages.create(model="poet", messages=MESSAGES, max_tokens=9)
    body: Any = refused.value.body
    assert (refused.value.status_code, len(asked)) == (STATUSES[code], 1)
    assert (body["type"], body["error"]["type"]) == ("error", code)
    assert environment.provider.used == {}


def count_admissions(stage: Stage, refusal: Exception) -> list[str]:
    asked: list[str] = []

    async def admit(_api: object, model: str) -> Any:
        asked.append(model)
        raise refusal

    stage.meter.admit = admit  # type: ignore[method-assign]
    return asked


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (InvalidInput("model", "poet", "a price"), 400, "invalid_request"),
        (StoreUnavailable("the database is away"), 503, "internal"),
        (RuntimeError("a bug, with a secret in it"), 500, "internal"),
    ],
)
async def test_whatever_an_admission_raises_is_an_answer(
    stage: Stage, error: Exception, status: int, code: str
) -> None:
    stage.meter.refusal = error
    answer = await stage.post()
    text = await answer.text()
    assert (answer.status, json.loads(text)["error"]["code"]) == (status, code)
    assert "secret" not in text
    stage.meter.refusal = None
    assert (await stage.post()).status == 200


@pytest.mark.parametrize("token", ["", "wrong", KEY, "token-1 ", "Bearer token-1", "é"])
@pytest.mark.parametrize("header", ["Authorization", "x-api-key"])
async def test_a_wrong_token(stage: Stage, token: str, header: str) -> None:
    value = f"Bearer x{token}" if header == "Authorization" else f"x{token}"
    answer = await stage.client.post(
        f"{stage.address}/v1/messages", json=MESSAGE, headers={header: value}
    )
    assert answer.status == 401
    assert (await answer.json())["type"] == "error"
    assert stage.meter.admitted == []


async def test_the_token_of_a_closed_run(stage: Stage) -> None:
    assert (await stage.post()).status == 200
    await stage.gateway.close(stage.run_id)
    answer = await stage.post()
    assert (answer.status, answer.headers["x-should-retry"]) == (401, "false")
    await stage.gateway.close(stage.run_id)  # again, and of a run that never was
    await stage.gateway.close(uuid4())


async def test_a_run_that_is_opened_again_has_a_new_token(stage: Stage) -> None:
    again = await stage.gateway.open(request_of(stage.run_id), stage.meter)
    assert again["OPENAI_API_KEY"] != stage.token
    assert (await stage.post()).status == 401


async def test_the_key_of_the_account_is_not_in_the_childs_environment(stage: Stage) -> None:
    assert KEY not in json.dumps(dict(stage.environment))
    assert set(stage.environment) == {
        "CADENZA_GATEWAY_URL",
        "OPENAI_BASE_URL",
        "OPENAI_API_BASE",
        "OPENAI_API_KEY",
        "ANTHROPIC_BASE_URL",
        "ANTHROPIC_API_KEY",
    }


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/models"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/v1/images/generations"),
        ("POST", "/v1/chat/completions/"),
        ("POST", "//v1/chat/completions"),
        ("POST", "/v1/../v1/files"),
        ("DELETE", "/v1/messages"),
    ],
)
async def test_other_paths(stage: Stage, method: str, path: str) -> None:
    headers = {"Authorization": f"Bearer {stage.token}"}
    answer = await stage.client.request(method, stage.address + path, headers=headers)
    assert answer.status == 404
    assert "error" in await answer.json()


BAD: list[tuple[str, bytes, str | None]] = [
    ("/v1/chat/completions", b"", None),
    ("/v1/chat/completions", b"{", None),
    ("/v1/chat/completions", b"[]", None),
    ("/v1/chat/completions", b"null", None),
    ("/v1/chat/completions", b"\xff\xfe", None),
    ("/v1/chat/completions", b'{"model": "a", "temperature": NaN}', None),
    ("/v1/chat/completions", b'{"model": "a", "n": ' + b"9" * 5000 + b"}", None),
    ("/v1/chat/completions", b'{"model": "a", "x": ' + b"[" * 100_000 + b"}", None),
    ("/v1/chat/completions", b'{"model": "cheap", "model": "dear"}', None),
    ("/v1/chat/completions", b'{"messages": []}', "model"),
    ("/v1/embeddings", b'{"model": 7}', "model"),
    ("/v1/responses", b'{"model": ["a"]}', "model"),
    ("/v1/responses", b'{"model": ""}', "model"),
    ("/v1/responses", b'{"model": "a\\nb"}', "model"),
    ("/v1/responses", b'{"model": "' + b"a" * 201 + b'"}', "model"),
    ("/v1/chat/completions", b'{"model": "a", "stream": "yes"}', "stream"),
    ("/v1/chat/completions", b'{"model": "a", "stream": 1}', "stream"),
    (
        "/v1/chat/completions",
        b'{"model": "a", "stream": true, "stream_options": 3}',
        "stream_options",
    ),
    ("/v1/responses", b'{"model": "a", "background": true}', "background"),
]


@pytest.mark.parametrize(("path", "body", "field"), BAD)
async def test_a_bad_body_names_its_field(
    stage: Stage, path: str, body: bytes, field: str | None
) -> None:
    answer = await stage.post(path, body)
    error = (await answer.json())["error"]
    assert (answer.status, error["type"], error["param"]) == (400, "invalid_request", field)
    assert stage.meter.admitted == []
    assert (await stage.post()).status == 200  # and the gateway goes on


async def test_a_body_that_is_too_large() -> None:
    async with staged(Limits(request_bytes=10_000)) as stage:
        answer = await stage.post(body=b'{"model": "' + b"a" * 20_000)
        assert answer.status == 413
        assert (await stage.post()).status == 200


async def test_more_calls_at_once_than_a_run_may_have() -> None:
    async with staged(Limits(calls_at_once=1)) as stage:
        hanging = await stage.post(body={**HAIKU, "model": "fault-hang", "stream": True})
        answer = await stage.post()
        assert (answer.status, (await answer.json())["error"]["code"]) == (429, "rate_limit")
        hanging.close()


async def test_more_connections_than_all_graphs_may_have() -> None:
    async with staged(Limits(connections=1)) as stage:
        hanging = await stage.post(body={**HAIKU, "model": "fault-hang", "stream": True})
        with pytest.raises(Exception, match=r"[Dd]isconnected|reset"):
            await stage.post()
        hanging.close()
