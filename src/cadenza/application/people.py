"""People of a tenant: invited by an owner, given roles, removed. A change counts at once: what was
open under the old role is closed."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from cadenza.application.ports.store import Store, Transaction
from cadenza.application.recording import record
from cadenza.domain.access import Actor, Caller, Identity, User, hash_of
from cadenza.domain.audit import PendingEvent
from cadenza.domain.errors import AlreadyThere, InvalidInput, NotAllowed, NotFound, Refused
from cadenza.domain.instants import iso
from cadenza.domain.people import (
    INVITATION_LASTS,
    LONGEST_INVITATION,
    MOST_INVITATIONS,
    Access,
    Invitation,
    Role,
    normal_email,
)

ENDED_KEPT = timedelta(days=30)
ACCESS_CHANGED = "access.changed"  # an event for our own streams, which look again who follows
NOT_YOURS = "this needs a key with the scope admin, of an owner of the tenant or of this job"
LAST_OWNER = "the last owner of the tenant stays one: make somebody else an owner first"


@dataclass(frozen=True, slots=True)
class Invitations:
    store: Store
    new_id: Callable[[], UUID]
    new_secret: Callable[[], str]

    async def create(
        self, caller: Caller, email: str, access: Access, lasts: timedelta = INVITATION_LASTS
    ) -> tuple[Invitation, str]:
        """And the token of its link, which is never seen again."""
        access.check()
        address = normal_email(email)
        if not timedelta(minutes=1) <= lasts <= LONGEST_INVITATION:
            fix = f"from a minute to {LONGEST_INVITATION.days} days"
            raise InvalidInput("lasts", str(lasts), fix)
        token = self.new_secret()
        async with self.store.transaction() as tx:
            _, now = await tx.lock_tenant(caller.tenant_id)
            await check_may_give(tx, caller, access)
            await check_jobs(tx, caller.tenant_id, access.job_roles)
            await self._check_room(tx, caller.tenant_id, address)
            await tx.delete_old_invitations(caller.tenant_id, now - ENDED_KEPT)
            ids = (self.new_id(), caller.tenant_id, address, access, hash_of(token))
            invitation = Invitation(*ids, caller.user_name, now, now + lasts)
            await tx.insert_invitation(invitation)
            data = {"email": address, "expires_at": iso(invitation.expires_at), **access.data}
            await _record(tx, caller, "invitation.create", invitation.id, data)
        return invitation, token

    async def _check_room(self, tx: Transaction, tenant_id: UUID, email: str) -> None:
        if await tx.find_user_by_email(tenant_id, email) is not None:
            fix = "somebody has that address here; change their role instead"
            raise AlreadyThere("email", email, fix)
        if await tx.count_invitations(tenant_id) >= MOST_INVITATIONS:
            raise Refused(f"{MOST_INVITATIONS} invitations wait already; revoke some")

    async def revoke(
        self, caller: Caller, invitation_id: UUID, job_id: UUID | None = None
    ) -> Invitation:
        """Its link opens nothing from now on; one that has ended before stays as it is. With a job
        only one that is for that job alone."""
        async with self.store.transaction() as tx:
            ids = (caller.tenant_id, invitation_id)
            invitation, now = await tx.lock_invitation_by_id(*ids)
            if job_id is not None and not invitation.access.is_for(job_id):
                raise NotFound(f"no invitation {invitation_id}")
            if not invitation.is_open(now):
                return invitation
            revoked = replace(invitation, revoked_at=now)
            await tx.save_invitation(revoked)
            data = {"email": invitation.email}
            await _record(tx, caller, "invitation.revoke", invitation_id, data)
        return revoked

    async def accept(
        self, token: str, identity: Identity | None = None, email: str | None = None
    ) -> UUID | None:
        """The id of the new user; None where the link was followed before, revoked, or is too old.

        Who comes from a provider has an identity, and its verified address must be the one that
        was invited. Else the link itself is the proof: it was sent to that address.
        """
        async with self.store.transaction() as tx:
            match = await tx.lock_invitation(hash_of(token))
            if match is None or not match[0].is_open(match[1]):
                return None
            invitation, now = match
            if identity is not None and email != invitation.email:
                raise NotAllowed("this invitation is for another address than you signed in with")
            await tx.lock_tenant(invitation.tenant_id)
            user = await self._user(tx, invitation, identity)
            await tx.save_invitation(replace(invitation, accepted_at=now))
            actor = Actor(f"user {user.name} (invitation)", f"user {user.name}")
            data = {"email": invitation.email, "user_id": str(user.id), **invitation.access.data}
            action = "invitation.accept"
            await record(tx, actor, invitation.tenant_id, action, invitation.id, data)
        return user.id

    async def _user(
        self, tx: Transaction, invitation: Invitation, identity: Identity | None
    ) -> User:
        """Who has come another way meanwhile keeps what they have: an invitation only adds."""
        tenant_id, email, access = invitation.tenant_id, invitation.email, invitation.access
        known = await tx.known_job_ids(tenant_id, access.job_roles)
        roles = {job_id: role for job_id, role in access.job_roles.items() if job_id in known}
        if access.role is None and not roles:
            raise Refused("the jobs that you were invited to are gone; ask for another invitation")
        user = await tx.find_user_by_email(tenant_id, email)
        if user is None:
            user = User(self.new_id(), tenant_id, email, await tx.time(), access.role, {}, email)
            await tx.insert_user(user)
        identity = identity or user.identity
        both = Access(user.role, user.job_roles).together_with(Access(access.role, roles))
        changed = replace(user, role=both.role, job_roles=both.job_roles, identity=identity)
        await tx.save_user(changed)
        return changed


@dataclass(frozen=True, slots=True)
class People:
    store: Store
    forget_keys: Callable[[], None]

    async def change_access(self, caller: Caller, user_id: UUID, access: Access) -> User:
        """In place of all roles that they had."""
        access.check()
        async with self.store.transaction() as tx:
            await tx.lock_tenant(caller.tenant_id)
            user = await tx.get_user(caller.tenant_id, user_id)
            await check_jobs(tx, caller.tenant_id, access.job_roles)
            if access.role is not Role.OWNER:
                await _check_not_last_owner(tx, user)
            changed = replace(user, role=access.role, job_roles=access.job_roles)
            await tx.save_user(changed)
            before = Access(user.role, user.job_roles).data
            data = {"name": user.name, **access.data, "before": before}
            await _record(tx, caller, "person.role", user_id, data)
            await close_streams(tx, caller.tenant_id)
        self.forget_keys()
        return changed

    async def remove(self, caller: Caller, user_id: UUID) -> User:
        """With their keys and browsers; what they granted is revoked."""
        async with self.store.transaction() as tx:
            await tx.lock_tenant(caller.tenant_id)
            user = await tx.get_user(caller.tenant_id, user_id)
            await _check_not_last_owner(tx, user)
            await tx.revoke_grants_of_user(caller.tenant_id, user_id)
            await tx.delete_user(caller.tenant_id, user_id)
            await _record(tx, caller, "person.remove", user_id, {"name": user.name})
            await close_streams(tx, caller.tenant_id)
        self.forget_keys()
        return user


async def check_jobs(
    tx: Transaction, tenant_id: UUID, job_ids: Collection[UUID], field: str = "jobs"
) -> None:
    known = await tx.known_job_ids(tenant_id, job_ids)
    for job_id in job_ids:
        if job_id not in known:
            raise InvalidInput(field, str(job_id), "the id of a job of this tenant: GET /jobs")


async def check_may_give(tx: Transaction, caller: Caller, access: Access) -> None:
    """Judged anew behind the tenant's lock: of two owners who remove each other at once, the
    second is none any more."""
    try:
        user = await tx.get_user(caller.tenant_id, caller.user_id)
    except NotFound as error:
        raise NotAllowed(NOT_YOURS) from error
    owns_jobs = access.role is None and all(map(user.owns, access.job_roles))
    if user.role is not Role.OWNER and not owns_jobs:
        raise NotAllowed(NOT_YOURS)


async def _check_not_last_owner(tx: Transaction, user: User) -> None:
    if user.role is Role.OWNER and await tx.count_owners(user.tenant_id) == 1:
        raise Refused(LAST_OWNER)


async def _record(
    tx: Transaction, caller: Caller, action: str, subject: UUID, data: dict[str, Any]
) -> None:
    await record(tx, caller.actor, caller.tenant_id, action, subject, data)


async def close_streams(tx: Transaction, tenant_id: UUID) -> None:
    await tx.add_events([PendingEvent(ACCESS_CHANGED, tenant_id)])
