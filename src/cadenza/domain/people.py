"""Roles of people, in a tenant and for single jobs, and the invitations that bring them in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple, Self
from uuid import UUID

from cadenza.domain.errors import InvalidInput

MOST_JOBS = 200  # that one person or key is limited to
LONGEST_EMAIL = 254
INVITATION_LASTS = timedelta(days=7)
LONGEST_INVITATION = timedelta(days=30)
MOST_INVITATIONS = 1000  # of a tenant that wait
_EMAIL = re.compile(
    r"[^/@\s<>\"',;:\\()\[\]\x00-\x1f\x7f]{1,64}@[^@\s<>\"',;:\\()\[\]/\x00-\x1f\x7f]{1,189}"
)


class Role(StrEnum):
    """Each may do what the ones before it may."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    OWNER = "owner"


def _higher(role: Role | None, other: Role | None) -> Role | None:
    return max(role, other, key=lambda own: -1 if own is None else list(Role).index(own))


Jobs = frozenset[UUID] | None  # None: every job of the tenant, and what belongs to no job


class JobLimits(NamedTuple):
    """Which jobs somebody may look at, and which they may change; and of which single jobs they
    are the owner, who looks after the people and keys of that job."""

    readable: Jobs = None
    operable: Jobs = None
    owned: frozenset[UUID] = frozenset()

    @classmethod
    def of(cls, role: Role | None, job_roles: Mapping[UUID, Role]) -> Self:
        operable = frozenset(job for job, own in job_roles.items() if own is not Role.VIEWER)
        owned = frozenset(job for job, own in job_roles.items() if own is Role.OWNER)
        if role is None:
            return cls(frozenset(job_roles), operable, owned)
        # A viewer of everything may be more than that for a few jobs.
        return cls(None, operable if role is Role.VIEWER and operable else None, owned)

    @property
    def is_none(self) -> bool:
        return self.readable is None and self.operable is None

    def within(self, job_ids: frozenset[UUID]) -> Self:
        readable, operable = _both(self.readable, job_ids), _both(self.operable, job_ids)
        return type(self)(readable, operable, self.owned & job_ids)


def _both(jobs: Jobs, others: frozenset[UUID]) -> frozenset[UUID]:
    return others if jobs is None else jobs & others


EVERY_JOB = JobLimits()


@dataclass(frozen=True, slots=True)
class Access:
    """What a person is given: a role in the whole tenant, roles for single jobs, or both."""

    role: Role | None = None
    job_roles: Mapping[UUID, Role] = field(default_factory=dict[UUID, Role])

    def check(self) -> None:
        if self.role is None and not self.job_roles:
            fix = "viewer, operator or owner; or roles for single jobs"
            raise InvalidInput("role", None, fix)
        if len(self.job_roles) > MOST_JOBS:
            fix = f"at most {MOST_JOBS} jobs; give a role in the whole tenant instead"
            raise InvalidInput("jobs", len(self.job_roles), fix)

    def together_with(self, other: Self) -> Self:
        """What both give; never less than either."""
        jobs = dict(self.job_roles)
        for job_id, role in other.job_roles.items():
            jobs[job_id] = _higher(role, jobs.get(job_id)) or role
        return type(self)(_higher(self.role, other.role), jobs)

    def is_for(self, job_id: UUID) -> bool:
        """For that job and nothing else."""
        return self.role is None and set(self.job_roles) == {job_id}

    @property
    def data(self) -> dict[str, object]:
        """For the audit log."""
        jobs = {str(job_id): str(role) for job_id, role in self.job_roles.items()}
        return {"role": self.role, "jobs": jobs}


@dataclass(frozen=True, slots=True)
class Invitation:
    id: UUID
    tenant_id: UUID
    email: str
    access: Access
    hash: bytes  # of the token in its link
    invited_by: str
    created_at: datetime
    expires_at: datetime
    accepted_at: datetime | None = None
    revoked_at: datetime | None = None

    def is_open(self, now: datetime) -> bool:
        return self.accepted_at is None and self.revoked_at is None and self.expires_at > now


def normal_email(text: str) -> str:
    """As addresses are compared and stored; InvalidInput for what cannot be one."""
    email = text.strip()
    if len(email) > LONGEST_EMAIL or not _EMAIL.fullmatch(email) or not email.isprintable():
        raise InvalidInput("email", text[:LONGEST_EMAIL], "an address like ada@example.org")
    return email.lower()
