"""Which workers live: each says so every few seconds."""

from collections.abc import Mapping
from datetime import timedelta

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query

BEAT_EVERY = timedelta(seconds=5)
GONE_AFTER = 3 * BEAT_EVERY


class PostgresWorkers(OverDatabase):
    async def beat(self, name: str, kind: str) -> None:
        await self._database.execute(query("beat"), name, kind)

    async def left(self, name: str) -> None:
        await self._database.execute(query("worker_left"), name)

    async def alive(self) -> Mapping[str, int]:
        """How many of each kind."""
        rows = await self._database.fetch(query("workers_alive"), GONE_AFTER)
        return {row["kind"]: row["count"] for row in rows}
