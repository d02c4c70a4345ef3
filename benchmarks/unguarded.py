"""The same worker with a plain aiohttp client: no guard, no bounds, no signature.

What throughput loses against it is what safety costs. Never run it on anything but a benchmark.
"""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import aiohttp

from cadenza.domain.run import Claim, Outcome, RunStatus
from cadenza.domain.target import HttpTarget
from cadenza.roots import scheduler


class PlainDispatcher:
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session

    async def dispatch(self, claim: Claim) -> Outcome:
        target = claim.target
        assert isinstance(target, HttpTarget)
        async with self._session.request(
            target.method,
            target.url,
            headers={**target.headers, "Idempotency-Key": claim.idempotency_key},
            data=target.body,
            timeout=aiohttp.ClientTimeout(total=target.timeout.total_seconds()),
            allow_redirects=False,
        ) as response:
            body = json.loads(await response.content.read(64 * 1024))
            return Outcome(RunStatus.SUCCESS, status_code=response.status, body=body)


@asynccontextmanager
async def plain_dispatcher(*_: object) -> AsyncGenerator[PlainDispatcher]:
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, trust_env=False) as session:
        yield PlainDispatcher(session)


if __name__ == "__main__":
    scheduler.dispatcher = plain_dispatcher
    scheduler.scheduler()
