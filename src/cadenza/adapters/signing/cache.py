"""Signing keys that are read once in a while, not for every run."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from uuid import UUID

from cadenza.application.ports.signing_keys import SigningKeys
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.signing import SigningKey

GOOD_FOR_SECONDS = 30.0
MOST_TENANTS = 10_000


@dataclass(frozen=True, slots=True)
class _Answer:
    keys: Sequence[SigningKey]
    asked: float


class CachedSigningKeys:
    """A new key is used within half a minute; a key's own end counts at once."""

    def __init__(self, keys: SigningKeys, clock: Callable[[], float] = monotonic) -> None:
        self._keys = keys
        self._clock = clock
        self._answers: dict[UUID, _Answer] = {}
        self._asking: dict[UUID, asyncio.Task[Sequence[SigningKey]]] = {}

    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        answer = self._answers.get(tenant_id)
        if answer is not None and self._clock() - answer.asked < GOOD_FOR_SECONDS:
            return answer.keys
        try:
            return await self._asked(tenant_id)
        except StoreUnavailable:
            if answer is None:
                raise
            return answer.keys  # perhaps outdated, but each has its own end

    async def _asked(self, tenant_id: UUID) -> Sequence[SigningKey]:
        """Concurrent callers share one request."""
        asking = self._asking.get(tenant_id)
        if asking is None:
            asking = self._asking[tenant_id] = asyncio.create_task(self._ask(tenant_id))
            asking.add_done_callback(lambda task: self._answered(tenant_id, task))
        return await asyncio.shield(asking)  # a cancelled caller must not end it for the others

    async def _ask(self, tenant_id: UUID) -> Sequence[SigningKey]:
        asked = self._clock()
        keys = await self._keys.keys_of(tenant_id)
        if len(self._answers) >= MOST_TENANTS:
            self._answers.clear()
        self._answers[tenant_id] = _Answer(keys, asked)
        return keys

    def _answered(self, tenant_id: UUID, task: asyncio.Task[Sequence[SigningKey]]) -> None:
        del self._asking[tenant_id]
        if not task.cancelled():
            task.exception()  # retrieved, so that asyncio does not log it where nobody waits
