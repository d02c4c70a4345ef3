"""/mcp: the Model Context Protocol under the API's keys and limits.

Browsers send an Origin. A page of another site could reach a server on this machine by a name that
it points there (DNS rebinding), so a browser is let in only at a numeric address or at localhost,
from a page of the same origin. Everybody needs a key.
"""

from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.exceptions import HTTPException
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cadenza.domain.errors import NotAllowed
from cadenza.web.api.access import reader_of

PATH = "/mcp"
NOT_INSTALLED = "this server runs without MCP: pip install 'cadenza[mcp]' where it runs"


class Assistants:
    """Lets in who may read; tools ask for more with the same key."""

    def __init__(self, answer: ASGIApp | None) -> None:
        self._answer = answer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request, response = Request(scope, receive), Response()
        check_origin(request)
        await reader_of(request, response)
        if self._answer is None:
            raise HTTPException(404, NOT_INSTALLED)
        allowance = [pair for pair in response.raw_headers if pair[0].startswith(b"ratelimit-")]

        async def send_with_allowance(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *allowance]
            await send(message)

        await self._answer(scope, receive, send_with_allowance)


def mcp_route(answer: ASGIApp | None) -> Route:
    return Route(PATH, Assistants(answer), methods=["POST"], include_in_schema=False)


def check_origin(request: Request) -> None:
    origin = request.headers.get("origin")
    if origin is None:
        return
    host = request.headers.get("host", "")
    try:
        page = urlsplit(origin)
        is_ours = page.netloc == host and page.scheme in ("http", "https")
        is_fixed = page.hostname == "localhost" or bool(ip_address(page.hostname or ""))
    except ValueError:
        is_ours = is_fixed = False
    if not (is_ours and is_fixed):
        raise NotAllowed("a page of another site, or at a name, may not ask here")
