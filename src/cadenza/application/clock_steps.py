"""Recovery after the store's clock stepped back: plans and leases ahead of the clock are moved.

Runs that were in execution end later, with slots in the future, so this repeats until nothing lies
ahead of the clock.
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
        """Plan anew whatever counts from an instant in the future; does nothing where there is
        none."""
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
                anew = [restarted(row.endpoint, row.read_at, self.cron) for row in stored]
                await tx.save_endpoints(
                    [EndpointChange(endpoint, is_news=False) for endpoint in anew]
                )
                await _declare(tx, stored)
                await tx.notify(Channel.DUE)
        return stored


async def _declare(tx: Transaction, stored: Sequence[StoredEndpoint]) -> None:
    """Add one event per tenant."""
    by_tenant: defaultdict[UUID, list[StoredEndpoint]] = defaultdict(list)
    for row in stored:
        by_tenant[row.endpoint.tenant_id].append(row)
    events = [
        PendingEvent("endpoint.clock_stepped", tenant_id, data=_data(own))
        for tenant_id, own in by_tenant.items()
    ]
    await tx.add_events(events)


def _data(stored: Sequence[StoredEndpoint]) -> dict[str, object]:
    return {"endpoints": len(stored), "ahead_by_seconds": _furthest(stored).total_seconds()}


def _furthest(stored: Sequence[StoredEndpoint]) -> timedelta:
    return max(ahead_by(row.endpoint, row.read_at) for row in stored)
