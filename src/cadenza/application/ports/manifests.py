"""All that a tenant has declared, as one piece."""

from collections.abc import Callable, Sequence
from typing import Protocol
from uuid import UUID

from cadenza.domain.audit import AuditEntry
from cadenza.domain.definition import JobDefinition

# From what is there, with its secrets, to what shall be there; what is left out is archived.
Rewrite = Callable[[Sequence[JobDefinition]], Sequence[JobDefinition]]


class Manifests(Protocol):
    async def all_jobs(self, tenant_id: UUID) -> Sequence[JobDefinition]:
        """Everything that is not archived, by name; a secret that does not open is only named."""
        ...

    async def rewrite(self, tenant_id: UUID, rewrite: Rewrite, entry: AuditEntry) -> None:
        """In one transaction; one at a time for a tenant."""
        ...
