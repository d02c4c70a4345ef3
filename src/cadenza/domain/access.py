"""Who may do what: tenants, their users, and the keys that users call with."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple
from uuid import UUID

from cadenza.domain.people import EVERY_JOB, JobLimits, Role
from cadenza.domain.rule import Modes

PREFIX = "cdz_"
LONGEST_NOTICE = timedelta(days=7)
_SECRET_LENGTH = 43  # 32 bytes in base64 without padding
_TOKEN_LENGTH = len(PREFIX) + 32 + 1 + _SECRET_LENGTH


class Scope(StrEnum):
    """Each may do what the ones before it may."""

    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"


_RANKS = {scope: rank for rank, scope in enumerate(Scope)}
_rank = _RANKS.__getitem__


@dataclass(frozen=True, slots=True)
class Tenant:
    id: UUID
    name: str
    created_at: datetime
    retention_days: int | None = None
    modes: Modes = field(default_factory=Modes)
    planner_account_id: UUID | None = None  # pays for sessions where a job names no account


@dataclass(frozen=True, slots=True)
class User:
    id: UUID
    tenant_id: UUID
    name: str
    created_at: datetime
    role: Role | None = Role.OWNER  # in the whole tenant; None: only for single jobs
    job_roles: Mapping[UUID, Role] = field(default_factory=dict[UUID, Role])
    email: str | None = None
    identity: "Identity | None" = None  # at a provider, once they have signed in there

    def owns(self, job_id: UUID) -> bool:
        return self.role is Role.OWNER or self.job_roles.get(job_id) is Role.OWNER


class Identity(NamedTuple):
    """Who somebody is at an OpenID provider: its address, and what it calls them for ever."""

    issuer: str
    subject: str


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: UUID
    tenant_id: UUID
    user_id: UUID
    name: str
    scopes: tuple[Scope, ...]
    hash: bytes
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None
    job_ids: tuple[UUID, ...] | None = None  # it is only for these; None: for what its user may

    def is_of(self, token: str) -> bool:
        """Whether this is the key that the token was made for."""
        return compare_digest(self.hash, hash_of(token))

    @property
    def expiry_notice_at(self) -> datetime | None:
        """When its end is to be told of: a week before, or a tenth of its life."""
        if self.expires_at is None:
            return None
        return self.expires_at - min(LONGEST_NOTICE, (self.expires_at - self.created_at) / 10)

    def in_force(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)


class Actor(NamedTuple):
    """Who did something: as the audit log has it, and as everybody of the tenant may read it."""

    name: str
    public_name: str


# The word that audit logs have had from the start.
INSTALLATION_ADMIN = Actor("operator", "operator")


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a request is made."""

    tenant_id: UUID
    user_id: UUID
    key_id: UUID
    user_name: str
    scopes: tuple[Scope, ...]
    limits: JobLimits = EVERY_JOB

    def may(self, scope: Scope) -> bool:
        return allows(self.scopes, scope)

    def owns(self, job_id: UUID) -> bool:
        """Whether they look after the people and keys of that job. Who owns single jobs has no
        scope above operate: what is for the whole tenant's owners stays closed to them."""
        return self.may(Scope.ADMIN) or job_id in self.limits.owned

    @property
    def actor(self) -> Actor:
        user = f"user {self.user_name}"
        return Actor(f"{user} ({self.key_id})", user)  # a key's id is for admins


def caller_of(user: User, key: ApiKey | None = None) -> Caller:
    """What a user's role and the key allow, both; without a key a person asks by themselves."""
    if user.role is Role.OWNER and key is not None and key.job_ids is None:  # nearly always
        return Caller(key.tenant_id, user.id, key.id, user.name, key.scopes)
    limits = JobLimits.of(user.role, user.job_roles)
    highest = _highest_scope(user)
    if key is None:
        scopes = (highest,) if highest is not None else ()
        return Caller(user.tenant_id, user.id, user.id, user.name, scopes, limits)
    if Scope.ADMIN not in key.scopes:
        limits = limits._replace(owned=frozenset())
    if key.job_ids is not None:
        limits = limits.within(frozenset(key.job_ids))
        highest = min(highest, Scope.OPERATE, key=_rank) if highest is not None else None
    scopes = _capped(key.scopes, highest)
    return Caller(key.tenant_id, user.id, key.id, user.name, scopes, limits)


def highest_scope_of_keys(user: User) -> Scope | None:
    """With the scope admin a key of who owns single jobs looks after those."""
    roles = (user.role, *user.job_roles.values())
    return max((SCOPE_OF[role] for role in roles if role is not None), key=_rank, default=None)


SCOPE_OF = {Role.VIEWER: Scope.READ, Role.OPERATOR: Scope.OPERATE, Role.OWNER: Scope.ADMIN}


def _highest_scope(user: User) -> Scope | None:
    of_jobs = (min(SCOPE_OF[role], Scope.OPERATE, key=_rank) for role in user.job_roles.values())
    of_tenant = (SCOPE_OF[user.role],) if user.role is not None else ()
    return max((*of_tenant, *of_jobs), key=_rank, default=None)


def _capped(scopes: tuple[Scope, ...], highest: Scope | None) -> tuple[Scope, ...]:
    """As they are where the highest is not in the way."""
    if highest is None:
        return ()
    within = tuple(scope for scope in scopes if _rank(scope) <= _rank(highest))
    return within if within == scopes else tuple(dict.fromkeys((*within, highest)))


def allows(scopes: Collection[Scope], wanted: Scope) -> bool:
    return any(_RANKS[scope] >= _RANKS[wanted] for scope in scopes)


def token_of(key_id: UUID, secret: str) -> str:
    """What its owner sees once: the key's id, and the secret that proves it."""
    return f"{PREFIX}{key_id.hex}_{secret}"


def key_id_of(token: str) -> UUID | None:
    """The id of the key that a token is of; None for what cannot be a token."""
    if len(token) != _TOKEN_LENGTH or not token.isascii() or not token.startswith(PREFIX):
        return None
    try:
        return UUID(hex=token[len(PREFIX) : len(PREFIX) + 32])
    except ValueError:
        return None


def hash_of(token: str) -> bytes:
    return sha256(token.encode()).digest()
