"""What a graph asks for: read within bounds, and judged before anything is sent on."""

import json
from dataclasses import dataclass
from typing import Any, cast

from aiohttp import web
from aiohttp.http_exceptions import HttpProcessingError

from cadenza.adapters.gateway.dialects import CHAT, RESPONSES, Dialect

MAX_MODEL = 200  # characters
_ASK_FOR_USAGE = b'"stream_options": {"include_usage": true}'
_BLANK = b" \t\r\n"


class BadCall(Exception):
    """Not a call that can be passed on; the text says why, and which field is wrong."""

    def __init__(self, message: str, field: str | None = None, status: int = 400) -> None:
        self.field = field
        self.status = status
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Asked:
    model: str
    body: bytes  # as it is sent on
    hides_usage: bool = False  # the gateway asked for usage in the stream, and the graph did not

    def parsed(self) -> dict[str, Any]:
        return json.loads(self.body)


async def read_call(request: web.BaseRequest, dialect: Dialect, limit: int) -> Asked:
    raw = bytearray()
    try:
        async for chunk in request.content.iter_any():
            raw += chunk
            if len(raw) > limit:
                raise BadCall(f"the body is larger than {limit} bytes", status=413)
    except HttpProcessingError as error:
        raise BadCall("the body is cut off") from error
    body = _strict_object(bytes(raw))
    model = body.get("model")
    if not isinstance(model, str) or not 0 < len(model) <= MAX_MODEL or not model.isprintable():
        raise BadCall(f"model: a name of 1 to {MAX_MODEL} characters", "model")
    if not isinstance(body.get("stream"), bool | None):
        raise BadCall("stream: true or false", "stream")
    if dialect is RESPONSES and body.get("background"):
        raise BadCall("background: not possible here, for its usage comes later", "background")
    if dialect is CHAT and body.get("stream"):
        return _with_usage_in_stream(model, bytes(raw), body)
    return Asked(model, bytes(raw))


def _with_usage_in_stream(model: str, raw: bytes, body: dict[str, Any]) -> Asked:
    """LangChain asks for it only at OpenAI's own address; the raw client never does."""
    if "stream_options" not in body:
        rest = raw.lstrip(_BLANK).removeprefix(b"{")  # all of it stays as the graph wrote it
        return Asked(model, b"{" + _ASK_FOR_USAGE + b", " + rest, hides_usage=True)
    value: Any = body["stream_options"] or {}
    if not isinstance(value, dict):
        raise BadCall("stream_options: an object", "stream_options")
    options = cast("dict[str, Any]", value)
    if options.get("include_usage") is True:
        return Asked(model, raw)
    onward = {**body, "stream_options": {**options, "include_usage": True}}
    try:
        return Asked(model, json.dumps(onward, allow_nan=False).encode(), hides_usage=True)
    except ValueError as error:
        raise BadCall("the body has a number that is too large") from error


def _strict_object(raw: bytes) -> dict[str, Any]:
    try:
        text = raw.decode()
        body = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, _Doubled) else "the body is not valid JSON"
        raise BadCall(why) from error
    if not isinstance(body, dict):
        raise BadCall("the body is not a JSON object")
    return cast("dict[str, Any]", body)


class _Doubled(ValueError):
    """The provider might read the other one: another model than the one that was admitted."""


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        names = [name for name, _ in pairs]
        doubled = next(name for name in names if names.count(name) > 1)
        raise _Doubled(f"{doubled[:100]}: it is there twice")
    return fields


def _no_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")
