"""A tenant's signing keys: a new one signs at once, those before it until the overlap is over."""

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

from cadenza.application.ports.store import Store
from cadenza.application.recording import record
from cadenza.domain.access import Actor
from cadenza.domain.signing import SigningKey, retirement
from cadenza.domain.target import Secret


class SigningKeyRotation:
    def __init__(self, store: Store, new_id: Callable[[], UUID]) -> None:
        self._store = store
        self._new_id = new_id

    async def rotate(
        self, actor: Actor, tenant_id: UUID, secret: Secret, overlap: timedelta
    ) -> SigningKey:
        async with self._store.transaction() as tx:
            _, now = await tx.lock_tenant(tenant_id)
            ends_at = retirement(await tx.signing_key_ends(tenant_id), now, overlap)
            await tx.end_signing_keys(tenant_id, now, ends_at)
            key = SigningKey(self._new_id(), tenant_id, secret, now)
            await tx.insert_signing_key(key)
            data = {"overlap": str(overlap)}
            await record(tx, actor, tenant_id, "signing-key.create", key.id, data)
        return key
