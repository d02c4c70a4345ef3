"""One HTTP request for one attempt, within its time and with a bounded answer."""

import json
from typing import Any

import aiohttp

from cadenza.domain.run import Body, Claim, Outcome, RunStatus
from cadenza.domain.target import HttpTarget

MAX_BODY = 64 * 1024


class HttpDispatcher:
    """Keeps connections open between runs; close it when the worker ends."""

    def __init__(self) -> None:
        # The scheduler limits how much is in flight; a second limit here would only queue.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=30),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )

    async def close(self) -> None:
        await self._session.close()

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, HttpTarget)
        try:
            async with self._session.request(
                target.method,
                target.url,
                headers={**target.headers, "Idempotency-Key": claim.idempotency_key},
                data=target.body,
                timeout=aiohttp.ClientTimeout(total=target.timeout.total_seconds()),
                allow_redirects=False,
            ) as response:
                raw = await response.content.read(MAX_BODY)
                return _outcome(response.status, raw)
        except TimeoutError:
            return Outcome(RunStatus.TIMEOUT, "timeout", f"no answer within {target.timeout}")
        except (aiohttp.ClientError, ValueError, OSError) as error:
            message = f"{type(error).__name__}: {error}"
            return Outcome(RunStatus.FAILURE, "connection", message)


def _outcome(status_code: int, raw: bytes) -> Outcome:
    body = _body(raw)
    if 200 <= status_code < 300:
        return Outcome(RunStatus.SUCCESS, status_code=status_code, body=body)
    return Outcome(RunStatus.FAILURE, "status", f"HTTP {status_code}", status_code, body)


def _body(raw: bytes) -> Body:
    """JSON where it is JSON, text where it is not."""
    if not raw:
        return None
    text = raw.decode("utf-8", "replace")
    try:
        parsed: Any = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return parsed
