"""Results that are reported to us."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import from_json, to_json, to_text
from cadenza.domain.result import AwaitedResult, Report
from cadenza.domain.run import RunStatus


class PostgresResults:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def reports_of(self, run_ids: Collection[UUID]) -> Mapping[UUID, Report]:
        rows = await self._database.fetch(query("reports_of"), list(run_ids))
        return {row["run_id"]: _report(row) for row in rows}


class PostgresResultRows:
    """In a transaction."""

    connection: Connection

    async def insert_awaited(self, awaited: AwaitedResult) -> None:
        await self.connection.execute(
            query("insert_awaited"),
            awaited.run_id,
            awaited.attempt,
            awaited.tenant_id,
            awaited.endpoint_id,
            awaited.token_hash,
        )

    async def lock_awaited(self, run_id: UUID) -> tuple[Sequence[AwaitedResult], bool]:
        rows = await self.connection.fetch(query("lock_awaited"), run_id)
        return [_awaited(row) for row in rows], any(row["is_running"] for row in rows)

    async def save_report(self, awaited: AwaitedResult, report: Report) -> None:
        message = None if report.message is None else to_text(report.message)
        body = None if report.body is None else to_json(report.body)
        key = (awaited.run_id, awaited.attempt)
        await self.connection.execute(query("save_report"), *key, report.status, message, body)

    async def close_awaited(self, run_id: UUID) -> None:
        await self.connection.execute(query("close_awaited"), run_id)


def _awaited(row: Row) -> AwaitedResult:
    return AwaitedResult(
        row["run_id"],
        row["attempt"],
        row["tenant_id"],
        row["endpoint_id"],
        row["token_hash"],
        row["closed_at"],
        None if row["reported_at"] is None else _report(row),
    )


def _report(row: Row) -> Report:
    return Report(RunStatus(row["status"]), from_json(row["body"]), row["message"])
