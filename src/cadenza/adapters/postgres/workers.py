"""Which workers live: each says so every few seconds."""

from collections.abc import Mapping
from datetime import timedelta

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query

BEAT_EVERY = timedelta(seconds=5)
GONE_AFTER = 3 * BEAT_EVERY


class PostgresWorkers:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def beat(self, name: str, kind: str) -> None:
        async with self._database.connection() as connection:
            await connection.execute(query("beat"), name, kind)

    async def left(self, name: str) -> None:
        async with self._database.connection() as connection:
            await connection.execute(query("worker_left"), name)

    async def alive(self) -> Mapping[str, int]:
        """How many of each kind."""
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("workers_alive"), GONE_AFTER)
        return {row["kind"]: row["count"] for row in rows}
