"""What planners keep, in a transaction: analysis states, sessions, suggestions, quotas."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.record_rows import present
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.sessions import (
    allowance_of,
    session_values,
    state_values,
    suggestion_of,
)
from cadenza.adapters.postgres.storable import to_text
from cadenza.application.ports.planning import Reservation
from cadenza.domain.errors import NotFound
from cadenza.domain.quota import Allowance
from cadenza.domain.session import Session
from cadenza.domain.suggestion import Suggestion


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

    async def insert_sessions(self, sessions: Sequence[Session]) -> None:
        values = map(session_values, sessions)
        async with present("an endpoint was deleted"):
            await self.connection.executemany(query("insert_session"), values)

    async def lock_suggestion(self, tenant_id: UUID, session_id: UUID, call: int) -> Suggestion:
        return await read_suggestion(
            self.connection, "lock_suggestion", tenant_id, session_id, call
        )

    async def mark_accepted(self, suggestion: Suggestion, actor: str, until_at: datetime) -> None:
        await self.connection.execute(
            query("mark_accepted"),
            suggestion.tenant_id,
            suggestion.session_id,
            suggestion.call,
            to_text(actor),
            until_at,
        )

    async def lock_allowance(self, tenant_id: UUID, month: str) -> Allowance:
        await self.connection.execute(query("begin_allowance"), tenant_id, month)
        row = await self.connection.fetchrow(query("lock_allowance"), tenant_id, month)
        assert row is not None
        return allowance_of(row)

    async def save_allowance(self, tenant_id: UUID, month: str, allowance: Allowance) -> None:
        await self.connection.execute(
            query("save_allowance"),
            tenant_id,
            month,
            allowance.limit,
            allowance.used,
            allowance.reserved,
            allowance.cost_limit,
            allowance.cost_used,
            allowance.cost_reserved,
            allowance.refused_at,
        )

    async def insert_reservation(self, reservation: Reservation) -> None:
        await self.connection.execute(
            query("insert_reservation"),
            reservation.id,
            reservation.tenant_id,
            reservation.month,
            reservation.tokens,
            reservation.cost,
        )

    async def take_reservation(self, reservation_id: UUID) -> Reservation | None:
        row = await self.connection.fetchrow(query("take_reservation"), reservation_id)
        return None if row is None else _reservation(row)

    async def take_old_reservations(
        self, tenant_id: UUID, before: datetime
    ) -> Sequence[Reservation]:
        rows = await self.connection.fetch(query("take_old_reservations"), tenant_id, before)
        return [_reservation(row) for row in rows]


def _reservation(row: Row) -> Reservation:
    return Reservation(row["id"], row["tenant_id"], row["month"], row["tokens"], row["cost"])


async def read_suggestion(
    connection: Connection, statement: str, tenant_id: UUID, session_id: UUID, call: int
) -> Suggestion:
    row = await connection.fetchrow(query(statement), tenant_id, session_id, call)
    if row is None:
        raise NotFound(f"no session {session_id}")
    suggestion = suggestion_of(row)
    if suggestion is None:
        raise NotFound(f"session {session_id} suggested nothing in call {call}")
    return suggestion
