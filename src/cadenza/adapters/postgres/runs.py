"""The history of runs."""

from collections.abc import Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import run_of
from cadenza.domain.errors import NotFound
from cadenza.domain.run import LateResult, LostAttempt, Run, RunStatus


class PostgresRunHistory:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def list_runs(
        self, tenant_id: UUID, endpoint_id: UUID, *, limit: int = 50, offset: int = 0
    ) -> Sequence[Run]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_runs"), tenant_id, endpoint_id, limit, offset)
            if not rows and not await connection.fetchrow(
                query("get_endpoint"), tenant_id, endpoint_id
            ):
                raise NotFound(f"no endpoint {endpoint_id}")
        return [run_of(row) for row in rows]

    async def list_lost_attempts(self, tenant_id: UUID, run_id: UUID) -> Sequence[LostAttempt]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_lost_attempts"), tenant_id, run_id)
        return [LostAttempt(row["run_id"], row["attempt"], row["noted_at"]) for row in rows]

    async def list_late_results(self, tenant_id: UUID, endpoint_id: UUID) -> Sequence[LateResult]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("list_late_results"), tenant_id, endpoint_id)
        return [
            LateResult(
                row["run_id"],
                row["endpoint_id"],
                row["epoch"],
                RunStatus(row["status"]),
                row["received_at"],
            )
            for row in rows
        ]
