"""Tenants, users and keys."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.errors import AlreadyThere
from cadenza.domain.signing import SigningKey

USE_NOTED = timedelta(minutes=1)


class MemoryAccounts(OverTables):
    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        key = self._tables.keys.get(key_id)
        if key is None:
            return None
        return key, self._tables.users[key.user_id], self._tables.clock.now()

    async def find_user(self, user_id: UUID) -> tuple[User, datetime] | None:
        user = self._tables.users.get(user_id)
        return None if user is None else (user, self._tables.clock.now())

    async def note_use(self, key_id: UUID) -> None:
        keys, now = self._tables.keys, self._tables.clock.now()
        key = keys.get(key_id)
        if key is not None and (key.last_used_at is None or key.last_used_at < now - USE_NOTED):
            keys[key_id] = replace(key, last_used_at=now)

    async def list_keys(self, tenant_id: UUID) -> Sequence[ApiKey]:
        keys = [key for key in self._tables.keys.values() if key.tenant_id == tenant_id]
        return sorted(keys, key=lambda key: (key.created_at, key.id))

    async def list_tenants(self, after: UUID | None, limit: int) -> Sequence[Tenant]:
        tenants = self._tables.tenants
        ids = sorted(tenant_id for tenant_id in tenants if after is None or tenant_id > after)
        return [tenants[tenant_id] for tenant_id in ids[:limit]]

    async def get_tenant(self, tenant_id: UUID) -> Tenant:
        return self._tables.tenant(tenant_id)

    async def list_users(self, tenant_id: UUID) -> Sequence[User]:
        users = [user for user in self._tables.users.values() if user.tenant_id == tenant_id]
        return sorted(users, key=lambda user: user.name)


class MemorySigningKeys(OverTables):
    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        keys = self._tables.valid_signing_keys(tenant_id)
        return sorted(keys, key=lambda key: key.created_at, reverse=True)


class MemoryAccountRows(Writes):
    """A transaction's verbs for tenants, users and keys."""

    async def insert_tenant(self, tenant: Tenant) -> None:
        await self.save_tenant(tenant)

    async def lock_tenant(self, tenant_id: UUID) -> tuple[Tenant, datetime]:
        return self._tables.tenant(tenant_id), self._now

    async def save_tenant(self, tenant: Tenant) -> None:
        others = (other for other in self._tables.tenants.values() if other.id != tenant.id)
        if any(other.name == tenant.name for other in others):
            raise AlreadyThere("name", tenant.name, "a tenant of that name exists; choose another")
        self._put(self._tables.tenants, tenant.id, tenant)

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
        self._delete_where(tables.channel_urls, lambda key, _: key not in tables.channels)
        self._delete_where(tables.announcements, lambda key, _: key[0] not in tables.routes)
        self._delete_where(tables.runs_of, lambda key, _: key not in tables.endpoints)
        self._delete_where(tables.asked_runs, lambda key, _: key[0] not in tables.endpoints)
        self._delete_where(tables.steering, lambda key, _: key not in tables.endpoints)
        self._delete_where(tables.lost_attempts, lambda key, _: key not in tables.runs)
        self._delete_where(
            tables.awaited_results, lambda _, attempts: attempts[0].tenant_id == tenant_id
        )
        self._delete_where(tables.late_results, lambda key, _: key not in tables.runs)
        run_ids = {row.run.id for row in tables.slots.values()}
        self._delete_where(tables.run_events, lambda key, _: key not in run_ids)

    async def insert_user(self, user: User) -> None:
        self._tables.tenant(user.tenant_id)
        others = self._tables.users.values()
        if (user.tenant_id, user.name) in {(other.tenant_id, other.name) for other in others}:
            raise AlreadyThere("name", user.name, "a user of that name exists; choose another")
        self._put(self._tables.users, user.id, user)

    async def get_user(self, tenant_id: UUID, user_id: UUID) -> User:
        return self._tables.user(tenant_id, user_id)

    async def delete_user(self, tenant_id: UUID, user_id: UUID) -> None:
        self._tables.user(tenant_id, user_id)
        self._delete(self._tables.users, user_id)
        self._delete_where(self._tables.keys, lambda _, row: row.user_id == user_id)
        self._delete_where(self._tables.sign_ins, lambda _, row: row.user_id == user_id)
        self._delete_where(self._tables.sign_in_links, lambda _, row: row.user_id == user_id)

    async def insert_key(self, key: ApiKey) -> None:
        self._tables.user(key.tenant_id, key.user_id)
        await self.save_key(key)

    async def lock_key(self, tenant_id: UUID, key_id: UUID) -> tuple[ApiKey, datetime]:
        return self._tables.key(tenant_id, key_id), self._now

    async def save_key(self, key: ApiKey) -> None:
        self._put(self._tables.keys, key.id, key)

    async def signing_key_ends(self, tenant_id: UUID) -> Sequence[datetime | None]:
        return [key.retires_at for key in self._tables.valid_signing_keys(tenant_id)]

    async def end_signing_keys(self, tenant_id: UUID, now: datetime, ends_at: datetime) -> None:
        keys = self._tables.signing_keys
        for key in [key for key in keys.values() if key.tenant_id == tenant_id]:
            if key.retires_at is not None and key.retires_at <= now:
                self._delete(keys, key.id)
            elif key.retires_at is None or key.retires_at > ends_at:
                self._put(keys, key.id, replace(key, retires_at=ends_at))

    async def insert_signing_key(self, key: SigningKey) -> None:
        self._put(self._tables.signing_keys, key.id, key)
