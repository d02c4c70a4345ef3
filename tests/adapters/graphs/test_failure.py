"""Exceptions of real clients, and which of our codes they are."""

from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

from cadenza.adapters.graphs.failure import code_of, message_of
from cadenza.domain.graph import ErrorCode

REFUSED = {"error": {"type": "insufficient_credits", "message": "the account is empty"}}


def _openai(status: int, body: Any = None) -> Exception:
    asked = httpx2.Request("POST", "http://127.0.0.1/v1/chat/completions")
    response = httpx2.Response(status, request=asked, json=body or {})
    client = openai.OpenAI(api_key="x", base_url="http://127.0.0.1/v1")
    return client._make_status_error_from_response(response)


def _anthropic(status: int, body: Any = None) -> Exception:
    client = anthropic.Anthropic(api_key="x", base_url="http://127.0.0.1")
    library: Any = httpx2 if "httpx2" in str(type(client._client).__mro__) else httpx
    asked = library.Request("POST", "http://127.0.0.1/v1/messages")
    response = library.Response(status, request=asked, json=body or {})
    return client._make_status_error_from_response(response)


@pytest.mark.parametrize("make", [_openai, _anthropic])
@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (402, None, ErrorCode.INSUFFICIENT_CREDITS),
        (429, None, ErrorCode.RATE_LIMIT),
        (500, None, ErrorCode.PROVIDER_UNAVAILABLE),
        (503, None, ErrorCode.PROVIDER_UNAVAILABLE),
        (400, None, ErrorCode.INVALID_REQUEST),
        (401, None, ErrorCode.INTERNAL),
        (429, REFUSED, ErrorCode.INSUFFICIENT_CREDITS),
        (403, {"error": {"type": "aborted"}}, ErrorCode.ABORTED),
        (429, {"error": {"type": "rate_limit_error"}}, ErrorCode.RATE_LIMIT),
        (500, {"error": {"type": ["no", "text"]}}, ErrorCode.PROVIDER_UNAVAILABLE),
        (500, {"error": "text"}, ErrorCode.PROVIDER_UNAVAILABLE),
    ],
)
def test_an_answer_of_a_provider_has_its_code(
    make: Any, status: int, body: Any, code: ErrorCode
) -> None:
    assert code_of(make(status, body)) is code


def test_no_answer_at_all_has_its_code() -> None:
    asked = httpx2.Request("POST", "http://127.0.0.1")
    assert code_of(openai.APIConnectionError(request=asked)) is ErrorCode.PROVIDER_UNAVAILABLE
    assert code_of(openai.APITimeoutError(request=asked)) is ErrorCode.TIMEOUT
    assert code_of(httpx.ConnectError("x")) is ErrorCode.PROVIDER_UNAVAILABLE
    assert code_of(httpx.ReadTimeout("x")) is ErrorCode.TIMEOUT
    assert code_of(ConnectionResetError("x")) is ErrorCode.PROVIDER_UNAVAILABLE
    assert code_of(TimeoutError()) is ErrorCode.TIMEOUT


def test_the_cause_counts_where_the_error_itself_says_nothing() -> None:
    error = RuntimeError("the model did not answer")
    error.__cause__ = _openai(402)
    assert code_of(error) is ErrorCode.INSUFFICIENT_CREDITS
    assert code_of(ExceptionGroup("several", [_openai(429)])) is ErrorCode.RATE_LIMIT
    assert code_of(ValueError("x")) is ErrorCode.INTERNAL


def test_a_loop_of_causes_ends() -> None:
    error = ValueError("x")
    error.__cause__ = error
    assert code_of(error) is ErrorCode.INTERNAL


def test_a_message_is_bounded_and_never_fails() -> None:
    class Silent(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert message_of(Silent()) == "Silent"
    assert len(message_of(ValueError("x" * 10_000))) <= 2000
