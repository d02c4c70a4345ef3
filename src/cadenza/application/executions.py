"""What a worker has under way: an execution for each claim, and how much of it for whom."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Generic, TypeVar
from uuid import UUID

from cadenza.application.ports.claims import ClaimRequest, Leased
from cadenza.application.results import SchedulerOptions
from cadenza.domain.claiming import TenantHost

C = TypeVar("C", bound=Leased)
K = TypeVar("K")


@dataclass(slots=True)
class Execution(Generic[C]):
    claim: C
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
    """What is executing now, by tenant and by the hosts of each; two workers may share one, and
    with it their room."""

    total: int = 0
    tenants: Counter[UUID] = field(default_factory=Counter[UUID])
    hosts: Counter[TenantHost] = field(default_factory=Counter[TenantHost])
    on_room: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def add(self, claim: Leased, count: int) -> None:
        self.total += count
        _count(self.tenants, claim.tenant_id, count)
        _count(self.hosts, (claim.tenant_id, claim.host), count)

    def remove(self, claim: Leased) -> None:
        self.add(claim, -1)
        for has_room in self.on_room:
            has_room()

    def request(self, worker: str, limit: int, options: SchedulerOptions) -> ClaimRequest:
        return ClaimRequest(
            worker=worker,
            limit=limit,
            lease=options.lease,
            ahead=options.ahead,
            per_tenant=options.per_tenant,
            per_host=options.per_host,
            busy_tenants=self.tenants,
            busy_hosts=self.hosts,
            runs_on=options.runs_on,
        )


def _count(counter: Counter[K], key: K, count: int) -> None:
    counter[key] += count
    if counter[key] == 0:
        del counter[key]
