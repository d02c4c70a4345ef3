"""Documents of the provider, within a deadline and a size, and from nowhere else."""

import asyncio
import json
from typing import Any, cast
from urllib.parse import urlsplit

import aiohttp

from cadenza.application.ports.identity import IdentityRefused, ProviderUnavailable

DEADLINE = 10.0
LARGEST = 256 * 1024
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


async def fetch_json(
    url: str, form: dict[str, str] | None = None, authorization: str | None = None
) -> dict[str, Any]:
    """With a form, it is posted. A redirect is not followed: the code would go with it."""
    check_address(url)
    try:
        # As it is sent: what is unpacked could be far larger than what is bounded below.
        made = aiohttp.ClientSession(auto_decompress=False)
        async with asyncio.timeout(DEADLINE), made as session:
            method = "GET" if form is None else "POST"
            headers = {"Accept": "application/json", "Accept-Encoding": "identity"}
            if authorization is not None:
                headers["Authorization"] = authorization
            async with session.request(
                method, url, data=form, headers=headers, allow_redirects=False
            ) as answer:
                text = await _read(answer)
                status = answer.status
    except TimeoutError as error:
        raise ProviderUnavailable(f"it did not answer within {DEADLINE:.0f} s") from error
    except (aiohttp.ClientError, OSError) as error:
        raise ProviderUnavailable(f"it cannot be reached ({type(error).__name__})") from error
    document = _parsed(text)
    if form is not None and status in (400, 401) and isinstance(document.get("error"), str):
        raise IdentityRefused(f"the provider refused the sign-in ({document['error'][:60]})")
    if status != 200:
        raise ProviderUnavailable(f"it answered with status {status}")
    return document


def check_address(url: str) -> None:
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ProviderUnavailable("it names an address that cannot be read") from error
    is_near = parts.scheme == "http" and parts.hostname in _LOOPBACK
    if not parts.hostname or not (parts.scheme == "https" or is_near):
        raise ProviderUnavailable("it names an address that is not https")


async def _read(answer: aiohttp.ClientResponse) -> bytes:
    body = b""
    async for piece in answer.content.iter_chunked(16 * 1024):
        body += piece
        if len(body) > LARGEST:
            raise ProviderUnavailable(f"its answer is larger than {LARGEST // 1024} KiB")
    return body


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        document = json.loads(body)
        json.dumps(document, ensure_ascii=False).encode()  # fails where half a character is escaped
    except (ValueError, RecursionError) as error:
        raise ProviderUnavailable("its answer is no JSON") from error
    if not isinstance(document, dict):
        raise ProviderUnavailable("its answer is no JSON object")
    return cast("dict[str, Any]", document)
