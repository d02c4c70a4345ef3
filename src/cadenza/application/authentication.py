"""Whose request it is: a token is looked up, and its key is remembered for a second."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.accounts import KeyReads
from cadenza.domain.access import ApiKey, Caller, User, key_id_of

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
    """A page of a dashboard asks for many things at once: each key is read once a second."""

    def __init__(self, keys: KeyReads, monotonic: Callable[[], float]) -> None:
        self._keys = keys
        self._monotonic = monotonic
        self._known: dict[UUID, _Known] = {}
        self._generation = 0

    async def caller_of(self, token: str) -> Caller | None:
        """None where the key is unknown, revoked or expired."""
        key_id = key_id_of(token)
        match = await self.find_key(key_id) if key_id is not None else None
        if match is None:
            return None
        key, user, now = match
        if not key.opens_with(token, now):
            return None
        if key.last_used_at is None or now - key.last_used_at >= USE_NOTED:
            await self._keys.note_use(key.id)
            self._known.pop(key.id, None)
        return Caller(key.tenant_id, user.id, key.id, user.name, key.scopes)

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

    async def is_open(self, key_id: UUID) -> bool:
        """Whether a key that has opened something is still in force."""
        match = await self.find_key(key_id)
        return match is not None and match[0].in_force(match[2])

    def forget(self) -> None:
        """Keys have changed: what this process revokes opens nothing from now on."""
        self._known.clear()
        self._generation += 1
