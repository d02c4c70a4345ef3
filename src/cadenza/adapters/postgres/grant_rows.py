"""Grants in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.grants import grant_of
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import present
from cadenza.adapters.postgres.storable import to_text
from cadenza.domain.errors import NotFound
from cadenza.domain.grant import Grant, GrantUse


class PostgresGrantRows:
    connection: Connection

    async def insert_grant(self, grant: Grant) -> None:
        async with present(f"no account {grant.account_id}"):
            await self.connection.execute(
                query("insert_grant"),
                grant.id,
                grant.tenant_id,
                grant.user_id,
                grant.account_id,
                [to_text(scope) for scope in grant.scopes],
                grant.created_at,
                grant.expires_at,
                grant.schedule_id,
                grant.expiry_notice_at,
                grant.endpoint_id,
            )

    async def lock_grant(self, tenant_id: UUID, grant_id: UUID) -> tuple[Grant, datetime]:
        row = await self.connection.fetchrow(query("lock_grant"), tenant_id, grant_id)
        if row is None:
            raise NotFound(f"no grant {grant_id}")
        return grant_of(row), row["now"]

    async def save_grant(self, grant: Grant) -> None:
        await self.connection.execute(
            query("save_grant"), grant.id, grant.revoked_at, grant.schedule_id
        )

    async def revoke_grants_of_user(self, tenant_id: UUID, user_id: UUID) -> None:
        await self.connection.execute(query("revoke_grants_of_user"), tenant_id, user_id)

    async def revoke_grants_of_endpoints(self, endpoint_ids: Sequence[UUID]) -> Sequence[UUID]:
        rows = await self.connection.fetch(query("revoke_grants_of_endpoints"), endpoint_ids)
        return [row["id"] for row in rows]

    async def log_grant_uses(self, uses: Sequence[GrantUse]) -> None:
        await self.connection.execute(
            query("log_grant_uses"),
            [use.grant_id for use in uses],
            [use.run_id for use in uses],
            [to_text(use.graph_id) for use in uses],
            [use.refusal for use in uses],
        )

    async def take_expiring_grants(self, limit: int) -> Sequence[Grant]:
        rows = await self.connection.fetch(query("take_expiring_grants"), limit)
        return [grant_of(row) for row in rows]
