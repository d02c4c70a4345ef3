"""Tenants, users and keys, as they are read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.signing import SigningKey

USE_NOTED = timedelta(minutes=1)


class MemoryAccounts:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        key = self._tables.keys.get(key_id)
        if key is None:
            return None
        return key, self._tables.users[key.user_id], self._tables.clock.now()

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


class MemorySigningKeys:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        now = self._tables.clock.now()
        keys = [
            key
            for key in self._tables.signing_keys.values()
            if key.tenant_id == tenant_id and (key.retires_at is None or key.retires_at > now)
        ]
        return sorted(keys, key=lambda key: key.created_at, reverse=True)
