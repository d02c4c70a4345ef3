"""Every sealed value in the database, brought under a new master key."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import asyncpg

from cadenza.adapters.postgres.accounts import SIGNING_KEY
from cadenza.adapters.postgres.billing import VIRTUAL_KEY
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.notification_rows import CHANNEL_URL
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.targets import HEADERS
from cadenza.application.ports.sealed_values import Resealed, Unreadable
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.errors import Refused, SecretUnreadable

LOCK = 0x0CADE5EC  # any number that nobody else uses: who holds it rotates
BATCH = 200
ROUNDS = 50  # rows that a worker holds are tried again, but not for ever
PAUSE_SECONDS = 0.1
FIRST = UUID(int=0)


@dataclass(frozen=True, slots=True)
class _SealedColumn:
    """Where sealed values are: a column with one in each row, or with several by their names."""

    column: str
    outdated: str
    write: str
    read: Callable[[str], dict[str, str]]
    written: Callable[[dict[str, str]], str]


def _one_in_each_row(column: str, outdated: str, write: str) -> _SealedColumn:
    return _SealedColumn(column, outdated, write, lambda text: {"": text}, lambda rows: rows[""])


COLUMNS = (
    _SealedColumn(HEADERS, "outdated_headers", "replace_headers", json.loads, json.dumps),
    _one_in_each_row(SIGNING_KEY, "outdated_signing_keys", "replace_signing_keys"),
    _one_in_each_row(VIRTUAL_KEY, "outdated_virtual_keys", "replace_virtual_keys"),
    _one_in_each_row(CHANNEL_URL, "outdated_channel_urls", "replace_channel_urls"),
)


@dataclass(frozen=True, slots=True)
class _Fresh:
    """A row to be written, and how many of its values are sealed anew."""

    id: UUID
    read: str
    sealed: str
    values: int


class SealedValues:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def count_by_key(self) -> dict[str, int]:
        """How many values need each master key, also those that are missing here."""
        rows = await self._database.fetch(query("sealed_by_key"))
        return {row["key_id"]: row["held"] for row in rows}

    @asynccontextmanager
    async def rotating(self) -> AsyncGenerator[None]:
        """Refused where somebody else is at it."""
        async with self._database.transaction() as guard:
            # A transaction's lock: behind a pooler a session's would never be given back.
            if not await guard.fetchval("SELECT pg_try_advisory_xact_lock($1)", LOCK):
                raise Refused("Another rotation is under way. Wait until it has ended.")
            yield

    async def reseal(self, on_progress: Callable[[int], None] = lambda _: None) -> Resealed:
        """Bring every value under the first master key, a batch at a time.

        Each row is written only where it still is what was read, so that it can run beside
        workers, be stopped at any moment, and be started again.
        """
        total = Resealed()
        for column in COLUMNS:
            done = Resealed()
            for _ in range(ROUNDS):
                done = await self._round(column, lambda more: on_progress(total.values + more))
                total.values += done.values
                if not done.held:
                    break
                await asyncio.sleep(PAUSE_SECONDS)
            total.held += done.held
            total.unreadable += done.unreadable
        return total

    async def _round(self, column: _SealedColumn, on_progress: Callable[[int], None]) -> Resealed:
        done, after = Resealed(), FIRST
        while True:
            key_id = self._box.key_ids[0]
            rows = await self._database.fetch(query(column.outdated), key_id, after, BATCH)
            if not rows:
                return done
            after = rows[-1]["id"]
            fresh = [self._sealed_anew(column, row, key_id, done.unreadable) for row in rows]
            await self._write(column, [row for row in fresh if row.values], done)
            on_progress(done.values)

    def _sealed_anew(
        self, column: _SealedColumn, row: asyncpg.Record, key_id: str, unreadable: list[Unreadable]
    ) -> _Fresh:
        values, count = column.read(row["sealed"]), 0
        for name, sealed in values.items():
            if key_id_of(sealed) == key_id:
                continue
            where = f"{column.column}:{name}" if name else column.column
            ids = {"tenant_id": row["tenant_id"], "row_id": row["id"]}
            try:
                plain = self._box.open(sealed, **ids, column=where)
                values[name] = self._box.seal(plain, **ids, column=where)
                count += 1
            except SecretUnreadable as error:
                unreadable.append(Unreadable(row["id"], where, str(error)))
        return _Fresh(row["id"], row["sealed"], column.written(values), count)

    async def _write(self, column: _SealedColumn, fresh: Sequence[_Fresh], done: Resealed) -> None:
        ids, read = [row.id for row in fresh], [row.read for row in fresh]
        sealed = [row.sealed for row in fresh]
        rows = await self._database.fetch(query(column.write), ids, read, sealed)
        written = {row["id"] for row in rows}
        done.values += sum(row.values for row in fresh if row.id in written)
        done.held += len(fresh) - len(written)


def key_id_of(sealed: str) -> str:
    """Which master key a sealed value needs; the queries read it in the same way."""
    return sealed.split(":")[1] if ":" in sealed else ""
