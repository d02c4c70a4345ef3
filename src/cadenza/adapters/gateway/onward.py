"""The way to the provider: what is sent on, what comes back, and what is said when it fails."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from aiohttp import (
    ClientConnectorError,
    ClientPayloadError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    InvalidURL,
    ServerDisconnectedError,
    TraceConfig,
    web,
)
from aiohttp.client import _RequestContextManager  # pyright: ignore[reportPrivateUsage]

from cadenza.adapters.gateway.asked import Asked
from cadenza.adapters.gateway.dialects import Dialect, onward_url
from cadenza.adapters.gateway.events import EventTooLong
from cadenza.application.ports.gateway import Provider
from cadenza.domain.billing import ModelApi
from cadenza.domain.graph import ErrorCode

MAX_HEADER = 1024  # characters
MAX_MESSAGE = 500
_ONWARD = ("Accept", "Anthropic-Version", "Anthropic-Beta", "OpenAI-Beta", "User-Agent")
_BACK = (
    "Content-Type",
    "Retry-After",
    "Retry-After-Ms",
    "X-Should-Retry",
    "X-Request-Id",
    "Request-Id",
)


class AnswerTooLong(ValueError):
    """More than any answer of a model needs."""


@dataclass(frozen=True, slots=True)
class Limits:
    request_bytes: int = 10 * 1024 * 1024
    answer_bytes: int = 64 * 1024 * 1024
    error_bytes: int = 64 * 1024
    connect_s: float = 10.0
    idle_s: float = 600.0  # between two pieces of an answer: a model may think for long
    calls_at_once: int = 64  # of one run
    connections: int = 512  # of all graphs together, so that files stay free for the worker
    settle_s: float = 5.0  # that a graph waits for its charge, while the database is away
    close_s: float = 30.0  # that a closed run waits for its charges


def send(
    session: ClientSession,
    request: web.BaseRequest,
    dialect: Dialect,
    asked: Asked,
    provider: Provider,
    limits: Limits,
    on_sent: Callable[[], None],
) -> _RequestContextManager:
    return session.post(
        onward_url(provider.base_url, dialect),
        data=asked.body,
        headers=_headers(request, provider),
        allow_redirects=False,  # the key is for this address
        timeout=ClientTimeout(total=None, sock_connect=limits.connect_s, sock_read=limits.idle_s),
        trace_request_ctx=on_sent,
    )


def noting_what_is_sent() -> TraceConfig:
    """For a session of `send`: says when the body of a call goes out, and not before."""
    config = TraceConfig()

    async def note(_session: ClientSession, context: Any, _chunk: object) -> None:
        context.trace_request_ctx()

    config.on_request_chunk_sent.append(note)
    return config


def _headers(request: web.BaseRequest, provider: Provider) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    for name in _ONWARD:
        value = request.headers.get(name, "")
        if 0 < len(value) <= MAX_HEADER and value.isascii() and value.isprintable():
            headers[name] = value
    if provider.api is ModelApi.ANTHROPIC:
        headers["X-Api-Key"] = provider.key.value
    else:
        headers["Authorization"] = f"Bearer {provider.key.value}"
    return headers


def headers_back(answer: ClientResponse) -> dict[str, str]:
    return {name: answer.headers[name] for name in _BACK if name in answer.headers}


async def read_answer(answer: ClientResponse, limit: int) -> bytes:
    raw = bytearray()
    async for chunk in answer.content.iter_any():
        raw += chunk
        if len(raw) > limit:
            raise AnswerTooLong(f"an answer of more than {limit} bytes")
    return bytes(raw)


def json_object(raw: bytes) -> Mapping[str, Any] | None:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def code_of(status: int) -> ErrorCode:
    """Of a provider's refusal. Its own 401, 402 and 403 mean the account's key, not the run."""
    if status == 429:
        return ErrorCode.RATE_LIMIT
    if status >= 500 or status < 400 or status in (401, 402, 403, 408, 409):
        return ErrorCode.PROVIDER_UNAVAILABLE
    return ErrorCode.INVALID_REQUEST


def message_in(text: str) -> str:
    """What a provider says of its error, in whatever shape."""
    body = json_object(text.encode("utf-8", "replace")) or {}
    error: Any = body.get("error", body)
    if isinstance(error, dict):
        error = cast("dict[str, Any]", error).get("message")
    return " ".join(str(error or text).split())[:MAX_MESSAGE]


def why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "the provider did not answer in time"
    if isinstance(error, EventTooLong | AnswerTooLong):
        return f"the provider sent {error}"
    if isinstance(error, InvalidURL):
        return "the provider's address is not valid"
    if isinstance(error, ClientConnectorError):
        return "the provider cannot be reached"
    if isinstance(error, ClientPayloadError | ServerDisconnectedError | ConnectionError):
        return "the provider cut the connection"
    return f"the provider's answer cannot be read ({type(error).__name__})"
