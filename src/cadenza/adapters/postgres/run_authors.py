"""Who asked for runs that the baseline did not choose."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.run_authors import RunAuthor, Slot
from cadenza.application.score_steering import steered_by
from cadenza.domain.hint import Author
from cadenza.domain.score import SteeredBy


class PostgresRunAuthorRows:
    """In a transaction."""

    connection: Connection

    async def note_asked_run(self, endpoint_id: UUID, slot_at: datetime, user_id: UUID) -> None:
        await self.connection.execute(query("note_asked_run"), endpoint_id, slot_at, user_id)


class PostgresRunAuthors(OverDatabase):
    async def authors_of(
        self, wanted: Sequence[tuple[UUID, datetime, str]]
    ) -> Mapping[Slot, RunAuthor]:
        columns = [list(column) for column in zip(*wanted, strict=True)]
        rows = await self._database.fetch(query("authors_of_runs"), *columns)
        return {(row["endpoint_id"], row["slot_at"]): _author(row) for row in rows}

    async def asked_between(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Mapping[Slot, RunAuthor]:
        span = (list(endpoint_ids), from_at, to_at)
        rows = await self._database.fetch(query("asked_between"), *span, most)
        return {
            (row["endpoint_id"], row["slot_at"]): RunAuthor(
                SteeredBy.PERSON, row["user_name"], row["user_id"]
            )
            for row in rows
        }


def _author(row: Row) -> RunAuthor:
    by = steered_by(Author(row["author"]), row["brain"], row["rule_id"])
    name = row["user_name"] if by is SteeredBy.PERSON else row["rule_name"]
    return RunAuthor(by, name, row["user_id"], row["session_id"], row["reason"], row["tightens"])
