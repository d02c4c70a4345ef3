"""Tenants, users, API keys and signing keys: what is read of them, and a transaction's verbs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.access import ApiKey, Tenant, User
from cadenza.domain.signing import SigningKey


class KeyReads(Protocol):
    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        """A key with its user, and the time it is to be judged by."""
        ...

    async def find_user(self, user_id: UUID) -> tuple[User, datetime] | None:
        """Whom a browser without a key is of."""
        ...

    async def note_use(self, key_id: UUID) -> None: ...

    async def list_keys(self, tenant_id: UUID) -> Sequence[ApiKey]: ...


class TenantReads(Protocol):
    async def list_tenants(self, after: UUID | None, limit: int) -> Sequence[Tenant]: ...

    async def get_tenant(self, tenant_id: UUID) -> Tenant: ...

    async def list_users(self, tenant_id: UUID) -> Sequence[User]: ...


class AccountRows(Protocol):
    """NotFound for what is not there, AlreadyThere where a name is taken."""

    async def insert_tenant(self, tenant: Tenant) -> None: ...

    async def lock_tenant(self, tenant_id: UUID) -> tuple[Tenant, datetime]:
        """One change at a time; also tells the time."""
        ...

    async def save_tenant(self, tenant: Tenant) -> None: ...

    async def delete_tenant(self, tenant_id: UUID) -> None:
        """With everything that is its own."""
        ...

    async def insert_user(self, user: User) -> None: ...

    async def get_user(self, tenant_id: UUID, user_id: UUID) -> User: ...

    async def delete_user(self, tenant_id: UUID, user_id: UUID) -> None:
        """With their keys."""
        ...

    async def insert_key(self, key: ApiKey) -> None: ...

    async def lock_key(self, tenant_id: UUID, key_id: UUID) -> tuple[ApiKey, datetime]: ...

    async def save_key(self, key: ApiKey) -> None: ...

    async def signing_key_ends(self, tenant_id: UUID) -> Sequence[datetime | None]:
        """When each key that signs now will end; None for one that has no end yet."""
        ...

    async def end_signing_keys(self, tenant_id: UUID, now: datetime, ends_at: datetime) -> None:
        """Those that have ended go; the others end then, or sooner where they do already."""
        ...

    async def insert_signing_key(self, key: SigningKey) -> None: ...
