"""What the present task works on, for log lines."""

from contextvars import ContextVar
from dataclasses import dataclass
from uuid import UUID

from cadenza.application.ports.claims import Leased

present_claim: ContextVar[Leased | None] = ContextVar("cadenza_claim", default=None)


@dataclass(slots=True)
class PresentRequest:
    """A request to the API; its tenant becomes known once it is authenticated."""

    request_id: str
    tenant_id: UUID | None = None


present_request: ContextVar[PresentRequest | None] = ContextVar("cadenza_request", default=None)
