"""A transaction's verbs for tenants, users and keys."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.writes import Writes
from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.signing import SigningKey


class MemoryTenantRows(Writes):
    async def insert_tenant(self, tenant: Tenant) -> None:
        self._put_tenant(tenant)

    async def lock_tenant(self, tenant_id: UUID) -> tuple[Tenant, datetime]:
        return self._tables.tenant(tenant_id), self._now

    async def save_tenant(self, tenant: Tenant) -> None:
        self._put_tenant(tenant)

    async def delete_tenant(self, tenant_id: UUID) -> None:
        tables = self._tables
        self._delete(tables.tenants, tenant_id)
        for table in tables.owned_by_tenant:
            self._delete_where(table, lambda _, row: row.tenant_id == tenant_id)
        for table in tables.keyed_by_tenant:
            self._delete_where(table, lambda key, _: key[0] == tenant_id)
        self._delete_where(tables.watched_until, lambda key, _: key == tenant_id)
        self._delete_where(tables.events, lambda key, _: key == tenant_id)
        # What hangs on these, and names no tenant.
        self._delete_where(tables.endpoint_names, lambda key, _: key[0] not in tables.jobs)
        self._delete_where(tables.ids_of_job, lambda key, _: key not in tables.jobs)
        self._delete_where(tables.analyses, lambda key, _: key[0] not in tables.endpoints)
        self._delete_where(tables.runs_of, lambda key, _: key not in tables.endpoints)
        self._delete_where(tables.lost_attempts, lambda key, _: key not in tables.runs)
        self._delete_where(tables.late_results, lambda key, _: key not in tables.runs)

    def _put_tenant(self, tenant: Tenant) -> None:
        others = (other for other in self._tables.tenants.values() if other.id != tenant.id)
        if any(other.name == tenant.name for other in others):
            raise AlreadyThere("name", tenant.name, "a tenant of that name exists; choose another")
        self._put(self._tables.tenants, tenant.id, tenant)


class MemoryUserRows(Writes):
    async def insert_user(self, user: User) -> None:
        self._tables.tenant(user.tenant_id)
        others = self._tables.users.values()
        if (user.tenant_id, user.name) in {(other.tenant_id, other.name) for other in others}:
            raise AlreadyThere("name", user.name, "a user of that name exists; choose another")
        self._put(self._tables.users, user.id, user)

    async def get_user(self, tenant_id: UUID, user_id: UUID) -> User:
        user = self._tables.users.get(user_id)
        if user is None or user.tenant_id != tenant_id:
            raise NotFound(f"no user {user_id}")
        return user

    async def delete_user(self, tenant_id: UUID, user_id: UUID) -> None:
        await self.get_user(tenant_id, user_id)
        self._delete(self._tables.users, user_id)
        self._delete_where(self._tables.keys, lambda _, key: key.user_id == user_id)

    # --- Their keys -----------------------------------------------------------------------

    async def insert_key(self, key: ApiKey) -> None:
        await self.get_user(key.tenant_id, key.user_id)
        self._put(self._tables.keys, key.id, key)

    async def lock_key(self, tenant_id: UUID, key_id: UUID) -> tuple[ApiKey, datetime]:
        key = self._tables.keys.get(key_id)
        if key is None or key.tenant_id != tenant_id:
            raise NotFound(f"no key {key_id}")
        return key, self._now

    async def save_key(self, key: ApiKey) -> None:
        self._put(self._tables.keys, key.id, key)


class MemorySigningKeyRows(Writes):
    async def signing_key_ends(self, tenant_id: UUID) -> Sequence[datetime | None]:
        return [
            key.retires_at
            for key in self._keys_of(tenant_id)
            if key.retires_at is None or key.retires_at > self._now
        ]

    async def end_signing_keys(self, tenant_id: UUID, now: datetime, ends_at: datetime) -> None:
        for key in self._keys_of(tenant_id):
            if key.retires_at is not None and key.retires_at <= now:
                self._delete(self._tables.signing_keys, key.id)
            elif key.retires_at is None or key.retires_at > ends_at:
                ending = replace(key, retires_at=ends_at)
                self._put(self._tables.signing_keys, key.id, ending)

    async def insert_signing_key(self, key: SigningKey) -> None:
        self._put(self._tables.signing_keys, key.id, key)

    def _keys_of(self, tenant_id: UUID) -> list[SigningKey]:
        return [key for key in self._tables.signing_keys.values() if key.tenant_id == tenant_id]
