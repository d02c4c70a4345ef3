"""What a tenant uses; and whether this database is fit to work with."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from uuid import UUID

from cadenza.adapters.postgres.database import Database, OverDatabase
from cadenza.adapters.postgres.migrate import status
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.sessions import allowance_of
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
            _counts(row, "hour_since", place=1),
            _counts(row, "day_since", place=2),
        )

    async def quota(self, tenant_id: UUID) -> tuple[str, Allowance]:
        row = await self._database.fetchrow(query("quota"), tenant_id)
        assert row is not None
        return row["month"], allowance_of(row)


def _counts(row: Row, since: str, place: int) -> RunCounts:
    ended = {each[0]: each[place] or 0 for each in json.loads(row["statuses"])}
    counts = {each: ended.get(each, 0) for each in RunStatus}
    return RunCounts(row[since], {**counts, RunStatus.RUNNING: row["running"]})


class PostgresReadiness:
    def __init__(self, database: Database, expected_workers: Sequence[str] = ()) -> None:
        self._database = database
        self._expected = expected_workers

    async def check(self) -> Mapping[str, str]:
        parts = await self._check_database()
        if all(each == OK for each in parts.values()) and self._expected:
            alive = await PostgresWorkers(self._database).alive()
            for kind in self._expected:
                parts[kind] = OK if alive.get(kind) else "none has been seen of late"
        return parts

    async def _check_database(self) -> dict[str, str]:
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                applied = await status(self._database)
        except (StoreUnavailable, TimeoutError):  # where it is, is nothing for everybody
            return {"database": "it does not answer", "schema": "not known"}
        except InstallationError as error:
            return {"database": OK, "schema": str(error)}
        missing = [each.migration for each in applied if each.applied_at is None]
        names = ", ".join(f"{each.number:04} {each.name}" for each in missing)
        return {
            "database": OK,
            "schema": f"missing: {names}; run `cadenza migrate`" if missing else OK,
        }
