"""What a transaction deletes for good."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Connection
from cadenza.adapters.postgres.queries import query

_HISTORY = ("runs", "late_results", "sessions")


class PostgresRemovalRows:
    connection: Connection

    async def endpoint_ids_of_job(self, tenant_id: UUID, job_id: UUID) -> Sequence[UUID]:
        rows = await self.connection.fetch(query("endpoint_ids_of_job"), tenant_id, job_id)
        return [row["id"] for row in rows]

    async def count_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        count: int = await self.connection.fetchval(
            query("count_history"), list(endpoint_ids), most
        )
        return min(count, most)

    async def delete_history(self, endpoint_ids: Sequence[UUID], most: int) -> int:
        gone = 0
        for rows in _HISTORY:
            if gone < most:
                statement = query(f"delete_{rows}_of_endpoints")
                gone += await self.connection.fetchval(statement, list(endpoint_ids), most - gone)
        return gone

    async def delete_endpoints(self, endpoint_ids: Sequence[UUID]) -> None:
        await self.connection.execute(query("delete_endpoints"), list(endpoint_ids))

    async def delete_job(self, job_id: UUID) -> None:
        await self.connection.execute(query("delete_job"), job_id)
