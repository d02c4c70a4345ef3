"""The people of one job: who has a role for it, whom its owner invites, and keys for it alone.

For owners of that job, and of the tenant. Nothing here shows or changes what somebody has
elsewhere. It works on the whole store, so every use case begins with a look at who asks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from cadenza.application.accounts import Keys, NewKey
from cadenza.application.job_limits.guard import Guard
from cadenza.application.people import (
    NOT_YOURS,
    Invitations,
    check_may_give,
    close_streams,
)
from cadenza.application.ports.accounts import KeyReads, TenantReads
from cadenza.application.ports.catalogue import JobReads
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.people import PeopleReads
from cadenza.application.recording import record
from cadenza.domain.access import ApiKey, Caller, Scope, User
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.errors import NotAllowed, NotFound, Refused
from cadenza.domain.people import INVITATION_LASTS, MOST_JOBS, Access, Invitation, Role

MOST_INVITATIONS = 100  # for one job that wait: the tenant has room for those of others
LOOKED_AT = 1000  # invitations of the tenant, those that have ended among them


class JobPerson(NamedTuple):
    id: UUID
    name: str
    role: Role  # for this job


@dataclass(frozen=True, slots=True)
class JobPeople:
    jobs: JobReads
    tenants: TenantReads
    people: PeopleReads
    key_reads: KeyReads
    invitations: Invitations
    keys: Keys
    clock: Clock

    # --- Roles ----------------------------------------------------------------------------

    async def list_people(self, caller: Caller, job_id: UUID) -> Sequence[JobPerson]:
        """Who has a role for this very job; by name."""
        await self._check(caller, job_id)
        users = await self.tenants.list_users(caller.tenant_id)
        return [_person(user, job_id) for user in users if job_id in user.job_roles]

    async def give_role(self, caller: Caller, job_id: UUID, user_id: UUID, role: Role) -> JobPerson:
        """To anybody of the tenant, in place of the one for this job that they had."""
        user = await self._change(caller, job_id, user_id, role)
        return JobPerson(user.id, user.name, role)

    async def take_role(self, caller: Caller, job_id: UUID, user_id: UUID) -> JobPerson:
        """What they have elsewhere stays; gives what they had here."""
        return _person(await self._change(caller, job_id, user_id, None), job_id)

    async def _change(self, caller: Caller, job_id: UUID, user_id: UUID, role: Role | None) -> User:
        """As they were before."""
        await self._check(caller, job_id)
        async with self.invitations.store.transaction() as tx:
            await tx.lock_tenant(caller.tenant_id)
            await check_may_give(tx, caller, Access(None, {job_id: Role.OWNER}))
            user = await tx.get_user(caller.tenant_id, user_id)
            before = user.job_roles.get(job_id)
            await tx.save_user(replace(user, job_roles=_with(user, job_id, role)))
            data = {"name": user.name, "job_id": str(job_id), "role": role, "before": before}
            await record(tx, caller.actor, caller.tenant_id, "person.role", user_id, data)
            await close_streams(tx, caller.tenant_id)
        self.keys.forget_keys()
        return user

    # --- Invitations ----------------------------------------------------------------------

    async def list_invitations(self, caller: Caller, job_id: UUID) -> Sequence[Invitation]:
        """Those for this job and nothing else, newest first."""
        await self._check(caller, job_id)
        rows = await self.people.list_invitations(caller.tenant_id, LOOKED_AT)
        return [row for row in rows if row.access.is_for(job_id)]

    async def invite(
        self,
        caller: Caller,
        job_id: UUID,
        email: str,
        role: Role,
        lasts: timedelta = INVITATION_LASTS,
    ) -> tuple[Invitation, str]:
        """And the token of its link, which is never seen again."""
        now, rows = self.clock.now(), await self.list_invitations(caller, job_id)
        if sum(row.is_open(now) for row in rows) >= MOST_INVITATIONS:
            raise Refused(f"{MOST_INVITATIONS} invitations to this job wait already; revoke some")
        return await self.invitations.create(caller, email, Access(None, {job_id: role}), lasts)

    async def revoke_invitation(
        self, caller: Caller, job_id: UUID, invitation_id: UUID
    ) -> Invitation:
        await self._check(caller, job_id)
        return await self.invitations.revoke(caller, invitation_id, job_id)

    # --- Keys -----------------------------------------------------------------------------

    async def list_keys(self, caller: Caller, job_id: UUID) -> Sequence[ApiKey]:
        """Those for this job and nothing else, whoever they act for."""
        await self._check(caller, job_id)
        keys = await self.key_reads.list_keys(caller.tenant_id)
        return [key for key in keys if key.job_ids == (job_id,)]

    async def create_key(
        self,
        caller: Caller,
        job_id: UUID,
        name: str,
        scopes: Sequence[Scope],
        expires_at: datetime | None = None,
        sent: IdempotencyRecord | None = None,
    ) -> tuple[ApiKey, str]:
        """It acts for who makes it: nobody is given a key that speaks for somebody else."""
        await self._check(caller, job_id)
        wanted = NewKey(name, scopes, caller.user_id, expires_at, (job_id,))
        return await self.keys.create(caller, wanted, sent)

    async def revoke_key(self, caller: Caller, job_id: UUID, key_id: UUID) -> ApiKey:
        if key_id not in {key.id for key in await self.list_keys(caller, job_id)}:
            raise NotFound(f"no key {key_id}")
        return await self.keys.revoke(caller, key_id)

    async def _check(self, caller: Caller, job_id: UUID) -> None:
        """A job that they may not see is not there for them."""
        Guard(caller.limits).check_readable(job_id)
        await self.jobs.get_job(caller.tenant_id, job_id)
        if not caller.owns(job_id):
            raise NotAllowed(NOT_YOURS)


def _person(user: User, job_id: UUID) -> JobPerson:
    return JobPerson(user.id, user.name, user.job_roles[job_id])


def _with(user: User, job_id: UUID, role: Role | None) -> Mapping[UUID, Role]:
    others = {own: known for own, known in user.job_roles.items() if own != job_id}
    if role is None:
        if job_id not in user.job_roles:
            raise NotFound(f"{user.name} has no role for this job")
        return others
    if len(others) >= MOST_JOBS:
        raise Refused(f"{user.name} cannot be given more roles; ask an owner of the tenant")
    return {**others, job_id: role}
