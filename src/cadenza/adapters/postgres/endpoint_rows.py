"""Endpoints in a transaction, with what they call."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import translated_unique_violations
from cadenza.adapters.postgres.rows import endpoint_values
from cadenza.adapters.postgres.targets import (
    TargetValues,
    headers_that_open,
    stored_endpoint,
    target_values,
)
from cadenza.application.in_turns import A_TURN, in_turns
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.ports.store import EndpointChange
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.target import Secret, Target


class PostgresEndpointRows:
    connection: Connection
    box: SecretBox
    spread: timedelta

    async def insert_endpoints(self, endpoints: Sequence[tuple[Endpoint, Target]]) -> None:
        values = await in_turns(
            (
                *endpoint_values(endpoint),
                endpoint.tenant_id,
                endpoint.job_id,
                endpoint.created_at,
                *self._target_values(endpoint, target)[:4],
            )
            for endpoint, target in endpoints
        )
        async with translated_unique_violations(*(endpoint.name for endpoint, _ in endpoints)):
            await self.connection.executemany(query("insert_endpoint"), values)

    async def get_endpoint(self, tenant_id: UUID, endpoint_id: UUID) -> StoredEndpoint:
        row = await one_row(self.connection, "get_endpoint", "endpoint", tenant_id, endpoint_id)
        return stored_endpoint(row, self.spread)

    async def lock_endpoint(
        self, tenant_id: UUID, endpoint_id: UUID, *, with_secrets: bool = False
    ) -> StoredEndpoint:
        row = await one_row(self.connection, "lock_endpoint", "endpoint", tenant_id, endpoint_id)
        secrets = headers_that_open(self.box, row) if with_secrets else None
        return stored_endpoint(row, self.spread, secrets)

    async def lock_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[StoredEndpoint]:
        rows = await self.connection.fetch(query("lock_endpoints"), list(endpoint_ids))
        return await in_turns(stored_endpoint(row, self.spread) for row in rows)

    async def lock_own_endpoints(
        self, tenant_id: UUID, endpoint_ids: Sequence[UUID]
    ) -> Sequence[StoredEndpoint]:
        statement = query("lock_own_endpoints")
        rows = await self.connection.fetch(statement, tenant_id, list(endpoint_ids))
        return [stored_endpoint(row, self.spread) for row in rows]

    async def lock_endpoints_of_job(
        self, tenant_id: UUID, job_id: UUID
    ) -> Sequence[StoredEndpoint]:
        rows = await self.connection.fetch(query("lock_endpoints_of_job"), tenant_id, job_id)
        return [stored_endpoint(row, self.spread) for row in rows]

    async def lock_archived_endpoints(
        self, tenant_id: UUID, job_id: UUID, since_at: datetime
    ) -> Sequence[StoredEndpoint]:
        statement = query("lock_archived_endpoints")
        rows = await self.connection.fetch(statement, tenant_id, job_id, since_at)
        return [stored_endpoint(row, self.spread) for row in rows]

    async def declared_endpoints(self, tenant_id: UUID) -> Sequence[StoredEndpoint]:
        # By a cursor: the server ends a transaction in which nothing is asked for seconds.
        rows = self.connection.cursor(query("declared_endpoints"), tenant_id, prefetch=A_TURN)
        return [
            stored_endpoint(row, self.spread, headers_that_open(self.box, row))
            async for row in rows
        ]

    async def save_endpoints(self, changes: Sequence[EndpointChange]) -> None:
        targets = await in_turns(
            (change.endpoint.id, *self._target_values(change.endpoint, change.target))
            for change in changes
            if change.target is not None
        )
        if targets:
            await self.connection.executemany(query("set_target"), targets)
        values = await in_turns(
            (*endpoint_values(change.endpoint), change.is_news, change.raises_revision)
            for change in changes
        )
        async with translated_unique_violations(*(change.endpoint.name for change in changes)):
            await self.connection.executemany(query("save_endpoint"), values)

    async def sibling_ids(self, endpoint: Endpoint) -> Mapping[str, UUID]:
        rows = await self.connection.fetch(query("sibling_ids"), endpoint.job_id, endpoint.id)
        return {row["name"]: row["id"] for row in rows}

    async def secrets_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[Secret]:
        rows = await self.connection.fetch(query("sealed_headers_of_job"), tenant_id, job_id)
        return [secret for row in rows for secret in headers_that_open(self.box, row).values()]

    async def jobs_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> frozenset[UUID]:
        rows = await self.connection.fetch(query("jobs_of_endpoints"), list(endpoint_ids))
        return frozenset(row["job_id"] for row in rows)

    async def ask_for_analysis(self, endpoint_id: UUID) -> None:
        await self.connection.execute(query("ask_for_analysis"), endpoint_id)

    def _target_values(self, endpoint: Endpoint, target: Target) -> TargetValues:
        return target_values(
            self.box, target, tenant_id=endpoint.tenant_id, endpoint_id=endpoint.id
        )
