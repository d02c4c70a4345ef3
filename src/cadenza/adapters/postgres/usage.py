"""What a tenant uses; and whether this database is fit to work with."""

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database, OverDatabase
from cadenza.adapters.postgres.migrate import status
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.application.ports.usage import RunCounts, Usage
from cadenza.domain.errors import InstallationError, StoreUnavailable
from cadenza.domain.quota import Allowance
from cadenza.domain.run import RunStatus

ANSWER_SECONDS = 5.0
OK = "ok"


class PostgresUsage(OverDatabase):
    async def usage(self, tenant_id: UUID) -> Usage:
        row = await self._database.fetchrow(query("usage"), tenant_id)
        assert row is not None
        return Usage(
            row["jobs"],
            row["endpoints"],
            _counts(row, "hour_since", column=1),
            _counts(row, "day_since", column=2),
        )

    async def quota(self, tenant_id: UUID) -> tuple[str, Allowance]:
        row = await self._database.fetchrow(query("quota"), tenant_id)
        assert row is not None
        month, *allowance = row
        return month, Allowance(*allowance)

    async def quotas_of_jobs(
        self, tenant_id: UUID, job_ids: Collection[UUID]
    ) -> Mapping[UUID, tuple[str, Allowance]]:
        rows = await self._database.fetch(query("quotas_of_jobs"), tenant_id, list(job_ids))
        return {job_id: (day, Allowance(*allowance)) for job_id, day, *allowance in rows}


def _counts(row: Row, since: str, column: int) -> RunCounts:
    ended = {status[0]: status[column] or 0 for status in json.loads(row["statuses"])}
    counts = {status: ended.get(status, 0) for status in RunStatus}
    return RunCounts(row[since], {**counts, RunStatus.RUNNING: row["running"]})


class PostgresReadiness:
    def __init__(self, database: Database, expected_workers: Sequence[str] = ()) -> None:
        self._database = database
        self._expected = expected_workers

    async def check(self) -> Mapping[str, str]:
        checks = await self._check_database()
        if self._expected and set(checks.values()) == {OK}:
            alive = await PostgresWorkers(self._database).alive()
            for kind in self._expected:
                checks[kind] = OK if alive.get(kind) else "none has been seen of late"
        return checks

    async def _check_database(self) -> dict[str, str]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                applied = await status(self._database)
        except (StoreUnavailable, TimeoutError):  # where it is, is nothing for everybody
            return {"database": "it does not answer", "schema": "not known"}
        except InstallationError as error:
            return {"database": OK, "schema": str(error)}
        missing = [known.migration for known in applied if known.applied_at is None]
        names = ", ".join(f"{migration.number:04} {migration.name}" for migration in missing)
        schema = f"missing: {names}; run `cadenza migrate`" if missing else OK
        return {"database": OK, "schema": schema}
