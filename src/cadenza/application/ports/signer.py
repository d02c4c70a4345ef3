from collections.abc import Mapping
from datetime import datetime
from typing import Protocol
from uuid import UUID


class Signer(Protocol):
    async def headers_for(
        self, tenant_id: UUID, message_id: str, sent_at: datetime, body: bytes
    ) -> Mapping[str, str]:
        """The Standard Webhooks headers of one attempt; none where the tenant has no key."""
        ...
