"""What planners keep, in a transaction: analysis states, sessions, suggestions, quotas."""

from collections.abc import Sequence
from dataclasses import astuple
from datetime import datetime
from itertools import islice
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, OverDatabase
from cadenza.adapters.postgres.queries import one_row, query
from cadenza.adapters.postgres.record_rows import present
from cadenza.adapters.postgres.sessions import session_of, session_values, state_values
from cadenza.adapters.postgres.storable import listed, to_text
from cadenza.application.ports.planning import Reservation
from cadenza.application.ports.suggestions import LedTo
from cadenza.domain.quota import Allowance, Period
from cadenza.domain.session import Session
from cadenza.domain.suggestion import Suggestion, suggestion_of, suggestions_of


class PostgresPlannerRows:
    connection: Connection

    async def save_analysis_states(
        self, sessions: Sequence[Session], holder: str
    ) -> frozenset[UUID]:
        columns = zip(*map(state_values, sessions), strict=True)
        async with present("an endpoint was deleted"):
            rows = await self.connection.fetch(
                query("save_analysis_states"), *map(list, columns), holder
            )
        return frozenset(row["endpoint_id"] for row in rows)

    async def note_skipped(self, session: Session) -> bool:
        values = (session.endpoint_id, session.kind, to_text(session.trouble))
        return await self.connection.fetchval(query("note_skipped"), *values) is not None

    async def insert_sessions(self, sessions: Sequence[Session]) -> None:
        values = map(session_values, sessions)
        async with present("an endpoint was deleted"):
            await self.connection.executemany(query("insert_session"), values)

    async def count_refusal(self, session: Session, since: datetime) -> bool:
        values = (session.endpoint_id, session.brain, to_text(session.refusal or ""), since)
        query_text = query("count_refusal")
        return await self.connection.fetchval(query_text, *values, session.started_at) is not None

    async def lock_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        row = await one_row(self.connection, "lock_session", "session", tenant_id, session_id)
        return suggestion_of(session_of(row), call, row["endpoint_name"])

    async def mark_accepted(self, suggestion: Suggestion, actor: str, until_at: datetime) -> None:
        await self.connection.execute(
            query("mark_accepted"),
            suggestion.tenant_id,
            suggestion.session_id,
            suggestion.call,
            to_text(actor),
            until_at,
        )

    async def mark_dismissed(self, suggestion: Suggestion, actor: str | None) -> None:
        await self.connection.execute(
            query("mark_dismissed"),
            suggestion.tenant_id,
            suggestion.session_id,
            suggestion.call,
            to_text(actor) if actor is not None else None,
        )

    async def lock_allowance(self, period: Period) -> Allowance:
        name = "lock_allowance" if period.job_id is None else "lock_job_allowance"
        async with present("the tenant or job was deleted"):
            return Allowance(*await one_row(self.connection, name, "period", *_key(period)))

    async def save_allowance(self, period: Period, allowance: Allowance) -> None:
        name = "save_allowance" if period.job_id is None else "save_job_allowance"
        await self.connection.execute(query(name), *_key(period), *astuple(allowance))

    async def insert_reservation(self, reservation: Reservation) -> None:
        await self.connection.execute(query("insert_reservation"), *astuple(reservation))

    async def take_reservation(self, reservation_id: UUID) -> Reservation | None:
        row = await self.connection.fetchrow(query("take_reservation"), reservation_id)
        return None if row is None else Reservation(**row)

    async def take_old_reservations(
        self, tenant_id: UUID, before: datetime
    ) -> Sequence[Reservation]:
        rows = await self.connection.fetch(query("take_old_reservations"), tenant_id, before)
        return [Reservation(**row) for row in rows]


def _key(period: Period) -> tuple[UUID | str, ...]:
    job_id = () if period.job_id is None else (period.job_id,)
    return (period.tenant_id, period.name, *job_id)


class PostgresSuggestions(OverDatabase):
    """What planners suggested: kept in the calls of their sessions."""

    async def open_suggestions(
        self, tenant_id: UUID, limit: int, job_ids: frozenset[UUID] | None = None
    ) -> Sequence[Suggestion]:
        rows = await self._database.fetch(
            query("suggesting_sessions"), tenant_id, limit, listed(job_ids)
        )
        suggestions = (
            suggestion
            for row in rows
            for suggestion in suggestions_of(session_of(row), row["endpoint_name"], row["now"])
        )
        return list(islice(suggestions, limit))

    async def get_suggestion(
        self, tenant_id: UUID, session_id: UUID, call: int | None
    ) -> Suggestion:
        row = await one_row(self._database, "get_session", "session", tenant_id, session_id)
        return suggestion_of(session_of(row), call, row["endpoint_name"])

    async def runs_of_session(
        self, tenant_id: UUID, session_id: UUID, limit: int
    ) -> Sequence[LedTo]:
        async with self._database.connection() as connection:
            await one_row(connection, "get_session", "session", tenant_id, session_id)
            rows = await connection.fetch(query("runs_of_session"), tenant_id, session_id, limit)
        return [LedTo(**row) for row in rows]
