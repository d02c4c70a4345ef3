"""What a worker may claim, and how a claim is shared out among tenants and hosts.

The memory store runs this code. PostgreSQL does the same in one statement, and a contract test
compares the two on random data.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import itemgetter
from typing import TypeVar
from uuid import UUID

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.target import ANYWHERE

TenantHost = tuple[UUID, str]  # tenants may share a host, never its limit
TAKE_TURNS = 1000  # of the earliest due slots of graphs: among these tenants take turns
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Candidate:
    endpoint_id: UUID
    tenant_id: UUID
    host: str
    slot_at: datetime

    @property
    def tenant_host(self) -> TenantHost:
        return self.tenant_id, self.host


@dataclass(frozen=True, slots=True)
class ClaimRequest:
    """How much a worker can take now, and what it is running already. Tenants and hosts at their
    limit are passed over, and so is what runs on other workers."""

    worker: str
    limit: int
    lease: timedelta
    ahead: timedelta = timedelta(0)
    per_tenant: int = 100
    per_host: int = 20
    busy_tenants: Mapping[UUID, int] = field(default_factory=dict[UUID, int])
    busy_hosts: Mapping[TenantHost, int] = field(default_factory=dict[TenantHost, int])
    runs_on: str = ANYWHERE


def slot_to_claim(
    endpoint: Endpoint, lease_until: datetime | None, now: datetime, horizon: datetime
) -> datetime | None:
    """The slot that may be claimed now, up to a little ahead of its time; None where none may.

    A run whose worker was lost is taken over; a person's is not sent again, it is closed.
    """
    if lease_until is not None and lease_until > now:
        return None
    if endpoint.running_slot_at is not None:
        return endpoint.running_slot_at
    if endpoint.archived_at is not None:
        return None
    if endpoint.manual_slot_at is not None:
        return endpoint.manual_slot_at
    if endpoint.next_run_at is None or endpoint.next_run_at > horizon:
        return None
    return None if endpoint.paused_until(now) is not None else endpoint.next_run_at


def first_of_hosts(candidates: Iterable[Candidate], most: int) -> list[Candidate]:
    """So many of each host: one that has thousands waiting does not use up its tenant's share."""
    counts = Counter[TenantHost]()
    first: list[Candidate] = []
    for candidate in sorted(candidates, key=lambda due: (due.slot_at, due.endpoint_id)):
        counts[candidate.tenant_host] += 1
        if counts[candidate.tenant_host] <= most:
            first.append(candidate)
    return first


def in_turn(
    slots: Iterable[T], tenant_of: Callable[[T], UUID], busy: Mapping[UUID, int]
) -> list[T]:
    """Every tenant's first slot before anybody's second, counting what each has in execution."""
    counts = Counter(busy)
    ranked: list[tuple[int, T]] = []
    for slot in slots:  # the earliest first
        counts[tenant_of(slot)] += 1
        ranked.append((counts[tenant_of(slot)], slot))
    ranked.sort(key=itemgetter(0))  # stable: within a rank the earliest slot stays first
    return [slot for _, slot in ranked]


def fair_shares(candidates: Iterable[Candidate], request: ClaimRequest) -> list[Candidate]:
    """Every tenant's first slot before anybody's second, within the limits of tenants and hosts.

    A tenant or host that has no room left is passed over, and takes nothing from the others.
    """
    tenants, hosts = Counter(request.busy_tenants), Counter(request.busy_hosts)
    full_tenants = {tenant_id for tenant_id, busy in tenants.items() if busy >= request.per_tenant}
    full_hosts = {host for host, busy in hosts.items() if busy >= request.per_host}
    ranked: list[tuple[int, Candidate]] = []
    for candidate in sorted(candidates, key=lambda due: (due.slot_at, due.endpoint_id)):
        if candidate.tenant_id in full_tenants or candidate.tenant_host in full_hosts:
            continue
        tenants[candidate.tenant_id] += 1
        hosts[candidate.tenant_host] += 1
        rank = tenants[candidate.tenant_id]
        if rank <= request.per_tenant and hosts[candidate.tenant_host] <= request.per_host:
            ranked.append((rank, candidate))
    ranked.sort(key=itemgetter(0))  # stable: within a rank the earliest slot stays first
    return [candidate for _, candidate in ranked[: request.limit]]
