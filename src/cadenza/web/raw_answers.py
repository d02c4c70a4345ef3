"""Answers that are given before the application is asked, or in its place."""

import pydantic_core
from starlette.types import Receive, Scope, Send

from cadenza.web.api.problems import MEDIA_TYPE, Problem

_NAMES = {
    400: "malformed",
    408: "too-slow",
    413: "too-large",
    431: "too-large",
    503: "busy",
}
_REASONS = {
    400: b"Bad Request",
    408: b"Request Timeout",
    413: b"Content Too Large",
    431: b"Request Header Fields Too Large",
}
_BUSY = "all connections are in use; try again in a moment"


def raw_problem(status: int, title: str, detail: str) -> bytes:
    """A whole answer, after which the connection is closed."""
    body = _problem(status, title, detail)
    lines = (
        b"HTTP/1.1 %d %s" % (status, _REASONS[status]),
        b"content-type: " + MEDIA_TYPE.encode(),
        b"content-length: %d" % len(body),
        b"connection: close",
    )
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


async def unavailable(_scope: Scope, _receive: Receive, send: Send) -> None:
    body = _problem(503, "Too many connections", _BUSY)
    headers = [
        (b"content-type", MEDIA_TYPE.encode()),
        (b"content-length", b"%d" % len(body)),
        (b"retry-after", b"1"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _problem(status: int, title: str, detail: str) -> bytes:
    kind = f"/problems/{_NAMES[status]}"
    problem = Problem(type=kind, title=title, status=status, detail=detail)
    return pydantic_core.to_json(problem, exclude_none=True)
