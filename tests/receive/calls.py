"""Calls as a scheduler signs them."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from cadenza.adapters.signing.standard_webhooks import (
    StandardWebhooksSigner,
    new_signing_secret,
)
from cadenza.adapters.system.clock import wall_clock
from cadenza.domain.instants import iso
from cadenza.domain.signing import SigningKey
from cadenza.receive import Receiver
from tests.factories import NOON

SECRET = new_signing_secret()
BODY = b'{"depth": 3}'


class Keys:
    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        return [SigningKey(uuid4(), tenant_id, SECRET, NOON - timedelta(days=900))]


async def signed(
    body: bytes = BODY,
    *,
    key: str | None = None,
    sent_at: datetime | None = None,
    attempt: int = 1,
) -> dict[str, str]:
    key = key or f"{uuid4()}:{iso(NOON)}"
    signer = StandardWebhooksSigner(Keys())
    headers = await signer.headers_for(uuid4(), key, sent_at or wall_clock(), body)
    return {**headers, "Cadenza-Attempt": str(attempt), "Cadenza-Slot": iso(NOON)}


def receiver(**options: int) -> Receiver:
    return Receiver(SECRET.value, **options)
