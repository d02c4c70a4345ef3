"""Signing in to the dashboard: a browser that may do what a key or a person may, and ends with
it."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from hmac import compare_digest
from uuid import UUID

LASTS = timedelta(days=30)
IDLE = timedelta(days=7)  # without a page for so long, it has ended
LINK_LASTS = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class SignIn:
    """The browser has the token in a cookie; here is only its hash."""

    hash: bytes
    tenant_id: UUID
    user_id: UUID
    key_id: UUID | None  # None: signed in at a provider, or by an invitation
    created_at: datetime
    expires_at: datetime
    last_seen_at: datetime

    def in_force(self, now: datetime) -> bool:
        return now < self.expires_at and now - self.last_seen_at < IDLE


@dataclass(frozen=True, slots=True)
class SignInLink:
    """Signs its owner in once, within a minute."""

    hash: bytes
    tenant_id: UUID
    user_id: UUID
    key_id: UUID
    expires_at: datetime


def form_token_of(token: str) -> str:
    """What a form of a signed-in browser carries. Another site can make a browser send the cookie,
    but cannot read it, nor compute this from anything that it can read."""
    return sha256(f"form {token}".encode()).hexdigest()


def is_form_token(sent: str, token: str) -> bool:
    return compare_digest(sent.encode(), form_token_of(token).encode())
