"""What is recorded with a change: its audit entry, its event, and its idempotency record."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from cadenza.application.ports.store import Records
from cadenza.domain.access import Actor
from cadenza.domain.audit import AuditEntry, IdempotencyRecord, PendingEvent
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import InvalidInput, Outdated

# Followers of a tenant's events hear of these. Keys and users are the admins' matter.
_PUBLIC = ("job.", "endpoint.", "manifest.")


Subject = Job | Endpoint | UUID | str


async def record(
    tx: Records,
    actor: Actor,
    tenant_id: UUID,
    action: str,
    subject: Subject,
    data: dict[str, Any] | None = None,
) -> None:
    """Add an audit entry, and an event where the change concerns what runs."""
    data = data or {}
    job_id, endpoint_id, name = None, None, str(subject)
    if isinstance(subject, Job):
        job_id, name = subject.id, str(subject.id)
    elif isinstance(subject, Endpoint):
        job_id, endpoint_id, name = subject.job_id, subject.id, str(subject.id)
    await tx.add_audit(AuditEntry(tenant_id, actor.name, action, name, data))
    if action.startswith(_PUBLIC):
        public = {**data, "by": actor.public_name}
        await tx.add_events([PendingEvent(action, tenant_id, job_id, endpoint_id, public)])


async def record_all(
    tx: Records,
    actor: Actor,
    tenant_id: UUID,
    action: str,
    endpoints: Sequence[Endpoint],
    data: dict[str, Any],
) -> None:
    """The same action on each of these subjects, in two statements."""
    await tx.add_audits(
        [
            AuditEntry(tenant_id, actor.name, action, str(endpoint.id), data)
            for endpoint in endpoints
        ]
    )
    public = {**data, "by": actor.public_name}
    await tx.add_events(
        [
            PendingEvent(action, tenant_id, endpoint.job_id, endpoint.id, public)
            for endpoint in endpoints
        ]
    )


async def created_before(
    tx: Records, tenant_id: UUID, sent: IdempotencyRecord | None, new_id: UUID
) -> UUID | None:
    """The id that the same create request made the first time; None where this is the first
    time."""
    if sent is None:
        return None
    taken = await tx.take_idempotency_key(tenant_id, sent, new_id)
    if taken is None:
        return None
    fingerprint, created_id = taken
    if fingerprint != sent.fingerprint:
        fix = "it was used for another request; take a new key for a new one"
        raise InvalidInput("Idempotency-Key", sent.key, fix)
    return created_id


def check_revision(revision: int, expected: frozenset[int] | None) -> None:
    """Raises Outdated where the caller expected another revision; None: any revision."""
    if expected is not None and revision not in expected:
        raise Outdated(
            f"it has changed: its revision is {revision}, not what you gave; read it again"
        )
