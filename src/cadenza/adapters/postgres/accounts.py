"""Tenants, their users, API keys and signing keys, which are sealed at rest."""

import json
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.clock import Asking
from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.policy_rows import modes_of
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import present, translated_unique_violations
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import to_text
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.access import ApiKey, Identity, Scope, Tenant, User
from cadenza.domain.errors import NotFound, SecretUnreadable
from cadenza.domain.people import Role
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import Secret

DELETE_SECONDS = 600.0  # a tenant may leave millions of runs behind
SIGNING_KEY = "signing_keys.secret"


class PostgresAccounts:
    def __init__(self, database: Database, asking: Asking = lambda: lambda _: None) -> None:
        """`asking` hears with every key that is looked up what time the database says it is."""
        self._database = database
        self._asking = asking

    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        hear = self._asking()
        row = await self._database.fetchrow(query("find_key"), key_id)
        if row is None:
            return None
        hear(row["now"])
        about = (row["user_id"], row["tenant_id"], row["user_name"], row["user_created_at"])
        return key_of(row), User(*about, *_roles_of(row)), row["now"]

    async def find_user(self, user_id: UUID) -> tuple[User, datetime] | None:
        row = await self._database.fetchrow(query("find_user"), user_id)
        return None if row is None else (user_of(row), row["now"])

    async def note_use(self, key_id: UUID) -> None:
        await self._database.execute(query("touch_key"), key_id)

    async def list_keys(self, tenant_id: UUID) -> Sequence[ApiKey]:
        return [key_of(row) for row in await self._database.fetch(query("list_keys"), tenant_id)]

    async def list_tenants(self, after: UUID | None, limit: int) -> Sequence[Tenant]:
        rows = await self._database.fetch(query("list_tenants"), after, limit)
        return [_tenant(row) for row in rows]

    async def get_tenant(self, tenant_id: UUID) -> Tenant:
        return _tenant(await one_row(self._database, "get_tenant", "tenant", tenant_id))

    async def list_users(self, tenant_id: UUID) -> Sequence[User]:
        return [user_of(row) for row in await self._database.fetch(query("list_users"), tenant_id)]


class PostgresSigningKeys:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        rows = await self._database.fetch(query("list_signing_keys"), tenant_id)
        keys: list[SigningKey] = []
        for row in rows:
            try:
                keys.append(self._opened(row))
            except SecretUnreadable:
                if not keys:
                    raise
        return keys

    def _opened(self, row: Row) -> SigningKey:
        plain = self._box.open(
            row["secret"], tenant_id=row["tenant_id"], row_id=row["id"], column=SIGNING_KEY
        )
        return SigningKey(
            row["id"], row["tenant_id"], Secret(plain), row["created_at"], row["retires_at"]
        )


class PostgresAccountRows:
    """In a transaction."""

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
                tenant.modes.detectors,
                tenant.planner_account_id,
            )

    async def lock_tenant(self, tenant_id: UUID) -> tuple[Tenant, datetime]:
        row = await one_row(self.connection, "lock_tenant", "tenant", tenant_id)
        return _tenant(row), row["now"]

    async def save_tenant(self, tenant: Tenant) -> None:
        async with translated_unique_violations(tenant.name):
            await self.connection.execute(
                query("save_tenant"),
                tenant.id,
                to_text(tenant.name),
                tenant.retention_days,
                tenant.modes.rules,
                tenant.modes.llm,
                tenant.modes.detectors,
                tenant.planner_account_id,
            )

    async def delete_tenant(self, tenant_id: UUID) -> None:
        await self.connection.execute(query("delete_tenant"), tenant_id, timeout=DELETE_SECONDS)

    async def insert_user(self, user: User) -> None:
        async with translated_unique_violations(user.name), present(f"no tenant {user.tenant_id}"):
            await self.connection.execute(
                query("insert_user"),
                user.id,
                user.tenant_id,
                to_text(user.name),
                user.created_at,
                user.role,
                user.email,
                *(user.identity or (None, None)),
            )

    async def get_user(self, tenant_id: UUID, user_id: UUID) -> User:
        row = await self.connection.fetchrow(query("get_user"), tenant_id, user_id)
        if row is None:
            raise NotFound(f"no user {user_id}; it was created, and is gone")
        return user_of(row)

    async def delete_user(self, tenant_id: UUID, user_id: UUID) -> None:
        await one_row(self.connection, "delete_user", "user", tenant_id, user_id)

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
                None if key.job_ids is None else list(key.job_ids),
                key.expiry_notice_at,
            )

    async def lock_key(self, tenant_id: UUID, key_id: UUID) -> tuple[ApiKey, datetime]:
        row = await one_row(self.connection, "lock_key", "key", tenant_id, key_id)
        return key_of(row), row["now"]

    async def save_key(self, key: ApiKey) -> None:
        ends = (key.expires_at, key.revoked_at, key.expiry_notice_at)
        await self.connection.execute(query("save_key"), key.id, *ends)

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


# --- Rows as values -------------------------------------------------------------------------


def key_of(row: Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        tenant_id=row["tenant_id"],
        user_id=row["user_id"],
        name=row["name"],
        scopes=tuple(Scope(scope) for scope in row["scopes"]),
        hash=row["hash"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
        job_ids=None if row["job_ids"] is None else tuple(row["job_ids"]),
    )


def user_of(row: Row) -> User:
    return User(row["id"], row["tenant_id"], row["name"], row["created_at"], *_roles_of(row))


def _roles_of(
    row: Row,
) -> tuple[Role | None, dict[UUID, Role], str | None, Identity | None]:
    """With the address, and the identity."""
    role, subject = row["role"], row["identity_subject"]
    return (
        None if role is None else Role(role),
        job_roles_of(row["job_roles"]),
        row["email"],
        None if subject is None else Identity(row["identity_issuer"], subject),
    )


def job_roles_of(text: str | None) -> dict[UUID, Role]:
    stored: dict[str, str] = json.loads(text) if text is not None else {}
    return {UUID(job_id): Role(role) for job_id, role in stored.items()}


def _tenant(row: Row) -> Tenant:
    days, modes = row["retention_days"], modes_of(row)
    payer = row["planner_account_id"]
    return Tenant(row["id"], row["name"], row["created_at"], days, modes, payer)
