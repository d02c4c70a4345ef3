"""What a worker has under way: an execution for each claim, and how much of it for whom."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from cadenza.domain.run import Claim

K = TypeVar("K")


@dataclass(slots=True)
class Execution:
    claim: Claim
    lease_ends: float  # by the loop's monotonic clock, a little before the store's
    lease_timer: asyncio.TimerHandle | None = None  # set while its request is under way
    task: asyncio.Task[None] | None = None
    started_at: datetime | None = None  # None while nothing has been sent
    lost: bool = False

    def hold_until(self, lease_ends: float) -> None:
        """The lease ends then, and with it the request."""
        self.lease_ends = lease_ends
        if self.lease_timer is not None:
            self.release()
            self.guard()

    def guard(self) -> None:
        loop = asyncio.get_running_loop()
        self.lease_timer = loop.call_at(self.lease_ends, self._lose)

    def release(self) -> None:
        if self.lease_timer is not None:
            self.lease_timer.cancel()
            self.lease_timer = None

    def _lose(self) -> None:
        self.lost = True
        if self.task is not None:
            self.task.cancel()


@dataclass(slots=True)
class Load:
    """What is executing now, by tenant and by host."""

    total: int = 0
    tenants: Counter[UUID] = field(default_factory=Counter[UUID])
    hosts: Counter[str] = field(default_factory=Counter[str])

    def add(self, claim: Claim, count: int) -> None:
        self.total += count
        _count(self.tenants, claim.tenant_id, count)
        _count(self.hosts, claim.host, count)


def _count(counter: Counter[K], key: K, count: int) -> None:
    counter[key] += count
    if counter[key] == 0:
        del counter[key]
