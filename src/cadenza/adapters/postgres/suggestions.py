"""What planners suggested: kept in the calls of their sessions."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.planner_rows import read_suggestion
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.sessions import suggestion_of
from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.errors import NotFound
from cadenza.domain.suggestion import Suggestion


class PostgresSuggestions:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def open_suggestions(self, tenant_id: UUID, limit: int) -> Sequence[Suggestion]:
        rows = await self._database.fetch(query("open_suggestions"), tenant_id, limit)
        suggestions = (suggestion_of(row) for row in rows)
        return [suggestion for suggestion in suggestions if suggestion is not None]

    async def get_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        async with self._database.connection() as connection:
            return await read_suggestion(connection, "get_suggestion", tenant_id, session_id, call)

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        async with self._database.connection() as connection:
            known = await connection.fetchval(query("has_session"), tenant_id, session_id)
            if known is None:
                raise NotFound(f"no session {session_id}")
            rows = await connection.fetch(query("runs_of_session"), tenant_id, session_id, limit)
        return [LedTo(**dict(row)) for row in rows]
