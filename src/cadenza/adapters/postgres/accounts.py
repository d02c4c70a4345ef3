"""Tenants, their users, and API keys, as they are read."""

from collections.abc import Callable, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.domain.access import ApiKey, Scope, Tenant, User
from cadenza.domain.errors import NotFound
from cadenza.domain.rule import Mode, Modes


class PostgresAccounts:
    def __init__(
        self, database: Database, on_time: Callable[[datetime], None] = lambda _at: None
    ) -> None:
        """`on_time` hears what time the database says it is, with every key that is looked up."""
        self._database = database
        self._on_time = on_time

    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        row = await self._database.fetchrow(query("find_key"), key_id)
        if row is None:
            return None
        self._on_time(row["now"])
        user = User(row["user_id"], row["tenant_id"], row["user_name"], row["user_created_at"])
        return key_of(row), user, row["now"]

    async def note_use(self, key_id: UUID) -> None:
        await self._database.execute(query("touch_key"), key_id)

    async def list_keys(self, tenant_id: UUID) -> Sequence[ApiKey]:
        return [key_of(row) for row in await self._database.fetch(query("list_keys"), tenant_id)]

    async def list_tenants(self, after: UUID | None, limit: int) -> Sequence[Tenant]:
        rows = await self._database.fetch(query("list_tenants"), after, limit)
        return [tenant_of(row) for row in rows]

    async def get_tenant(self, tenant_id: UUID) -> Tenant:
        row = await self._database.fetchrow(query("get_tenant"), tenant_id)
        if row is None:
            raise NotFound(f"no tenant {tenant_id}")
        return tenant_of(row)

    async def list_users(self, tenant_id: UUID) -> Sequence[User]:
        return [user_of(row) for row in await self._database.fetch(query("list_users"), tenant_id)]


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
    )


def user_of(row: Row) -> User:
    return User(row["id"], row["tenant_id"], row["name"], row["created_at"])


def tenant_of(row: Row) -> Tenant:
    modes = Modes(Mode(row["rules_mode"]), Mode(row["llm_mode"]))
    return Tenant(row["id"], row["name"], row["created_at"], row["retention_days"], modes)
