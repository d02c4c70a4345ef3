"""Tenants, users and API keys. Every change leaves a entry in the audit log."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.audit import AuditEntry, IdempotencyRecord


class Keys(Protocol):
    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        """A key with its user, and the time it is to be judged by."""
        ...

    async def note_use(self, key: ApiKey, now: datetime) -> None:
        """It has opened something; kept to the minute."""
        ...

    async def list_keys(self, tenant_id: UUID) -> Sequence[ApiKey]: ...

    async def add_key(
        self, key: ApiKey, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID:
        """The id of the key that there is now: this one, or the one made when first told."""
        ...

    async def revoke_key(self, tenant_id: UUID, key_id: UUID, entry: AuditEntry) -> ApiKey: ...

    async def replace_key(
        self, old_id: UUID, new: ApiKey, ends_at: datetime, entry: AuditEntry
    ) -> None:
        """A key in the place of another, which goes on until an instant."""
        ...


class Tenants(Protocol):
    async def list_tenants(self, after: UUID | None, limit: int) -> Sequence[Tenant]: ...

    async def get_tenant(self, tenant_id: UUID) -> Tenant: ...

    async def add_tenant(
        self, tenant: Tenant, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID: ...

    async def change_tenant(self, tenant: Tenant, entry: AuditEntry) -> None: ...

    async def delete_tenant(self, tenant_id: UUID) -> None:
        """With everything that is its own."""
        ...

    async def list_users(self, tenant_id: UUID) -> Sequence[User]: ...

    async def add_user(
        self, user: User, entry: AuditEntry, once: IdempotencyRecord | None = None
    ) -> UUID: ...

    async def delete_user(self, tenant_id: UUID, user_id: UUID, entry: AuditEntry) -> None:
        """With their keys."""
        ...
