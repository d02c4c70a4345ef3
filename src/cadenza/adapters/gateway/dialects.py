"""The calls that the gateway knows, and how each API says that one of them failed."""

from dataclasses import dataclass
from typing import Any

from aiohttp import web

from cadenza.domain.billing import ModelApi
from cadenza.domain.graph import ErrorCode


@dataclass(frozen=True, slots=True)
class Dialect:
    api: ModelApi
    path: str  # at the provider, after its base address
    sends: tuple[str, ...]  # the fields whose text a model reads


CHAT = Dialect(ModelApi.OPENAI, "/chat/completions", ("messages", "tools"))
RESPONSES = Dialect(ModelApi.OPENAI, "/responses", ("instructions", "input", "tools"))
EMBEDDINGS = Dialect(ModelApi.OPENAI, "/embeddings", ("input",))
MESSAGES = Dialect(ModelApi.ANTHROPIC, "/v1/messages", ("system", "messages", "tools"))

DIALECTS = {
    "/v1/chat/completions": CHAT,
    "/v1/responses": RESPONSES,
    "/v1/embeddings": EMBEDDINGS,
    "/v1/messages": MESSAGES,
}

STATUS_OF = {
    ErrorCode.INVALID_REQUEST: 400,
    ErrorCode.INSUFFICIENT_CREDITS: 402,
    ErrorCode.ABORTED: 403,
    ErrorCode.TIMEOUT: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.RATE_LIMIT: 429,
    ErrorCode.PROVIDER_UNAVAILABLE: 502,
}


def onward_url(base_url: str, dialect: Dialect) -> str:
    """As the API's own client has it: OpenAI's base address ends with /v1, Anthropic's does not."""
    base = base_url.rstrip("/")
    return (base.removesuffix("/v1") if dialect.api is ModelApi.ANTHROPIC else base) + dialect.path


def error_body(api: ModelApi, code: str, message: str, field: str | None = None) -> dict[str, Any]:
    if api is ModelApi.ANTHROPIC:
        return {"type": "error", "error": {"type": code, "message": message}}
    return {"error": {"message": message, "type": code, "param": field, "code": code}}


def error_response(
    api: ModelApi,
    status: int,
    code: str,
    message: str,
    *,
    field: str | None = None,
    may_retry: bool = False,
) -> web.Response:
    # The official clients obey it; otherwise they ask again after 408, 409, 429 and 5xx.
    headers = {} if may_retry else {"x-should-retry": "false"}
    return web.json_response(error_body(api, code, message, field), status=status, headers=headers)
