"""Request middleware: an id, limits on the size of a request, headers of every answer.

Plain ASGI, because it runs with every request: no tasks of its own, no copies of a body.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from uuid import UUID

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cadenza.application.present import PresentRequest, present_request
from cadenza.web.api.known_keys import TOKEN_HEADER
from cadenza.web.api.problems import problem_response

MAX_BODY = 1024 * 1024
MAX_MANIFEST = 10 * 1024 * 1024
MAX_URL = 8 * 1024
MAX_HEADERS = 64 * 1024
DRAIN_SECONDS = 1.0
_ONCE = frozenset((b"authorization", b"host", b"idempotency-key", TOKEN_HEADER.lower().encode()))
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_DEFAULT_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
)
_log = structlog.get_logger()


class RequestMiddleware:
    def __init__(self, app: ASGIApp, new_id: Callable[[], UUID]) -> None:
        self._app = app
        self._new_id = new_id

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = self._request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        present_request.set(PresentRequest(request_id))
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                present = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    (b"x-request-id", request_id.encode()),
                    *(pair for pair in _DEFAULT_HEADERS if pair[0] not in present),
                ]
            await send(message)

        try:
            _check_head(scope)
            await self._app(scope, _limited(scope, receive), send_with_headers)
        except ClientDisconnect:
            _log.info("api.left", path=scope["path"], request_id=request_id)  # nobody to answer
        except Exception as error:
            headers = {"Connection": "close"} if isinstance(error, HeadRefused) else None
            if isinstance(error, TooLarge):
                problem = (error.status, "too-large", "Too large", str(error))
            elif isinstance(error, Ambiguous):
                problem = (error.status, "malformed", "The request cannot be read", str(error))
            else:
                _log.exception("api.failed", path=scope["path"], request_id=request_id)
                title = "Something went wrong on our side"
                problem = (500, "internal", title, f"it has been logged under {request_id}")
            if started:
                raise
            answer = problem_response(Request(scope), *problem, headers=headers)
            await answer(scope, receive, send_with_headers)

    def _request_id(self, scope: Scope) -> str:
        """The caller's own, where it is one that a log can take."""
        for name, value in scope["headers"]:
            if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
                return value.decode()
        return self._new_id().hex


class HeadRefused(Exception):
    """What a request says of itself is enough to refuse it, and the connection with it."""

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


class TooLarge(HeadRefused):
    """A body, an address or headers over their limit."""


class Ambiguous(HeadRefused):
    """What is meant to be said once is said twice: whoever else reads it may take the other."""


def _check_head(scope: Scope) -> None:
    if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_URL:
        raise TooLarge(f"an address may have {MAX_URL} bytes", 414)
    if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADERS:
        raise TooLarge(f"headers may have {MAX_HEADERS} bytes", 431)
    names = [name for name, _ in scope["headers"] if name in _ONCE]
    if len(names) > len(set(names)):
        twice = next(name for name in names if names.count(name) > 1).decode().title()
        raise Ambiguous(f"there is more than one {twice} header; send one", 400)


def _limited(scope: Scope, receive: Receive) -> Receive:
    most = MAX_MANIFEST if scope["path"].endswith("/manifest") else MAX_BODY
    read = 0

    async def receive_some() -> Message:
        nonlocal read
        if not read and _asks_to_send(scope) > most:
            raise TooLarge(f"a body may have {most} bytes", 413)
        message = await receive()
        if message["type"] == "http.request":
            read += len(message.get("body", b""))
            if read > most:
                await _drain(message, receive, 8 * most)
                raise TooLarge(f"a body may have {most} bytes", 413)
        return message

    return receive_some


def _asks_to_send(scope: Scope) -> int:
    """The length of a body whose client waits for a word before it sends it. The server gives that
    word as soon as the body is asked for."""
    headers = dict(scope["headers"])
    length = headers.get(b"content-length", b"")
    asks = headers.get(b"expect", b"").lower() == b"100-continue"
    return int(length[:20]) if asks and length.isdigit() else 0


async def _drain(message: Message, receive: Receive, most: int) -> None:
    """Read on for a moment: a client that is cut off while it sends would not see the answer."""
    read = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_SECONDS):
            while message.get("more_body") and read < most:
                message = await receive()
                read += len(message.get("body", b""))
