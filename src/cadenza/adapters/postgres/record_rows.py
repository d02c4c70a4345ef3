"""What goes along with a change: audit entries, events, idempotency keys, notifications."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.storable import to_json, to_text
from cadenza.application.ports.store import Channel
from cadenza.domain.audit import AuditEntry, IdempotencyRecord, PendingEvent
from cadenza.domain.errors import AlreadyThere, NotFound

CHANNELS = {channel: f"cadenza_{channel}" for channel in Channel}
# What a unique index says when a name is taken, in words.
_TAKEN = {
    "one_tenant_has_a_name": "a tenant of that name exists",
    "one_user_has_a_name": "a user of that name exists",
    "one_user_has_an_email": "somebody has that address",
    "one_user_has_an_identity": "somebody has signed in as that identity",
    "one_job_has_a_name": "a job of that name exists",
    "one_account_has_a_name": "an account of that name exists",
    "one_endpoint_has_a_name": "the job has an endpoint of that name",
    "one_schedule_has_a_name": "a schedule of that name exists",
    "one_channel_has_a_name": "a channel of that name exists",
    "one_webhook_has_a_name": "a webhook of that name exists",
}


class PostgresRecordRows:
    connection: Connection

    async def time(self) -> datetime:
        return await self.connection.fetchval(query("database_time"))

    async def add_audit(self, entry: AuditEntry) -> None:
        await self.connection.execute(
            query("add_audit"),
            entry.tenant_id,
            to_text(entry.actor),
            entry.action,
            to_text(entry.subject),
            to_json(entry.data),
        )

    async def add_audits(self, entries: Sequence[AuditEntry]) -> None:
        rows = [
            (
                entry.tenant_id,
                to_text(entry.actor),
                entry.action,
                to_text(entry.subject),
                to_json(entry.data),
            )
            for entry in entries
        ]
        columns = zip(*rows, strict=True)
        await self.connection.execute(query("add_audits"), *map(list, columns))

    async def add_events(self, events: Sequence[PendingEvent]) -> None:
        await self.connection.execute(
            query("add_events"),
            [event.kind for event in events],
            [event.tenant_id for event in events],
            [event.job_id for event in events],
            [event.endpoint_id for event in events],
            [to_json(event.data) for event in events],
        )

    async def notify(self, channel: Channel) -> None:
        """Delivered with the commit, so that whoever wakes finds what it is woken for."""
        await self.connection.execute(query("notify"), CHANNELS[channel])

    async def take_idempotency_key(
        self, tenant_id: UUID, record: IdempotencyRecord, created_id: UUID
    ) -> tuple[bytes, UUID] | None:
        taken = await self.connection.fetchval(
            query("take_idempotency_key"), tenant_id, record.key, record.fingerprint, created_id
        )
        if taken is not None:
            return None
        row = await self.connection.fetchrow(query("get_idempotency_key"), tenant_id, record.key)
        assert row is not None
        return row["fingerprint"], row["created_id"]


@asynccontextmanager
async def translated_unique_violations(*names: str) -> AsyncGenerator[None]:
    """A name that is taken is refused in words."""
    try:
        yield
    except asyncpg.UniqueViolationError as error:
        taken = _TAKEN.get(error.constraint_name or "")
        if taken is None:
            raise
        name = names[0] if len(names) == 1 else _named_in(error)
        raise AlreadyThere("name", name, f"{taken}; choose another") from error


def _named_in(error: asyncpg.UniqueViolationError) -> str:
    """Of several: `Key (tenant_id, name)=(…, shop) already exists.`"""
    return (error.detail or "").rpartition(", ")[2].partition(")")[0]


@asynccontextmanager
async def present(otherwise: str) -> AsyncGenerator[None]:
    """What a row belongs to must be there."""
    try:
        yield
    except asyncpg.ForeignKeyViolationError as error:
        raise NotFound(otherwise) from error
