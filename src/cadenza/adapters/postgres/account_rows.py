"""Tenants, users, API keys and signing keys in a transaction."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.accounts import key_of, tenant_of, user_of
from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import present, translated_unique_violations
from cadenza.adapters.postgres.signing_keys import SIGNING_KEY
from cadenza.adapters.postgres.storable import to_text
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.errors import NotFound
from cadenza.domain.signing import SigningKey

DELETE_SECONDS = 600.0  # a tenant may leave millions of runs behind


class PostgresAccountRows:
    connection: Connection
    box: SecretBox

    # --- Tenants and users ----------------------------------------------------------------

    async def insert_tenant(self, tenant: Tenant) -> None:
        async with translated_unique_violations(tenant.name):
            await self.connection.execute(
                query("insert_tenant"),
                tenant.id,
                to_text(tenant.name),
                tenant.created_at,
                tenant.retention_days,
                tenant.modes.rules,
                tenant.modes.llm,
            )

    async def lock_tenant(self, tenant_id: UUID) -> tuple[Tenant, datetime]:
        row = await self.connection.fetchrow(query("lock_tenant"), tenant_id)
        if row is None:
            raise NotFound(f"no tenant {tenant_id}")
        return tenant_of(row), row["now"]

    async def save_tenant(self, tenant: Tenant) -> None:
        async with translated_unique_violations(tenant.name):
            await self.connection.execute(
                query("save_tenant"),
                tenant.id,
                to_text(tenant.name),
                tenant.retention_days,
                tenant.modes.rules,
                tenant.modes.llm,
            )

    async def delete_tenant(self, tenant_id: UUID) -> None:
        await self.connection.execute(query("delete_tenant"), tenant_id, timeout=DELETE_SECONDS)

    async def insert_user(self, user: User) -> None:
        async with translated_unique_violations(user.name), present(f"no tenant {user.tenant_id}"):
            await self.connection.execute(
                query("insert_user"), user.id, user.tenant_id, to_text(user.name), user.created_at
            )

    async def get_user(self, tenant_id: UUID, user_id: UUID) -> User:
        row = await self.connection.fetchrow(query("get_user"), tenant_id, user_id)
        if row is None:
            raise NotFound(f"no user {user_id}; it was created, and is gone")
        return user_of(row)

    async def delete_user(self, tenant_id: UUID, user_id: UUID) -> None:
        if await self.connection.fetchval(query("delete_user"), tenant_id, user_id) is None:
            raise NotFound(f"no user {user_id}")

    # --- Keys -----------------------------------------------------------------------------

    async def insert_key(self, key: ApiKey) -> None:
        async with present(f"no user {key.user_id}"):
            await self.connection.execute(
                query("insert_key"),
                key.id,
                key.tenant_id,
                key.user_id,
                to_text(key.name),
                list(key.scopes),
                key.hash,
                key.created_at,
                key.expires_at,
            )

    async def lock_key(self, tenant_id: UUID, key_id: UUID) -> tuple[ApiKey, datetime]:
        row = await self.connection.fetchrow(query("lock_key"), tenant_id, key_id)
        if row is None:
            raise NotFound(f"no key {key_id}")
        return key_of(row), row["now"]

    async def save_key(self, key: ApiKey) -> None:
        await self.connection.execute(query("save_key"), key.id, key.expires_at, key.revoked_at)

    async def signing_key_ends(self, tenant_id: UUID) -> Sequence[datetime | None]:
        rows = await self.connection.fetch(query("list_signing_keys"), tenant_id)
        return [row["retires_at"] for row in rows]

    async def end_signing_keys(self, tenant_id: UUID, now: datetime, ends_at: datetime) -> None:
        await self.connection.execute(query("retire_signing_keys"), tenant_id, now, ends_at)

    async def insert_signing_key(self, key: SigningKey) -> None:
        sealed = self.box.seal(
            key.secret.value, tenant_id=key.tenant_id, row_id=key.id, column=SIGNING_KEY
        )
        await self.connection.execute(
            query("insert_signing_key"), key.id, key.tenant_id, sealed, key.created_at
        )
