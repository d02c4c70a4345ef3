"""After the store's clock stepped back: endpoints go on by it, and leases end by it.

Runs that were in flight end later, with slots in the future. So one looks again until nothing lies
ahead of the clock any more.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.store import Channel, EndpointChange, Store, Transaction
from cadenza.domain.audit import PendingEvent
from cadenza.domain.clock_steps import ahead_by, restarted
from cadenza.domain.cron import Cron

BATCH = 500
LOOK_AGAIN = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Settled:
    restarted: int  # endpoints that began anew
    left: int  # that are still ahead of the clock: in flight, or locked by others
    ahead_by: timedelta = timedelta(0)  # the furthest of those that began anew


@dataclass(frozen=True, slots=True)
class ClockSteps:
    store: Store
    cron: Cron
    lease: timedelta

    async def settle(self) -> Settled:
        """Begin anew whatever counts from an instant in the future; with none, nothing is done."""
        done, furthest = 0, timedelta(0)
        async with self.store.transaction() as tx:
            await tx.shorten_leases(self.lease)
        while stored := await self._restart_some():
            done += len(stored)
            furthest = max(furthest, _furthest(stored))
        async with self.store.transaction() as tx:
            left = await tx.count_ahead_of_clock()
        return Settled(done, left, furthest)

    async def _restart_some(self) -> Sequence[StoredEndpoint]:
        async with self.store.transaction() as tx:
            stored = await tx.lock_ahead_of_clock(BATCH)
            if stored:
                anew = [restarted(each.endpoint, each.read_at, self.cron) for each in stored]
                await tx.save_endpoints([EndpointChange(each, is_news=False) for each in anew])
                await _declare(tx, stored)
                await tx.notify(Channel.DUE)
        return stored


async def _declare(tx: Transaction, stored: Sequence[StoredEndpoint]) -> None:
    """One event for each tenant."""
    by_tenant: defaultdict[UUID, list[StoredEndpoint]] = defaultdict(list)
    for each in stored:
        by_tenant[each.endpoint.tenant_id].append(each)
    events = [
        PendingEvent("endpoint.clock_stepped", tenant_id, data=_data(own))
        for tenant_id, own in by_tenant.items()
    ]
    await tx.add_events(events)


def _data(stored: Sequence[StoredEndpoint]) -> dict[str, object]:
    return {"endpoints": len(stored), "ahead_by_seconds": _furthest(stored).total_seconds()}


def _furthest(stored: Sequence[StoredEndpoint]) -> timedelta:
    return max(ahead_by(each.endpoint, each.read_at) for each in stored)
