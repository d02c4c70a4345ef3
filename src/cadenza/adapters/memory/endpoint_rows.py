"""A transaction's verbs for endpoints."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from uuid import UUID

from cadenza.adapters.memory.rows import EndpointRow
from cadenza.adapters.memory.unique_names import Name, NamedRows
from cadenza.adapters.memory.views import stored_endpoint
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.store import EndpointChange
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.target import KEPT, HttpTarget, Target, secrets_of


class MemoryEndpointRows(NamedRows):
    async def insert_endpoints(self, endpoints: Sequence[tuple[Endpoint, Target]]) -> None:
        tables = self._tables
        for endpoint, target in endpoints:
            tables.job(endpoint.tenant_id, endpoint.job_id)
            self._put_endpoint(None, EndpointRow(endpoint, target))
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

    async def lock_endpoints_of_job(
        self, tenant_id: UUID, job_id: UUID
    ) -> Sequence[StoredEndpoint]:
        self._tables.job(tenant_id, job_id)
        rows = sorted(self._tables.members_of(job_id), key=lambda row: row.endpoint.id)
        return [stored_endpoint(self._tables, row) for row in rows]

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
            target = change.target
            changed = replace(
                row,
                endpoint=change.endpoint,
                target=row.target if target is None else _with_kept(target, row.target),
                revision=row.revision + change.raises_revision,
                changed_at=self._now if change.is_news else row.changed_at,
            )
            self._put_endpoint(row, changed)

    async def sibling_ids(self, endpoint: Endpoint) -> Mapping[str, UUID]:
        rows = self._tables.siblings_of(endpoint)
        return {row.endpoint.name: row.endpoint.id for row in rows}

    async def ask_for_analysis(self, endpoint_id: UUID) -> None:
        row = self._tables.endpoints[endpoint_id]
        self._put(self._tables.endpoints, endpoint_id, replace(row, asked_at=self._now))

    def _put_endpoint(self, before: EndpointRow | None, after: EndpointRow) -> None:
        old_name = _name_of(before.endpoint) if before is not None else None
        new_name, endpoint_id = _name_of(after.endpoint), after.endpoint.id
        is_taken = "the job has an endpoint of that name"
        self._move_name(self._tables.endpoint_names, old_name, new_name, endpoint_id, is_taken)
        self._put(self._tables.endpoints, endpoint_id, after)


def _name_of(endpoint: Endpoint) -> Name | None:
    return (endpoint.job_id, endpoint.name) if endpoint.archived_at is None else None


def _with_kept(target: Target, stored: Target) -> Target:
    """With the stored secret in the place of each that is to stay as it is."""
    if not isinstance(target, HttpTarget):
        return target
    present = secrets_of(stored)
    secrets = {
        name: present[name] if secret.value == KEPT else secret
        for name, secret in target.secret_headers.items()
    }
    return replace(target, secret_headers=secrets)
