"""Tenants, their users, and API keys."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import monotonic
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.recording import created_before, record, translated_unique_violations
from cadenza.adapters.postgres.rows import Row, to_text
from cadenza.domain.access import ApiKey, Scope, Tenant, User
from cadenza.domain.audit import AuditEntry, IdempotencyRecord
from cadenza.domain.errors import NotFound
from cadenza.domain.rule import Mode, Modes

OPERATOR = UUID(int=0)  # in whose name tenants are created; no tenant has this id
USE_NOTED = timedelta(minutes=1)  # not a write with every request
DELETE_SECONDS = 600.0  # a tenant may leave millions of runs behind
KNOWN_SECONDS = 1.0  # that a key which another process revokes may still open something
MOST_KNOWN = 10_000


class PostgresAccounts:
    def __init__(
        self, database: Database, on_time: Callable[[datetime], None] = lambda _at: None
    ) -> None:
        self._database = database
        self._on_time = on_time
        self._known: dict[UUID, _KnownKey] = {}
        self._forgotten = 0  # times

    # --- Keys -----------------------------------------------------------------------------

    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        """Remembered for a second: a page of the dashboard asks for many things at once."""
        known = self._known.get(key_id)
        if known is not None and (passed := monotonic() - known.asked) < KNOWN_SECONDS:
            return known.key, known.user, known.at + timedelta(seconds=passed)
        asked, forgotten = monotonic(), self._forgotten
        async with self._database.connection() as connection:
            row = await connection.fetchrow(query("find_key"), key_id)
        if row is None:
            return None
        self._on_time(row["now"])
        user = User(row["user_id"], row["tenant_id"], row["user_name"], row["user_created_at"])
        known = _KnownKey(_key(row), user, row["now"], asked)
        if forgotten == self._forgotten:  # else it may be what was true before
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key_id] = known
        return known.key, known.user, known.at

    def _forget_keys(self) -> None:
        self._known.clear()
        self._forgotten += 1

    async def note_use(self, key: ApiKey, now: datetime) -> None:
        if key.last_used_at is None or now - key.last_used_at >= USE_NOTED:
            async with self._database.connection() as connection:
                await connection.execute(query("touch_key"), key.id)
            self._known.pop(key.id, None)

    async def list_keys(self, tenant_id: UUID) -> Sequence[ApiKey]:
        async with self._database.connection() as connection:
            return [_key(row) for row in await connection.fetch(query("list_keys"), tenant_id)]

    async def add_key(
        self, key: ApiKey, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID:
        async with self._database.transaction() as connection:
            if present := await created_before(connection, key.tenant_id, once, key.id):
                return present
            await _add_key(connection, key)
            await record(connection, key.tenant_id, entry, key.id)
        return key.id

    async def revoke_key(self, tenant_id: UUID, key_id: UUID, entry: AuditEntry) -> ApiKey:
        async with self._database.transaction() as connection:
            row = await connection.fetchrow(query("revoke_key"), tenant_id, key_id)
            if row is None:
                raise NotFound(f"no key {key_id}")
            await record(connection, tenant_id, entry, key_id)
        self._forget_keys()
        return _key(row)

    async def replace_key(
        self, old_id: UUID, new: ApiKey, ends_at: datetime, entry: AuditEntry
    ) -> None:
        async with self._database.transaction() as connection:
            ended = await connection.fetchrow(query("end_key"), new.tenant_id, old_id, ends_at)
            if ended is None:
                raise NotFound(f"no key {old_id} that is in force")
            await _add_key(connection, new)
            await record(connection, new.tenant_id, entry, old_id)
        self._forget_keys()

    # --- Tenants --------------------------------------------------------------------------

    async def list_tenants(self, after: UUID | None, limit: int) -> Sequence[Tenant]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_tenants"), after, limit)
        return [_tenant(row) for row in rows]

    async def get_tenant(self, tenant_id: UUID) -> Tenant:
        async with self._database.connection() as connection:
            row = await connection.fetchrow(query("get_tenant"), tenant_id)
        if row is None:
            raise NotFound(f"no tenant {tenant_id}")
        return _tenant(row)

    async def add_tenant(
        self, tenant: Tenant, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID:
        async with (
            translated_unique_violations(tenant.name),
            self._database.transaction() as connection,
        ):
            if present := await created_before(connection, OPERATOR, once, tenant.id):
                return present
            await connection.execute(
                query("add_tenant"),
                tenant.id,
                to_text(tenant.name),
                tenant.created_at,
                tenant.retention_days,
                tenant.modes.rules,
                tenant.modes.llm,
            )
            await record(connection, tenant.id, entry, tenant.id)
        return tenant.id

    async def change_tenant(self, tenant: Tenant, entry: AuditEntry) -> None:
        async with (
            translated_unique_violations(tenant.name),
            self._database.transaction() as connection,
        ):
            changed = await connection.fetchval(
                query("change_tenant"),
                tenant.id,
                to_text(tenant.name),
                tenant.retention_days,
                tenant.modes.rules,
                tenant.modes.llm,
            )
            if changed is None:
                raise NotFound(f"no tenant {tenant.id}")
            await record(connection, tenant.id, entry, tenant.id)

    async def delete_tenant(self, tenant_id: UUID) -> None:
        async with self._database.transaction() as connection:
            gone = await connection.fetchval(
                query("delete_tenant"), tenant_id, timeout=DELETE_SECONDS
            )
        if gone is None:
            raise NotFound(f"no tenant {tenant_id}")
        self._forget_keys()

    # --- Users ----------------------------------------------------------------------------

    async def list_users(self, tenant_id: UUID) -> Sequence[User]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_users"), tenant_id)
        return [User(**dict(row)) for row in rows]

    async def add_user(
        self, user: User, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID:
        async with (
            translated_unique_violations(user.name),
            self._database.transaction() as connection,
        ):
            if present := await created_before(connection, user.tenant_id, once, user.id):
                return present
            try:
                await connection.execute(
                    query("add_user"), user.id, user.tenant_id, to_text(user.name), user.created_at
                )
            except asyncpg.ForeignKeyViolationError as error:
                raise NotFound(f"no tenant {user.tenant_id}") from error
            await record(connection, user.tenant_id, entry, user.id)
        return user.id

    async def delete_user(self, tenant_id: UUID, user_id: UUID, entry: AuditEntry) -> None:
        async with self._database.transaction() as connection:
            if await connection.fetchval(query("delete_user"), tenant_id, user_id) is None:
                raise NotFound(f"no user {user_id}")
            await record(connection, tenant_id, entry, user_id)
        self._forget_keys()


@dataclass(frozen=True, slots=True)
class _KnownKey:
    key: ApiKey
    user: User
    at: datetime  # by the database
    asked: float  # by our own clock


async def _add_key(connection: Connection, key: ApiKey) -> None:
    try:
        await connection.execute(
            query("add_key"),
            key.id,
            key.tenant_id,
            key.user_id,
            to_text(key.name),
            list(key.scopes),
            key.hash,
            key.created_at,
            key.expires_at,
        )
    except asyncpg.ForeignKeyViolationError as error:
        raise NotFound(f"no user {key.user_id}") from error


def _key(row: Row) -> ApiKey:
    return ApiKey(
        id=row["id"],
        tenant_id=row["tenant_id"],
        user_id=row["user_id"],
        name=row["name"],
        scopes=tuple(Scope(each) for each in row["scopes"]),
        hash=row["hash"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        last_used_at=row["last_used_at"],
    )


def _tenant(row: Row) -> Tenant:
    modes = Modes(Mode(row["rules_mode"]), Mode(row["llm_mode"]))
    return Tenant(row["id"], row["name"], row["created_at"], row["retention_days"], modes)
