"""An assistant: the official client, over the application or a server that listens."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2 as httpx
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from tests.web.support import bearer

URL = "http://127.0.0.1/mcp"


class Assistant:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, tool: str, **arguments: Any) -> CallToolResult:
        answer = await self.client.call_tool(tool, arguments)
        assert isinstance(answer, CallToolResult)
        return answer

    async def does(self, tool: str, **arguments: Any) -> Any:
        """What must go well; what is structured is what is written."""
        answer = await self.call(tool, **arguments)
        assert not answer.is_error, f"{tool} {arguments}: {text_of(answer)}"
        assert json.loads(text_of(answer)) == answer.structured_content
        return answer.structured_content

    async def is_told(self, tool: str, **arguments: Any) -> str:
        """Why something did not go well."""
        answer = await self.call(tool, **arguments)
        assert answer.is_error, f"{tool} {arguments}: {text_of(answer)}"
        return text_of(answer)

    async def reads(self, uri: str) -> str:
        (content,) = (await self.client.read_resource(uri)).contents
        return content.text  # type: ignore[union-attr]


def text_of(answer: CallToolResult) -> str:
    (content,) = answer.content
    assert isinstance(content, TextContent)
    return content.text


@asynccontextmanager
async def assistant(app: Any, key: str, mode: str = "auto") -> AsyncIterator[Assistant]:
    """In the same process."""
    transport = httpx.ASGITransport(app=app)
    async with (
        httpx.AsyncClient(transport=transport, headers=bearer(key)) as http,
        Client(streamable_http_client(URL, http_client=http), mode=mode) as client,
    ):
        yield Assistant(client)


@asynccontextmanager
async def assistant_at(url: str, key: str) -> AsyncIterator[Assistant]:
    """Over a socket."""
    async with (
        httpx.AsyncClient(headers=bearer(key)) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield Assistant(client)


def rpc(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def call_of(tool: str, **arguments: Any) -> dict[str, Any]:
    return rpc("tools/call", name=tool, arguments=arguments)


__all__ = ["URL", "Assistant", "MCPError", "assistant", "assistant_at", "call_of", "rpc", "text_of"]
