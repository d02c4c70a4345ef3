from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from cadenza.domain.signing import SigningKey


class SigningKeys(Protocol):
    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        """The tenant's keys that have not ended, newest first; none where it does not sign.

        An old key that does not open is left out: its successor signs for it. SecretUnreadable
        where the newest does not open.
        """
        ...


class Signer(Protocol):
    async def headers_for(
        self, tenant_id: UUID, message_id: str, sent_at: datetime, body: bytes
    ) -> Mapping[str, str]:
        """The Standard Webhooks headers of one attempt; none where the tenant has no key."""
        ...
