"""People: what is read of them and of their invitations, and a transaction's verbs."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.access import ApiKey, Identity, User
from cadenza.domain.people import Invitation


class PeopleReads(Protocol):
    async def list_invitations(self, tenant_id: UUID, limit: int) -> Sequence[Invitation]:
        """Newest first, those that have ended among them."""
        ...

    async def find_invitation(self, token_hash: bytes) -> tuple[Invitation, str, datetime] | None:
        """With the name of its tenant, and the time it is to be judged by."""
        ...

    async def find_tenant(self, name: str) -> UUID | None: ...

    async def users_at_provider(self, identity: Identity, email: str) -> Sequence[tuple[User, str]]:
        """Those who signed in as this identity, or have this address and no identity yet; each
        with the name of the tenant, the oldest first."""
        ...


class PeopleRows(Protocol):
    async def find_user_by_email(self, tenant_id: UUID, email: str) -> User | None: ...

    async def save_user(self, user: User) -> None:
        """Roles, address and identity. AlreadyThere where the address or identity is another's."""
        ...

    async def count_owners(self, tenant_id: UUID) -> int: ...

    async def known_job_ids(self, tenant_id: UUID, job_ids: Collection[UUID]) -> frozenset[UUID]:
        """Those of them that the tenant has."""
        ...

    async def insert_invitation(self, invitation: Invitation) -> None: ...

    async def count_invitations(self, tenant_id: UUID) -> int:
        """Those that wait."""
        ...

    async def lock_invitation(self, token_hash: bytes) -> tuple[Invitation, datetime] | None:
        """Of two who accept it, the second waits here for the first."""
        ...

    async def lock_invitation_by_id(
        self, tenant_id: UUID, invitation_id: UUID
    ) -> tuple[Invitation, datetime]: ...

    async def save_invitation(self, invitation: Invitation) -> None:
        """How it ended."""
        ...

    async def delete_old_invitations(self, tenant_id: UUID, before: datetime) -> None: ...

    async def take_expiring_keys(self, limit: int) -> Sequence[ApiKey]:
        """Those whose end is to be told of now; each is given once."""
        ...
