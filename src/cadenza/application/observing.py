"""What watches a worker: the ports that it works with, wrapped, so that it knows nothing of it.

Where nobody watches, nothing is wrapped, and nothing is paid for it.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Generic, TypeVar

from cadenza.application.graph_runs import NewMeter
from cadenza.application.metering import RunMeter
from cadenza.application.ports.claims import (
    ClaimBatch,
    ClaimRequest,
    FinishReport,
    ObservedClaim,
    ObservedFinish,
    Renewal,
    RunQueue,
)
from cadenza.application.ports.events import Event, Events
from cadenza.application.ports.telemetry import Telemetry
from cadenza.domain.billing import CREDITS_PER_DOLLAR, Charge
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.graph import GraphRequest

C = TypeVar("C", bound=ObservedClaim)
F = TypeVar("F", bound=ObservedFinish)

# Events that are counted, whether or not they are logged.
COUNTED = frozenset(
    {
        "run.lease_lost",
        "run.given_back",
        "run.unsaved",
        "provider.away",
        "quota.warning",
        "session.over_quota",
        "session.unpaid",
    }
)


class CountedRuns(Generic[C, F]):
    """A RunQueue whose claims and finishes are counted and timed."""

    def __init__(self, queue: RunQueue[C, F], telemetry: Telemetry) -> None:
        self._queue = queue
        self._telemetry = telemetry

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[C]:
        began = asyncio.get_running_loop().time()
        async with self._counting("claim"):
            batch = await self._queue.claim_due(request)
        self._telemetry.claimed(batch.claims, asyncio.get_running_loop().time() - began)
        return batch

    async def claim_lost(self, request: ClaimRequest) -> Sequence[C]:
        began = asyncio.get_running_loop().time()
        async with self._counting("sweep"):
            claims = await self._queue.claim_lost(request)
        self._telemetry.claimed(claims, asyncio.get_running_loop().time() - began)
        return claims

    async def renew(self, claims: Sequence[C], lease: timedelta) -> Renewal:
        async with self._counting("renew"):
            return await self._queue.renew(claims, lease)

    async def finish(self, finished: Sequence[F]) -> FinishReport:
        began = asyncio.get_running_loop().time()
        async with self._counting("finish"):
            report = await self._queue.finish(finished)
        seconds = asyncio.get_running_loop().time() - began
        self._telemetry.finished(finished, report.late, seconds)
        return report

    async def give_back(self, claims: Sequence[C]) -> None:
        async with self._counting("give-back"):
            await self._queue.give_back(claims)

    @asynccontextmanager
    async def _counting(self, operation: str) -> AsyncGenerator[None]:
        try:
            yield
        except StoreUnavailable:
            self._telemetry.store_failed(operation)
            raise


class CountedEvents:
    def __init__(self, events: Events, telemetry: Telemetry) -> None:
        self._events = events
        self._telemetry = telemetry

    def wants(self, kind: str) -> bool:
        return kind in COUNTED or self._events.wants(kind)

    def emit(self, event: Event) -> None:
        self._telemetry.happened(event.kind)
        if self._events.wants(event.kind):
            self._events.emit(event)


def counted_meters(new_meter: NewMeter, telemetry: Telemetry) -> NewMeter:
    """Meters of graph runs, whose charges are counted."""

    def counted(request: GraphRequest, on_charge: Callable[[Charge], None]) -> RunMeter:
        def count(charge: Charge) -> None:
            telemetry.spent("graphs", charge.usage, charge.credits / CREDITS_PER_DOLLAR)
            on_charge(charge)

        return new_meter(request, count)

    return counted
