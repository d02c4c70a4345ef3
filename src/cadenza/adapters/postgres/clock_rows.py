"""A transaction's verbs for a clock that stepped back."""

from collections.abc import Sequence
from datetime import timedelta

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.targets import stored_endpoint
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.domain.clock_steps import TOLERANCE


class PostgresClockRows:
    connection: Connection
    spread: timedelta

    async def lock_ahead_of_clock(self, limit: int) -> Sequence[StoredEndpoint]:
        rows = await self.connection.fetch(query("lock_ahead_of_clock"), limit, TOLERANCE)
        return [stored_endpoint(row, self.spread) for row in rows]

    async def count_ahead_of_clock(self) -> int:
        return await self.connection.fetchval(query("count_ahead_of_clock"), TOLERANCE)

    async def shorten_leases(self, lease: timedelta) -> None:
        await self.connection.execute(query("shorten_leases"), lease, TOLERANCE)
