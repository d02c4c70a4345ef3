"""Who did what: written in the same transaction as the change itself."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One entry of the audit log; `subject` is what it was done to."""

    actor: str
    action: str
    data: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """A create that may be told twice: the same key and content is the same create."""

    key: str
    fingerprint: bytes
