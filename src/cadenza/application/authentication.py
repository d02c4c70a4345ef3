"""Authentication by token; a key is cached for a second."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.accounts import KeyReads
from cadenza.domain.access import ApiKey, Caller, User, caller_of, key_id_of
from cadenza.domain.instants import iso

KNOWN_SECONDS = 1.0  # that a key which another process revokes may still open something
MOST_KNOWN = 10_000
USE_NOTED = timedelta(minutes=1)  # not a write with every request


@dataclass(frozen=True, slots=True)
class _Known:
    key: ApiKey
    user: User
    at: datetime  # by the store
    asked: float  # by our own clock


class Authentication:
    """Reads each key at most once a second, since one dashboard page sends many requests."""

    def __init__(self, keys: KeyReads, monotonic: Callable[[], float]) -> None:
        self._keys = keys
        self._monotonic = monotonic
        self._known: dict[UUID, _Known] = {}
        self._generation = 0

    async def caller_of(self, token: str) -> Caller | None:
        """None where the key is unknown, revoked or expired."""
        match = await self._key_of(token)
        if match is None:
            return None
        key, user, now = match
        if not key.in_force(now):
            return None
        if key.last_used_at is None or now - key.last_used_at >= USE_NOTED:
            await self._keys.note_use(key.id)
            self._known.pop(key.id, None)
        return caller_of(user, key)

    async def why_not(self, token: str) -> str | None:
        """Why a key no longer works, for its owner only; None for any other token."""
        match = await self._key_of(token)
        if match is None:
            return None
        key = match[0]
        if key.revoked_at is not None:
            return f"This key was revoked at {iso(key.revoked_at)}; ask an owner for a new one"
        if key.expires_at is None:
            return None
        return f"This key expired at {iso(key.expires_at)}; ask an owner for a new one"

    async def _key_of(self, token: str) -> tuple[ApiKey, User, datetime] | None:
        key_id = key_id_of(token)
        match = await self.find_key(key_id) if key_id is not None else None
        return match if match is not None and match[0].is_of(token) else None

    async def find_key(self, key_id: UUID) -> tuple[ApiKey, User, datetime] | None:
        known = self._known.get(key_id)
        if known is not None and (passed := self._monotonic() - known.asked) < KNOWN_SECONDS:
            return known.key, known.user, known.at + timedelta(seconds=passed)
        asked, generation = self._monotonic(), self._generation
        match = await self._keys.find_key(key_id)
        if match is not None and generation == self._generation:  # else it may be out of date
            if len(self._known) >= MOST_KNOWN:
                self._known.clear()
            self._known[key_id] = _Known(*match, asked)
        return match

    async def person(self, user_id: UUID) -> Caller | None:
        """The caller of a browser session that has no key."""
        match = await self._keys.find_user(user_id)
        return None if match is None else caller_of(match[0])

    async def is_open(self, caller: Caller) -> bool:
        """Whether an open stream's caller still has the rights with which it was opened."""
        if caller.key_id == caller.user_id:
            return await self.person(caller.user_id) == caller
        match = await self.find_key(caller.key_id)
        if match is None or not match[0].in_force(match[2]):
            return False
        return caller_of(match[1], match[0]) == caller

    def forget(self) -> None:
        """Drop the cache, so that a key revoked by this process stops working at once."""
        self._known.clear()
        self._generation += 1
