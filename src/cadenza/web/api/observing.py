"""Requests as they are counted and traced; and who may read what was counted."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING

from fastapi import Request, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cadenza.application.ports.telemetry import Telemetry
from cadenza.application.ports.tracing import Span, Tracer
from cadenza.domain.access import hash_of
from cadenza.domain.errors import NotFound

if TYPE_CHECKING:
    from cadenza.web.api.dependencies import Dependencies

LONGEST_TRACEPARENT = 512
STREAM = b"text/event-stream"


@dataclass(frozen=True, slots=True)
class ApiWatch:
    """Who watches the API; nobody, where nothing is given."""

    telemetry: Telemetry | None = None
    tracer: Tracer | None = None
    page: Callable[[str], Awaitable[tuple[bytes, str]]] | None = None  # for what a reader accepts
    token_hash: bytes | None = None
    is_open: bool = False

    def admits(self, token: str) -> bool:
        known = self.token_hash
        return self.is_open or (known is not None and compare_digest(hash_of(token), known))


async def metrics_page(
    request: Request, dependencies: "Dependencies", check_admin: Callable[[str], None]
) -> Response:
    """For whom the settings let in, and the installation's admin."""
    watch = dependencies.around.watch
    _, _, token = request.headers.get("authorization", "").partition(" ")
    if not watch.admits(token):
        check_admin(token)
    if watch.page is None:
        raise NotFound("metrics are switched off here: set CADENZA_METRICS=true")
    body, media_type = await watch.page(request.headers.get("accept", ""))
    return Response(body, headers={"content-type": media_type})


UNWATCHED = ApiWatch()


class ObservedRequests:
    """Around everything else, so that what is refused early counts as well."""

    def __init__(self, app: ASGIApp, watch: ApiWatch, monotonic: Callable[[], float]) -> None:
        self._app = app
        self._watch = watch
        self._monotonic = monotonic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status, is_stream = self._monotonic(), 0, False

        async def seen(message: Message) -> None:
            nonlocal status, is_stream
            if message["type"] == "http.response.start":
                status = message["status"]
                is_stream = any(
                    name == b"content-type" and value.startswith(STREAM)
                    for name, value in message["headers"]
                )
                if is_stream:
                    self._count(scope, status, began)
            await send(message)

        span = self._span(scope)
        try:
            if span is None:
                await self._app(scope, receive, seen)
            else:
                with span.active():
                    await self._app(scope, receive, seen)
        finally:
            if span is not None:
                error = f"HTTP {status}" if status >= 500 else None
                span.end({"http.response.status_code": status, **_route(scope)}, error)
            if not is_stream and status:
                self._count(scope, status, began)

    def _count(self, scope: Scope, status: int, began: float) -> None:
        if self._watch.telemetry is not None:
            self._watch.telemetry.answered(scope["method"], status, self._monotonic() - began)

    def _span(self, scope: Scope) -> Span | None:
        if self._watch.tracer is None:
            return None
        headers = [value for name, value in scope["headers"] if name == b"traceparent"]
        parent = headers[0].decode("latin-1")[:LONGEST_TRACEPARENT] if len(headers) == 1 else None
        method = scope["method"]
        return self._watch.tracer.request(f"api {method}", parent, {"http.request.method": method})


def _route(scope: Scope) -> dict[str, str]:
    """As it is declared, without ids."""
    path = getattr(scope.get("route"), "path", None)
    return {} if path is None else {"http.route": path}
