"""What planners suggested: kept in the calls of their sessions, and accepted there, once."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.recording import record
from cadenza.adapters.postgres.rows import Row, to_text
from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.audit import AuditEntry
from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.instants import from_iso, iso
from cadenza.domain.suggestion import Suggestion

_LONGEST = timedelta(days=8)  # what is accepted late acts late


class PostgresSuggestions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_suggestions(self, tenant_id: UUID, limit: int) -> Sequence[Suggestion]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("open_suggestions"), tenant_id, limit)
        return [_suggestion(row) for row in rows]

    @asynccontextmanager
    async def accepting(
        self, tenant_id: UUID, session_id: UUID, call: int, entry: AuditEntry
    ) -> AsyncGenerator[Suggestion]:
        async with self._database.together() as connection:
            row = await connection.fetchrow(query("lock_suggestion"), tenant_id, session_id, call)
            if row is None:
                raise NotFound(f"no session {session_id}")
            suggestion = _still_open(row)
            until_at = row["now"] + _LONGEST
            await connection.execute(
                query("mark_suggestion"),
                tenant_id,
                session_id,
                call,
                to_text(entry.actor),
                until_at,
            )
            await record(connection, tenant_id, entry, session_id)
            yield suggestion

    async def note_refusal(self, tenant_id: UUID, session_id: UUID, entry: AuditEntry) -> None:
        async with self._database.transaction() as connection:
            await record(connection, tenant_id, entry, session_id)

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        async with self._database.connection() as connection:
            known = await connection.fetchval(query("has_session"), tenant_id, session_id)
            if known is None:
                raise NotFound(f"no session {session_id}")
            rows = await connection.fetch(query("runs_of_session"), tenant_id, session_id, limit)
        return [LedTo(**dict(row)) for row in rows]


def _still_open(row: Row) -> Suggestion:
    """Refused where somebody was faster, or it took too long."""
    told: dict[str, Any] = json.loads(row["told"] or "{}")
    if not told.get("suggested"):
        raise NotFound(f"session {row['session_id']} suggested nothing in call {row['call']}")
    if told.get("accepted_by") is not None:
        raise Refused(f"it was accepted by {told['accepted_by']}")
    suggestion = _suggestion(row)
    if suggestion.open_until <= row["now"]:
        raise Refused(f"it could be accepted until {iso(suggestion.open_until)}")
    return suggestion


def _suggestion(row: Row) -> Suggestion:
    told = json.loads(row["told"])
    return Suggestion(
        row["session_id"],
        row["call"],
        row["endpoint_id"],
        row["endpoint_name"],
        row["brain"],
        told["tool"],
        told["arguments"],
        told["result"],
        row["reasoning"],
        row["started_at"],
        from_iso(told["open_until"]),
    )
