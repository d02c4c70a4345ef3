"""People: their roles, invitations, and who they are at a provider."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.accounts import job_roles_of, key_of, user_of
from cadenza.adapters.postgres.database import Connection, OverDatabase
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import present, translated_unique_violations
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import to_json, to_text
from cadenza.domain.access import ApiKey, Identity, User
from cadenza.domain.errors import NotFound
from cadenza.domain.people import Access, Invitation, Role


class PostgresPeople(OverDatabase):
    async def list_invitations(self, tenant_id: UUID, limit: int) -> Sequence[Invitation]:
        rows = await self._database.fetch(query("list_invitations"), tenant_id, limit)
        return [_invitation(row) for row in rows]

    async def find_invitation(self, token_hash: bytes) -> tuple[Invitation, str, datetime] | None:
        row = await self._database.fetchrow(query("find_invitation"), token_hash)
        return None if row is None else (_invitation(row), row["tenant_name"], row["now"])

    async def find_tenant(self, name: str) -> UUID | None:
        return await self._database.fetchval(query("find_tenant"), name)

    async def users_at_provider(self, identity: Identity, email: str) -> Sequence[tuple[User, str]]:
        rows = await self._database.fetch(query("users_at_provider"), *identity, email)
        return [(user_of(row), row["tenant_name"]) for row in rows]


class PostgresPeopleRows:
    """In a transaction."""

    connection: Connection

    async def find_user_by_email(self, tenant_id: UUID, email: str) -> User | None:
        row = await self.connection.fetchrow(query("find_user_by_email"), tenant_id, email)
        return None if row is None else user_of(row)

    async def save_user(self, user: User) -> None:
        async with translated_unique_violations(user.email or ""):
            saved = await self.connection.fetchval(
                query("save_user"),
                user.tenant_id,
                user.id,
                user.role,
                user.email,
                *(user.identity or (None, None)),
            )
        if saved is None:
            raise NotFound(f"no user {user.id}")
        roles = user.job_roles
        async with present("no such job"):
            await self.connection.execute(
                query("set_job_roles"),
                user.tenant_id,
                user.id,
                list(roles),
                [str(role) for role in roles.values()],
            )

    async def count_owners(self, tenant_id: UUID) -> int:
        return await self.connection.fetchval(query("count_owners"), tenant_id)

    async def known_job_ids(self, tenant_id: UUID, job_ids: Collection[UUID]) -> frozenset[UUID]:
        rows = await self.connection.fetch(query("known_job_ids"), tenant_id, list(job_ids))
        return frozenset(row["id"] for row in rows)

    async def insert_invitation(self, invitation: Invitation) -> None:
        access = invitation.access
        roles = {str(job_id): role for job_id, role in access.job_roles.items()}
        await self.connection.execute(
            query("insert_invitation"),
            invitation.id,
            invitation.tenant_id,
            to_text(invitation.email),
            access.role,
            to_json(roles),
            invitation.hash,
            to_text(invitation.invited_by),
            invitation.created_at,
            invitation.expires_at,
        )

    async def count_invitations(self, tenant_id: UUID) -> int:
        return await self.connection.fetchval(query("count_invitations"), tenant_id)

    async def lock_invitation(self, token_hash: bytes) -> tuple[Invitation, datetime] | None:
        row = await self.connection.fetchrow(query("lock_invitation"), token_hash)
        return None if row is None else (_invitation(row), row["now"])

    async def lock_invitation_by_id(
        self, tenant_id: UUID, invitation_id: UUID
    ) -> tuple[Invitation, datetime]:
        ids = (tenant_id, invitation_id)
        row = await one_row(self.connection, "lock_invitation_by_id", "invitation", *ids)
        return _invitation(row), row["now"]

    async def save_invitation(self, invitation: Invitation) -> None:
        ends = (invitation.accepted_at, invitation.revoked_at)
        await self.connection.execute(query("save_invitation"), invitation.id, *ends)

    async def delete_old_invitations(self, tenant_id: UUID, before: datetime) -> None:
        await self.connection.execute(query("delete_old_invitations"), tenant_id, before)

    async def take_expiring_keys(self, limit: int) -> Sequence[ApiKey]:
        rows = await self.connection.fetch(query("take_expiring_keys"), limit)
        return [key_of(row) for row in rows]


def _invitation(row: Row) -> Invitation:
    role = row["role"]
    access = Access(None if role is None else Role(role), job_roles_of(row["job_roles"]))
    return Invitation(
        row["id"],
        row["tenant_id"],
        row["email"],
        access,
        row["hash"],
        row["invited_by"],
        row["created_at"],
        row["expires_at"],
        row["accepted_at"],
        row["revoked_at"],
    )
