"""What owners have declared: jobs and endpoints with their targets, found, read and changed.

Each method is one transaction. `revision` is what the caller has seen; Outdated where it differs.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from cadenza.application.ports.endpoints import Act
from cadenza.domain.audit import AuditEntry, IdempotencyRecord
from cadenza.domain.definition import EndpointDefinition
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.plan import Source
from cadenza.domain.target import Target


@dataclass(frozen=True, slots=True)
class StoredJob:
    job: Job
    revision: int
    created_at: datetime
    endpoint_count: int


@dataclass(frozen=True, slots=True)
class StoredEndpoint:
    """Its secret headers are there by name only, and in a list it has no plan."""

    endpoint: Endpoint
    target: Target
    revision: int
    job_name: str
    read_at: datetime
    next_run_at: datetime | None
    next_source: Source | None

    @property
    def definition(self) -> EndpointDefinition:
        endpoint = self.endpoint
        return EndpointDefinition(
            endpoint.name,
            endpoint.baseline,
            self.target,
            endpoint.min_interval,
            endpoint.max_interval,
        )


class EndpointState(StrEnum):
    ACTIVE = "active"
    PAUSED = "paused"
    FAILING = "failing"
    ARCHIVED = "archived"


class EndpointOrder(StrEnum):
    CREATED = "created_at"
    NAME = "name"
    NEXT_RUN = "next_run_at"


@dataclass(frozen=True, slots=True)
class JobSearch:
    name: str | None = None
    search: str | None = None
    archived: bool = False
    after: tuple[str, UUID] | None = None  # name and id of the last one seen
    limit: int = 50


@dataclass(frozen=True, slots=True)
class EndpointSearch:
    job_id: UUID | None = None
    name: str | None = None
    search: str | None = None
    state: EndpointState | None = None
    order: EndpointOrder = EndpointOrder.CREATED
    after: tuple[str, UUID] | None = None  # the value it is ordered by, and id, of the last seen
    limit: int = 50


# From what is stored, and the time, to what is wanted.
Redefine = Callable[[StoredEndpoint], EndpointDefinition]
ChangeJob = Callable[[Job, datetime], Job]


class Jobs(Protocol):
    async def list_jobs(self, tenant_id: UUID, search: JobSearch) -> Sequence[StoredJob]: ...

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob: ...

    async def create_job(
        self, job: Job, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID: ...

    async def change_job(
        self,
        tenant_id: UUID,
        job_id: UUID,
        change: ChangeJob,
        entry: AuditEntry,
        seen: Collection[int] | None = None,
    ) -> StoredJob:
        """What happens to a job (a pause, its end) happens to its endpoints with it.

        Outdated where revisions are given and its own is none of them.
        """
        ...


class Endpoints(Protocol):
    async def list_endpoints(
        self, tenant_id: UUID, search: EndpointSearch
    ) -> Sequence[StoredEndpoint]: ...

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint: ...

    async def create_endpoint(
        self,
        endpoint: Endpoint,
        target: Target,
        entry: AuditEntry,
        once: IdempotencyRecord | None = None,
    ) -> UUID: ...

    async def redefine_endpoint(
        self,
        tenant_id: UUID,
        endpoint_id: UUID,
        redefine: Redefine,
        entry: AuditEntry,
        seen: Collection[int] | None = None,
    ) -> StoredEndpoint: ...

    async def steer_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, act: Act, entry: AuditEntry
    ) -> StoredEndpoint: ...

    async def ask_for_analysis(
        self, tenant_id: UUID, endpoint_id: UUID, entry: AuditEntry
    ) -> None: ...

    async def target_to_call(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint:
        """With its secrets, for a test call."""
        ...
