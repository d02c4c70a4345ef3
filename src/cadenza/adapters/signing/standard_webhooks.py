"""Standard Webhooks: `webhook-id`, `webhook-timestamp`, `webhook-signature`.

Every key of the tenant that signs now adds its signature, with a space between them; a receiver
accepts the message if it knows one of the keys.
"""

import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

from standardwebhooks import Webhook

from cadenza.application.ports.signing_keys import SigningKeys
from cadenza.domain.signing import SECRET_BYTES, keys_that_sign, secret_from
from cadenza.domain.target import Secret


def new_signing_secret() -> Secret:
    return secret_from(secrets.token_bytes(SECRET_BYTES))


class StandardWebhooksSigner:
    def __init__(self, keys: SigningKeys) -> None:
        self._keys = keys

    async def headers_for(
        self, tenant_id: UUID, message_id: str, sent_at: datetime, body: bytes
    ) -> Mapping[str, str]:
        """The id may hold a full stop, which also separates what is signed. That is safe: the rest
        of a slot's instant is never a valid timestamp."""
        keys = keys_that_sign(await self._keys.keys_of(tenant_id), sent_at)
        if not keys:
            return {}
        at, text = sent_at.astimezone(UTC), body.decode()  # the library takes any zone for UTC
        signatures = [Webhook(key.secret.value).sign(message_id, at, text) for key in keys]
        return {
            "webhook-id": message_id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": " ".join(signatures),
        }
