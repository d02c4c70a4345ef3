from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.target import Target

# An act of `domain.steering` with everything but the endpoint, the time and cron filled in.
Act = Callable[[Endpoint, datetime, Cron], Endpoint]


class EndpointStore(Protocol):
    async def add_job(self, job: Job) -> None: ...

    async def add_endpoint(self, endpoint: Endpoint, target: Target) -> Endpoint:
        """Store a new endpoint with its first plan."""
        ...

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> Endpoint: ...

    async def list_endpoints(self, tenant_id: UUID, job_id: UUID) -> Sequence[Endpoint]: ...

    async def change_endpoint(self, tenant_id: UUID, endpoint_id: UUID, act: Act) -> Endpoint:
        """Read, act, write in one transaction, by the store's clock; wakes workers if sooner."""
        ...
