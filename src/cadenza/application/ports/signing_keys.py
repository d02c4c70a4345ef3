from collections.abc import Sequence
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
