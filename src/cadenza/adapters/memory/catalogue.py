"""Jobs and endpoints, as their owners look for them."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.rows import EndpointRow, JobRow
from cadenza.adapters.memory.searching import contains, is_among
from cadenza.adapters.memory.tables import OverTables, Tables
from cadenza.application.ports.catalogue import (
    EndpointName,
    EndpointSearch,
    JobSearch,
    StoredEndpoint,
    StoredJob,
)
from cadenza.domain.endpoint import EndpointOrder, is_in_state
from cadenza.domain.instants import from_iso
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.target import HttpTarget, masking_secrets, secrets_of


class MemoryCatalogue(OverTables):
    async def list_jobs(self, tenant_id: UUID, search: JobSearch) -> Sequence[StoredJob]:
        rows = [
            row
            for row in self._tables.jobs.values()
            if row.tenant_id == tenant_id and _is_job_wanted(row, search)
        ]
        rows.sort(key=lambda row: (row.job.name, row.job.id))
        return [stored_job(self._tables, row) for row in rows[: search.limit]]

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(self._tables, self._tables.job(tenant_id, job_id))

    async def list_endpoints(
        self, tenant_id: UUID, search: EndpointSearch
    ) -> Sequence[StoredEndpoint]:
        now, value_of = self._tables.clock.now(), _VALUES[search.order]
        after = _after(search)
        keyed = [
            ((value, row.endpoint.id), row)
            for row in self._tables.endpoints.values()
            if row.tenant_id == tenant_id
            and _is_endpoint_wanted(row, search, now)
            and (value := value_of(row)) is not None
            and (after is None or (value, row.endpoint.id) > after)
        ]
        keyed.sort(key=lambda entry: entry[0])
        return [
            stored_endpoint(self._tables, row, with_plan=False) for _, row in keyed[: search.limit]
        ]

    async def matching_ids(
        self, tenant_id: UUID, search: EndpointSearch, limit: int
    ) -> Sequence[UUID]:
        now, rows = self._tables.clock.now(), self._tables.endpoints.values()
        wanted = (row for row in rows if row.tenant_id == tenant_id)
        ids = [row.endpoint.id for row in wanted if _is_endpoint_wanted(row, search, now)]
        return sorted(ids)[:limit]

    async def get_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        row = self._tables.endpoint(tenant_id, endpoint_id)
        return stored_endpoint(self._tables, row, with_secrets=with_secrets)

    async def endpoint_names(
        self, tenant_id: UUID, endpoint_ids: Collection[UUID]
    ) -> Mapping[UUID, EndpointName]:
        tables = self._tables
        rows = (tables.endpoints[id_] for id_ in endpoint_ids if id_ in tables.endpoints)
        return {
            row.endpoint.id: EndpointName(
                row.endpoint.name, row.endpoint.job_id, tables.jobs[row.endpoint.job_id].job.name
            )
            for row in rows
            if row.tenant_id == tenant_id
        }


def _is_job_wanted(row: JobRow, search: JobSearch) -> bool:
    job = row.job
    return (
        (job.archived_at is not None) == search.archived
        and search.name in (None, job.name)
        and is_among(job.id, search.job_ids)
        and (contains(job.name, search.search) or contains(job.description, search.search))
        and (search.after is None or (job.name, job.id) > search.after)
    )


def _is_endpoint_wanted(row: EndpointRow, search: EndpointSearch, now: datetime) -> bool:
    endpoint, target = row.endpoint, row.target
    url = target.url if isinstance(target, HttpTarget | QueueTarget) else None
    return (
        search.job_id in (None, endpoint.job_id)
        and is_among(endpoint.job_id, search.job_ids)
        and search.name in (None, endpoint.name)
        and (contains(endpoint.name, search.search) or contains(url, search.search))
        and is_in_state(endpoint, search.state, now)
    )


# What each order goes by; an endpoint that has no next run is in no list by it.
_VALUES: dict[EndpointOrder, Callable[[EndpointRow], str | datetime | None]] = {
    EndpointOrder.CREATED: lambda row: row.endpoint.created_at,
    EndpointOrder.NAME: lambda row: row.endpoint.name,
    EndpointOrder.NEXT_RUN: lambda row: row.endpoint.next_run_at,
}


def _after(search: EndpointSearch) -> tuple[str | datetime, UUID] | None:
    if search.after is None:
        return None
    value, endpoint_id = search.after
    return (value if search.order is EndpointOrder.NAME else from_iso(value)), endpoint_id


# --- Rows as their owners read them ---------------------------------------------------------


def stored_job(tables: Tables, row: JobRow) -> StoredJob:
    return StoredJob(
        row.job,
        row.created_at,
        tables.clock.now(),
        row.revision,
        len(tables.members_of(row.job.id)),
    )


def stored_endpoint(
    tables: Tables, row: EndpointRow, *, with_secrets: bool = False, with_plan: bool = True
) -> StoredEndpoint:
    endpoint = row.endpoint
    return StoredEndpoint(
        endpoint if with_plan else replace(endpoint, plan=None),
        masking_secrets(row.target),
        tables.jobs[endpoint.job_id].job.name,
        tables.clock.now(),
        endpoint.next_run_at,
        endpoint.next_source,
        row.revision,
        row.streak_changed_at if endpoint.failure_count else None,
        secrets_of(row.target) if with_secrets else {},
    )
