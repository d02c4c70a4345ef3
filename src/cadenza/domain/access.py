"""Who may do what: tenants, their users, and the keys that users call with."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from hmac import compare_digest
from typing import NamedTuple
from uuid import UUID

from cadenza.domain.rule import Modes

PREFIX = "cdz_"
_SECRET_LENGTH = 43  # 32 bytes in base64 without padding
_TOKEN_LENGTH = len(PREFIX) + 32 + 1 + _SECRET_LENGTH


class Scope(StrEnum):
    """Each may do what the ones before it may."""

    READ = "read"
    OPERATE = "operate"
    ADMIN = "admin"


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

    def opens_with(self, token: str, now: datetime) -> bool:
        """Whether this is the key that the token was made for, and it is still in force."""
        return compare_digest(self.hash, hash_of(token)) and self.in_force(now)

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

    def may(self, scope: Scope) -> bool:
        return allows(self.scopes, scope)

    @property
    def actor(self) -> Actor:
        user = f"user {self.user_name}"
        return Actor(f"{user} ({self.key_id})", user)  # a key's id is for admins


def allows(scopes: Collection[Scope], wanted: Scope) -> bool:
    order = list(Scope)
    return any(order.index(scope) >= order.index(wanted) for scope in scopes)


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
