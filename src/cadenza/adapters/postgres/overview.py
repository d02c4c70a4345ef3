from collections.abc import Collection

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.application.ports.overview import MOST_DUE, Overview, QuotaShare


class PostgresOverview(OverDatabase):
    async def overview(self, tenants: Collection[str]) -> Overview:
        async with self._database.connection() as connection:
            due = await connection.fetchrow(query("due_backlog"), MOST_DUE)
            shares = await connection.fetch(query("quota_shares"), list(tenants))
            incidents = await connection.fetch(query("open_incidents"))
            oldest_delivery = await connection.fetchval(query("oldest_delivery"))
        assert due is not None
        by_name = {row["name"]: QuotaShare(row["tokens"], row["dollars"]) for row in shares}
        highest = by_name.pop(None)
        return Overview(
            min(due["due"], MOST_DUE),
            max(0.0, due["oldest"]),
            highest,
            by_name,
            {row["severity"]: row["incidents"] for row in incidents},
            oldest_delivery,
        )
