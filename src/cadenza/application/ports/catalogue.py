"""Jobs and endpoints as they are stored, and how their owners look for them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.definition import EndpointDefinition
from cadenza.domain.endpoint import Endpoint, EndpointOrder, EndpointState, Job
from cadenza.domain.plan import Source
from cadenza.domain.target import Secret, Target, masking_secrets, secrets_of, with_secrets


@dataclass(frozen=True, slots=True)
class StoredJob:
    job: Job
    created_at: datetime
    read_at: datetime
    revision: int = 1
    endpoint_count: int = 0


@dataclass(frozen=True, slots=True)
class StoredEndpoint:
    """The secret headers of its target are there by name only; in a list it has no plan."""

    endpoint: Endpoint
    target: Target
    job_name: str
    read_at: datetime
    next_run_at: datetime | None
    next_source: Source | None
    revision: int = 1
    failing_since: datetime | None = None
    # Only where they were asked for; one that does not open is not among them.
    secrets: Mapping[str, Secret] = field(default_factory=dict[str, Secret], repr=False)

    @property
    def definition(self) -> EndpointDefinition:
        endpoint = self.endpoint
        guardrails = (endpoint.min_interval, endpoint.max_interval, endpoint.backs_off)
        return EndpointDefinition(endpoint.name, endpoint.baseline, self.target, *guardrails)

    @property
    def opened_target(self) -> Target:
        """With its secrets, as far as they open."""
        if not self.secrets:
            return self.target
        return with_secrets(self.target, {**secrets_of(self.target), **self.secrets})

    def after(self, endpoint: Endpoint, target: Target | None = None) -> "StoredEndpoint":
        """As it is once these are stored; a definition that changed is a new revision."""
        return replace(
            self,
            endpoint=endpoint,
            target=self.target if target is None else masking_secrets(target),
            next_run_at=endpoint.next_run_at,
            next_source=endpoint.next_source,
            secrets={},
        )


@dataclass(frozen=True, slots=True)
class JobSearch:
    name: str | None = None
    search: str | None = None
    archived: bool = False
    after: tuple[str, UUID] | None = None  # name and id of the last one seen
    limit: int = 50
    job_ids: frozenset[UUID] | None = None  # only of these; None: of all


@dataclass(frozen=True, slots=True)
class EndpointSearch:
    job_id: UUID | None = None
    name: str | None = None
    search: str | None = None
    state: EndpointState | None = None
    order: EndpointOrder = EndpointOrder.CREATED
    after: tuple[str, UUID] | None = None  # the value it is ordered by, and id, of the last seen
    limit: int = 50
    job_ids: frozenset[UUID] | None = None  # only of these; None: of all


@dataclass(frozen=True, slots=True)
class EndpointName:
    name: str
    job_id: UUID
    job_name: str


class JobReads(Protocol):
    async def list_jobs(self, tenant_id: UUID, search: JobSearch) -> Sequence[StoredJob]: ...

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob: ...


class EndpointReads(Protocol):
    async def list_endpoints(
        self, tenant_id: UUID, search: EndpointSearch
    ) -> Sequence[StoredEndpoint]: ...

    async def matching_ids(
        self, tenant_id: UUID, search: EndpointSearch, limit: int
    ) -> Sequence[UUID]:
        """Of all that fit, whatever place in the list was asked for; by id."""
        ...

    async def get_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        """SecretUnreadable where a secret that is asked for does not open."""
        ...

    async def endpoint_names(
        self, tenant_id: UUID, endpoint_ids: Collection[UUID]
    ) -> Mapping[UUID, EndpointName]:
        """Of those that are there, archived ones among them."""
        ...
