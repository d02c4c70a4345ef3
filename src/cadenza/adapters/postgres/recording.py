"""What goes with a change into its transaction: the entry, and whether a create was told before."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import to_json, to_text
from cadenza.domain.audit import AuditEntry, IdempotencyRecord
from cadenza.domain.errors import AlreadyThere, InvalidInput

# What a unique index says when a name is taken, in words.
_TAKEN = {
    "one_tenant_has_a_name": "a tenant of that name exists",
    "one_user_has_a_name": "a user of that name exists",
    "one_job_has_a_name": "a job of that name exists",
    "one_endpoint_has_a_name": "the job has an endpoint of that name",
}


# Deeds that whoever follows a tenant's events is told of. Keys and users are the admins' matter.
_TOLD = ("job.", "endpoint.", "manifest.")


async def record(
    connection: Connection, tenant_id: UUID, entry: AuditEntry, subject: object
) -> None:
    """Into the audit log, and where it concerns what runs, among the events."""
    kind, _, _ = entry.action.partition(".")
    who, bracket, _ = entry.actor.rpartition(" (")  # a key's id is for admins
    await connection.execute(
        query("add_audit"),
        tenant_id,
        to_text(entry.actor),
        entry.action,
        to_text(str(subject)),
        to_json(entry.data),
        entry.action.startswith(_TOLD),
        subject if kind == "endpoint" else None,
        subject if kind == "job" else None,
        to_text(who if bracket else entry.actor),
    )


async def created_before(
    connection: Connection, tenant_id: UUID, once: IdempotencyRecord | None, new_id: UUID
) -> UUID | None:
    """What the same create made when it was first told; None where this is the first time.

    Two at once: the second waits here until the first has committed.
    """
    if once is None:
        return None
    taken = await connection.fetchval(
        query("take_idempotency_key"), tenant_id, once.key, once.fingerprint, new_id
    )
    if taken is not None:
        return None
    row = await connection.fetchrow(query("created_before"), tenant_id, once.key)
    assert row is not None
    if row["fingerprint"] != once.fingerprint:
        fix = "it was used for another request; take a new key for a new one"
        raise InvalidInput("Idempotency-Key", once.key, fix)
    return row["created_id"]


@asynccontextmanager
async def translated_unique_violations(name: str) -> AsyncGenerator[None]:
    """A name that is taken is refused in words."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        taken = _TAKEN.get(error.constraint_name or "")
        if taken is None:
            raise
        raise AlreadyThere("name", name, f"{taken}; choose another") from error
