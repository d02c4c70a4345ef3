"""Events for those who follow a tenant, written in the transaction of the change."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """It gets its instant and its position when the transaction is stored."""

    kind: str
    tenant_id: UUID
    job_id: UUID | None = None
    endpoint_id: UUID | None = None
    data: dict[str, Any] = field(default_factory=dict[str, Any])
