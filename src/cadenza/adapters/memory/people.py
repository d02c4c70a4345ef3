"""People: their roles, invitations, and who they are at a provider, in memory."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.tables import OverTables
from cadenza.adapters.memory.writes import Writes
from cadenza.domain.access import ApiKey, Identity, User
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.people import Invitation, Role


class MemoryPeople(OverTables):
    async def list_invitations(self, tenant_id: UUID, limit: int) -> Sequence[Invitation]:
        rows = [row for row in self._tables.invitations.values() if row.tenant_id == tenant_id]
        return sorted(rows, key=lambda row: (row.created_at, row.id), reverse=True)[:limit]

    async def find_invitation(self, token_hash: bytes) -> tuple[Invitation, str, datetime] | None:
        for row in self._tables.invitations.values():
            if row.hash == token_hash:
                return row, self._tables.tenants[row.tenant_id].name, self._tables.clock.now()
        return None

    async def find_tenant(self, name: str) -> UUID | None:
        tenants = self._tables.tenants.values()
        return next((tenant.id for tenant in tenants if tenant.name == name), None)

    async def users_at_provider(self, identity: Identity, email: str) -> Sequence[tuple[User, str]]:
        users = [
            user
            for user in self._tables.users.values()
            if user.identity == identity or (user.identity is None and user.email == email)
        ]
        users.sort(key=lambda user: (user.created_at, user.id))
        return [(user, self._tables.tenants[user.tenant_id].name) for user in users]


class MemoryPeopleRows(Writes):
    """A transaction's verbs."""

    async def find_user_by_email(self, tenant_id: UUID, email: str) -> User | None:
        users = (user for user in self._tables.users.values() if user.tenant_id == tenant_id)
        return next((user for user in users if user.email == email), None)

    async def save_user(self, user: User) -> None:
        self._tables.user(user.tenant_id, user.id)
        others = [
            other
            for other in self._tables.users.values()
            if other.tenant_id == user.tenant_id and other.id != user.id
        ]
        if user.email is not None and any(other.email == user.email for other in others):
            raise AlreadyThere("email", user.email, "somebody has that address; choose another")
        if user.identity is not None and any(other.identity == user.identity for other in others):
            raise AlreadyThere("email", user.email, "somebody has signed in as that identity")
        if len(await self.known_job_ids(user.tenant_id, user.job_roles)) < len(user.job_roles):
            raise NotFound("no such job")
        self._put(self._tables.users, user.id, user)

    async def count_owners(self, tenant_id: UUID) -> int:
        users = self._tables.users.values()
        return sum(user.tenant_id == tenant_id and user.role is Role.OWNER for user in users)

    async def known_job_ids(self, tenant_id: UUID, job_ids: Collection[UUID]) -> frozenset[UUID]:
        jobs = self._tables.jobs
        known = (job_id for job_id in job_ids if job_id in jobs)
        return frozenset(job_id for job_id in known if jobs[job_id].tenant_id == tenant_id)

    async def insert_invitation(self, invitation: Invitation) -> None:
        self._put(self._tables.invitations, invitation.id, invitation)

    async def count_invitations(self, tenant_id: UUID) -> int:
        rows = self._tables.invitations.values()
        return sum(row.tenant_id == tenant_id and row.is_open(self._now) for row in rows)

    async def lock_invitation(self, token_hash: bytes) -> tuple[Invitation, datetime] | None:
        for row in self._tables.invitations.values():
            if row.hash == token_hash:
                return row, self._now
        return None

    async def lock_invitation_by_id(
        self, tenant_id: UUID, invitation_id: UUID
    ) -> tuple[Invitation, datetime]:
        row = self._tables.invitations.get(invitation_id)
        if row is None or row.tenant_id != tenant_id:
            raise NotFound(f"no invitation {invitation_id}")
        return row, self._now

    async def save_invitation(self, invitation: Invitation) -> None:
        self._put(self._tables.invitations, invitation.id, invitation)

    async def delete_old_invitations(self, tenant_id: UUID, before: datetime) -> None:
        self._delete_where(
            self._tables.invitations,
            lambda _, row: row.tenant_id == tenant_id and row.expires_at < before,
        )

    async def take_expiring_keys(self, limit: int) -> Sequence[ApiKey]:
        notified = self._tables.expiring_keys_notified
        due = [
            key
            for key in self._tables.keys.values()
            if key.revoked_at is None
            and key.id not in notified
            and key.expiry_notice_at is not None
            and key.expiry_notice_at <= self._now
        ]
        for key in due[:limit]:
            self._put(notified, key.id, None)
        return due[:limit]
