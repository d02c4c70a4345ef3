"""What the present task works on: for log lines, and so that tenants share what is scarce."""

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


def present_tenant() -> UUID | None:
    """Whose request to the API this is; None outside of one, and before it is authenticated."""
    request = present_request.get()
    return None if request is None else request.tenant_id


def note_tenant(tenant_id: UUID) -> None:
    """It is known now whose request this is."""
    request = present_request.get()
    if request is not None:
        request.tenant_id = tenant_id
