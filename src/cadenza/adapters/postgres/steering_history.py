"""Hints and pauses as they were, between rows and values."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row, duration_of, ms
from cadenza.adapters.postgres.storable import listed, to_text
from cadenza.application.ports.search_result import SearchResult
from cadenza.application.ports.steering_history import NamedEntry, SteeringSearch
from cadenza.domain.hint import Author
from cadenza.domain.steering_history import (
    Advice,
    By,
    SteeringChange,
    SteeringEnd,
    SteeringEntry,
    SteeringKind,
)

LAST = 2**63 - 1


class PostgresSteeringRows:
    connection: Connection

    async def note_steering(self, changes: Sequence[SteeringChange], by: By) -> None:
        columns = zip(*(_values(change) for change in changes), strict=True)
        ender = (by.author, by.user_id, by.session_id)
        await self.connection.execute(query("note_steering"), *map(list, columns), *ender)


class PostgresSteeringReads(OverDatabase):
    async def search_steering(
        self, tenant_id: UUID, search: SteeringSearch
    ) -> SearchResult[NamedEntry]:
        before_at, before_id = search.after or (search.to_at, None)
        number = 0 if before_at is not None else None
        if before_id is not None:  # of another list it is any id at all
            number = min(before_id.int, LAST)
        rows = await self._database.fetch(
            query("search_steering"),
            tenant_id,
            search.endpoint_id,
            search.job_id,
            search.from_at,
            before_at,
            number,
            search.limit + 1,
            listed(search.job_ids),
        )
        entries = [entry_of(row) for row in rows[: search.limit]]
        more = len(rows) > search.limit
        last = entries[-1].entry if more else None
        reached = None if last is None else (last.begun_at, UUID(int=last.id))
        return SearchResult(entries, reached)

    async def steering_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, per_endpoint: int
    ) -> Sequence[NamedEntry]:
        statement = query("steering_between")
        rows = await self._database.fetch(
            statement, list(endpoint_ids), from_at, to_at, per_endpoint
        )
        return [entry_of(row) for row in rows]


def _values(change: SteeringChange) -> tuple[Any, ...]:
    ids = (change.tenant_id, change.endpoint_id, change.kind, change.renews)
    advice = change.after
    if advice is None:
        return (*ids, *[None] * 10)
    return (
        *ids,
        advice.until_at,
        ms(advice.interval),
        advice.run_at,
        advice.tightens,
        advice.author,
        advice.user_id,
        advice.brain,
        advice.rule_id,
        advice.session_id,
        to_text(advice.reason),
    )


def entry_of(row: Row) -> NamedEntry:
    ended_as, ended_by = row["ended_as"], row["ended_by"]
    advice = Advice(
        row["until_at"],
        Author(row["author"]),
        duration_of(row["interval_ms"]),
        row["run_at"],
        row["tightens"],
        row["user_id"],
        row["brain"],
        row["rule_id"],
        row["session_id"],
        row["reason"],
    )
    entry = SteeringEntry(
        row["id"],
        row["tenant_id"],
        row["endpoint_id"],
        SteeringKind(row["kind"]),
        row["begun_at"],
        advice,
        row["renewals"],
        row["planned_until_at"],
        SteeringEnd(ended_as) if ended_as is not None else None,
        By(Author(ended_by), row["ended_by_user_id"], row["ended_by_session_id"])
        if ended_by is not None
        else None,
    )
    return NamedEntry(entry, row["user_name"], row["ended_by_name"])
