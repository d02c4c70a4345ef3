"""A transaction's verbs for jobs and endpoints."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from cadenza.adapters.memory.catalogue import stored_endpoint, stored_job
from cadenza.adapters.memory.rows import EndpointRow, JobRow
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.application.ports.store import EndpointChange
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import AlreadyThere
from cadenza.domain.target import KEPT, Secret, Target, secrets_of, with_secrets
from cadenza.domain.value import replace

NEVER = datetime.min.replace(tzinfo=UTC)
Name = tuple[UUID, str]  # of a tenant's job, or of a job's endpoint


class MemoryCatalogueRows(Writes):
    # --- Jobs -----------------------------------------------------------------------------

    async def insert_jobs(self, jobs: Sequence[StoredJob]) -> None:
        for stored in jobs:
            self._tables.tenant(stored.job.tenant_id)
            self._put_job(JobRow(stored.job, stored.created_at))

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(self._tables, self._tables.job(tenant_id, job_id))

    lock_job = share_job = get_job  # nobody else is in the tables while a transaction is

    async def save_jobs(self, jobs: Sequence[StoredJob]) -> None:
        for stored in jobs:
            row = self._tables.jobs[stored.job.id]
            self._put_job(replace(row, job=stored.job, revision=row.revision + 1))

    async def lock_jobs(self, tenant_id: UUID) -> None:
        """A transaction has everything to itself here."""

    async def declared_jobs(self, tenant_id: UUID) -> Sequence[StoredJob]:
        rows = [
            row
            for row in self._tables.jobs.values()
            if row.tenant_id == tenant_id and row.job.archived_at is None
        ]
        rows.sort(key=lambda row: row.job.name)
        return [stored_job(self._tables, row) for row in rows]

    # --- Endpoints ------------------------------------------------------------------------

    async def insert_endpoints(self, endpoints: Sequence[tuple[Endpoint, Target]]) -> None:
        tables = self._tables
        for endpoint, target in endpoints:
            tables.job(endpoint.tenant_id, endpoint.job_id)
            self._put_endpoint(EndpointRow(endpoint, target))
            self._put(tables.ids_of_job[endpoint.job_id], endpoint.id, None)

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint:
        return stored_endpoint(self._tables, self._tables.endpoint(tenant_id, endpoint_id))

    async def lock_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        row = self._tables.endpoint(tenant_id, endpoint_id)
        return stored_endpoint(self._tables, row, with_secrets=with_secrets)

    async def lock_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[StoredEndpoint]:
        rows = self._tables.endpoints
        present = sorted(endpoint_id for endpoint_id in endpoint_ids if endpoint_id in rows)
        return [stored_endpoint(self._tables, rows[endpoint_id]) for endpoint_id in present]

    async def lock_own_endpoints(
        self, tenant_id: UUID, endpoint_ids: Sequence[UUID]
    ) -> Sequence[StoredEndpoint]:
        rows = self._tables.endpoints
        own = [id_ for id_ in endpoint_ids if id_ in rows and rows[id_].tenant_id == tenant_id]
        return await self.lock_endpoints(own)

    async def lock_endpoints_of_job(
        self, tenant_id: UUID, job_id: UUID
    ) -> Sequence[StoredEndpoint]:
        self._tables.job(tenant_id, job_id)
        rows = sorted(self._tables.members_of(job_id), key=lambda row: row.endpoint.id)
        return [stored_endpoint(self._tables, row) for row in rows]

    async def lock_archived_endpoints(
        self, tenant_id: UUID, job_id: UUID, since_at: datetime
    ) -> Sequence[StoredEndpoint]:
        tables = self._tables
        tables.job(tenant_id, job_id)
        rows = [tables.endpoints[endpoint_id] for endpoint_id in sorted(tables.ids_of_job[job_id])]
        ended = [row for row in rows if (row.endpoint.archived_at or NEVER) >= since_at]
        return [stored_endpoint(tables, row) for row in ended]

    async def declared_endpoints(self, tenant_id: UUID) -> Sequence[StoredEndpoint]:
        rows = [
            row
            for row in self._tables.endpoints.values()
            if row.tenant_id == tenant_id and row.endpoint.archived_at is None
        ]
        rows.sort(key=lambda row: row.endpoint.name)
        return [stored_endpoint(self._tables, row, with_secrets=True) for row in rows]

    async def save_endpoints(self, changes: Sequence[EndpointChange]) -> None:
        for change in changes:
            row = self._tables.endpoints[change.endpoint.id]
            new = change.target
            target = row.target if new is None else _with_secrets_of(row.target, new)
            changed = replace(
                row,
                endpoint=change.endpoint,
                target=target,
                target_changed_at=row.target_changed_at if target == row.target else self._now,
                revision=row.revision + change.raises_revision,
                steered_at=self._now if change.is_news else row.steered_at,
            )
            self._put_endpoint(changed)

    async def sibling_ids(self, endpoint: Endpoint) -> Mapping[str, UUID]:
        rows = self._tables.siblings_of(endpoint)
        return {row.endpoint.name: row.endpoint.id for row in rows}

    async def secrets_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[Secret]:
        rows = [
            self._tables.endpoints[endpoint_id] for endpoint_id in self._tables.ids_of_job[job_id]
        ]
        targets = [row.target for row in rows if row.tenant_id == tenant_id]
        return [secret for target in targets for secret in secrets_of(target).values()]

    async def jobs_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> frozenset[UUID]:
        rows = (self._tables.endpoints.get(endpoint_id) for endpoint_id in endpoint_ids)
        return frozenset(row.endpoint.job_id for row in rows if row is not None)

    async def ask_for_analysis(self, endpoint_id: UUID) -> None:
        row = self._tables.endpoints[endpoint_id]
        self._put(self._tables.endpoints, endpoint_id, replace(row, asked_at=self._now))

    # --- Names, unique among what is not archived -----------------------------------------

    def _put_job(self, row: JobRow) -> None:
        jobs, job_id = self._tables.jobs, row.job.id
        before, after = _name_of_job(jobs.get(job_id)), _name_of_job(row)
        is_taken = "a job of that name exists"
        self._move_name(self._tables.job_names, before, after, job_id, is_taken)
        self._put(jobs, job_id, row)

    def _put_endpoint(self, row: EndpointRow) -> None:
        endpoints, endpoint_id = self._tables.endpoints, row.endpoint.id
        before, after = _name_of_endpoint(endpoints.get(endpoint_id)), _name_of_endpoint(row)
        is_taken = "the job has an endpoint of that name"
        self._move_name(self._tables.endpoint_names, before, after, endpoint_id, is_taken)
        self._put(endpoints, endpoint_id, row)

    def _move_name(
        self,
        names: dict[Name, UUID],
        before: Name | None,
        after: Name | None,
        row_id: UUID,
        is_taken: str,
    ) -> None:
        if before == after:
            return
        if before is not None:
            self._delete(names, before)
        if after is not None:
            if after in names:
                raise AlreadyThere("name", after[1], f"{is_taken}; choose another")
            self._put(names, after, row_id)


def _name_of_job(row: JobRow | None) -> Name | None:
    if row is None or row.job.archived_at is not None:
        return None
    return row.tenant_id, row.job.name


def _name_of_endpoint(row: EndpointRow | None) -> Name | None:
    if row is None or row.endpoint.archived_at is not None:
        return None
    return row.endpoint.job_id, row.endpoint.name


def _with_secrets_of(stored: Target, target: Target) -> Target:
    """With the stored secret in the place of each that is to stay as it is."""
    present = secrets_of(stored)
    secrets = {
        name: present[name] if secret.value == KEPT else secret
        for name, secret in secrets_of(target).items()
    }
    return with_secrets(target, secrets)
