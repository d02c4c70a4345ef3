"""Jobs and endpoints, as their owners look for them."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.job_rows import stored_job
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.storable import like, listed
from cadenza.adapters.postgres.targets import open_headers, stored_endpoint
from cadenza.application.ports.catalogue import (
    EndpointName,
    EndpointSearch,
    JobSearch,
    StoredEndpoint,
    StoredJob,
)
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.endpoint import MAX_SPREAD


class PostgresCatalogue:
    def __init__(self, database: Database, box: SecretBox, spread: timedelta = MAX_SPREAD) -> None:
        self._database = database
        self._box = box
        self._spread = spread

    async def list_jobs(self, tenant_id: UUID, search: JobSearch) -> Sequence[StoredJob]:
        after_name, after_id = search.after or (None, None)
        rows = await self._database.fetch(
            query("list_jobs"),
            tenant_id,
            search.archived,
            search.name,
            like(search.search),
            after_name,
            after_id,
            search.limit,
            listed(search.job_ids),
        )
        return [stored_job(row) for row in rows]

    async def get_job(self, tenant_id: UUID, job_id: UUID) -> StoredJob:
        return stored_job(await one_row(self._database, "get_job", "job", tenant_id, job_id))

    async def list_endpoints(
        self, tenant_id: UUID, search: EndpointSearch
    ) -> Sequence[StoredEndpoint]:
        after_value, after_id = search.after or (None, None)
        rows = await self._database.fetch(
            query(f"list_endpoints_by_{search.order}"),
            tenant_id,
            search.job_id,
            search.name,
            like(search.search),
            search.state,
            after_value,
            after_id,
            search.limit,
            listed(search.job_ids),
        )
        return [stored_endpoint(row, self._spread) for row in rows]

    async def matching_ids(
        self, tenant_id: UUID, search: EndpointSearch, limit: int
    ) -> Sequence[UUID]:
        wanted = (search.job_id, search.name, like(search.search), search.state)
        rows = await self._database.fetch(
            query("matching_endpoints"), tenant_id, *wanted, limit, listed(search.job_ids)
        )
        return [row["id"] for row in rows]

    async def get_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        row = await one_row(self._database, "get_endpoint", "endpoint", tenant_id, endpoint_id)
        sealed = row["secret_headers"] if with_secrets else None
        secrets = open_headers(self._box, sealed, tenant_id=tenant_id, endpoint_id=endpoint_id)
        return stored_endpoint(row, self._spread, secrets)

    async def endpoint_names(
        self, tenant_id: UUID, endpoint_ids: Collection[UUID]
    ) -> Mapping[UUID, EndpointName]:
        if not endpoint_ids:
            return {}
        rows = await self._database.fetch(query("endpoint_names"), tenant_id, list(endpoint_ids))
        return {
            row["id"]: EndpointName(row["name"], row["job_id"], row["job_name"]) for row in rows
        }
