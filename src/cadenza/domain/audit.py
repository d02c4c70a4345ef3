"""What is written with a change, in its transaction: who made it, and what followers hear of it."""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class AuditEntry:
    tenant_id: UUID
    actor: str
    action: str
    subject: str  # what it was done to: an id, or a word
    data: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """A create that may be sent twice: the same key and content is the same create."""

    key: str
    fingerprint: bytes


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """For followers of a tenant; its instant and position come when the transaction is stored."""

    kind: str
    tenant_id: UUID
    job_id: UUID | None = None
    endpoint_id: UUID | None = None
    data: dict[str, Any] = field(default_factory=dict[str, Any])
