"""The HTTP client that a provider is asked with: bounded answers, and no redirects.

The libraries read an answer whole before anybody can look at it, so the bound sits below them,
where the bytes come in. A compressed answer cannot be bounded: none is asked for, and one that
comes all the same is refused.
"""

from collections.abc import AsyncIterator
from functools import partial

import httpx2
from pydantic_ai.models import create_async_httpx2_client

from cadenza.adapters.brains.llm.options import LlmOptions

MAX_ANSWER = 2_000_000  # bytes; the longest honest answer is a few thousand tokens
MAX_EVENT = 500  # bytes of a stream for one token, which may come by itself


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, most: int) -> None:
        self._stream = stream
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        seen = 0
        async for chunk in self._stream:
            seen += len(chunk)
            if seen > self._most:
                raise httpx2.ReadError(f"the answer is longer than {self._most} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response, most: int) -> None:
    if response.has_redirect_location:
        raise httpx2.ReadError("it redirects elsewhere, where the key must not follow")
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.ReadError("the answer is compressed, which was not asked for")
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(response.stream, most)


async def _one_name(request: httpx2.Request) -> None:
    """Google's library adds a second User-Agent, which strict servers refuse."""
    request.headers["User-Agent"] = "cadenza"


def bounded_client(options: LlmOptions) -> httpx2.AsyncClient:
    seconds = options.timeout.total_seconds()
    longest = MAX_EVENT * options.max_output_tokens if options.stream else 0
    bound = partial(_bound, most=max(MAX_ANSWER, longest))
    client = create_async_httpx2_client(timeout=httpx2.Timeout(seconds, connect=min(10, seconds)))
    client.headers["Accept-Encoding"] = "identity"
    asking = client.event_hooks["request"]
    client.event_hooks = {"request": [*asking, _one_name], "response": [bound]}
    return client
