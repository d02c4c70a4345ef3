from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from cadenza.domain.audit import AuditEntry
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import Secret


class SigningKeys(Protocol):
    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        """The tenant's keys that have not ended, newest first; none where it does not sign."""
        ...


class SigningKeyStore(SigningKeys, Protocol):
    async def rotate(
        self, tenant_id: UUID, secret: Secret, overlap: timedelta, entry: AuditEntry | None = None
    ) -> SigningKey:
        """Add a key that signs at once, and let those before it sign until the overlap is over."""
        ...
