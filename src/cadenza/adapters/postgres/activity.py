"""How much runs, and how."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.application.ports.activity import (
    MOST_RUNS,
    Activity,
    ActivityBucket,
    ActivitySearch,
    DayOfSessions,
    Percentiles,
    StateCounts,
)
from cadenza.domain.family import FAMILIES

MOST_ENDPOINTS = 500  # of a job that are each read by their key; a larger job's are the newest


class PostgresActivityReads(OverDatabase):
    async def run_activity(self, tenant_id: UUID, search: ActivitySearch) -> Activity:
        span = (search.from_at, search.to_at, search.width)
        endpoint_ids = await self._endpoint_ids(tenant_id, search)
        if endpoint_ids is None:
            most = MOST_RUNS
            rows = await self._database.fetch(
                query("activity_of_tenant"), tenant_id, *span, MOST_RUNS
            )
        else:
            most = MOST_RUNS // max(1, len(endpoint_ids))
            rows = await self._database.fetch(
                query("activity_of_endpoints"), endpoint_ids, *span, most
            )
        return _activity(rows, most)

    async def _endpoint_ids(self, tenant_id: UUID, search: ActivitySearch) -> list[UUID] | None:
        """Whose runs; None for all of the tenant's."""
        if search.endpoint_id is not None:
            return [search.endpoint_id]
        if search.job_id is None:
            return None
        rows = await self._database.fetch(query("endpoint_ids_of_job"), tenant_id, search.job_id)
        return [row["id"] for row in rows[:MOST_ENDPOINTS]]

    async def job_strips(
        self, tenant_id: UUID, job_ids: Sequence[UUID], from_at: datetime, width: timedelta
    ) -> Mapping[UUID, Activity]:
        rows = await self._database.fetch(
            query("job_strips"), tenant_id, from_at, width, list(job_ids), MOST_RUNS
        )
        return {
            job_id: Activity(_buckets(own), own[0]["known_from"])
            for job_id, own in _grouped(rows, "job_id")
        }

    async def count_states(self, tenant_id: UUID, job_id: UUID | None = None) -> StateCounts:
        wanted = [job_id] if job_id is not None else None
        row = await self._database.fetchrow(query("states_of_jobs"), tenant_id, wanted)
        return StateCounts() if row is None else _states(row)

    async def states_of_jobs(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Mapping[UUID, StateCounts]:
        rows = await self._database.fetch(query("states_of_jobs"), tenant_id, list(job_ids))
        return {row["job_id"]: _states(row) for row in rows}

    async def sessions_by_day(self, tenant_id: UUID, since: datetime) -> Sequence[DayOfSessions]:
        rows = await self._database.fetch(query("sessions_by_day"), tenant_id, since)
        return [DayOfSessions(**row) for row in rows]

    async def idle_looks(self, tenant_id: UUID) -> int:
        return await self._database.fetchval(query("idle_looks"), tenant_id)


def _activity(rows: Sequence[Row], most: int) -> Activity:
    whole = [row for row in rows if row["family"] is None]
    is_cut = sum(row["runs"] for row in whole) >= most
    known_from = min((row["first_at"] for row in whole), default=None) if is_cut else None
    return Activity(_buckets(rows), known_from)


def _buckets(rows: Iterable[Row]) -> list[ActivityBucket]:
    return [_bucket(from_at, own) for from_at, own in _grouped(rows, "from_at")]


def _bucket(from_at: datetime, rows: Sequence[Row]) -> ActivityBucket:
    by_family = [row for row in rows if row["family"] is not None]
    whole = next((row for row in rows if row["family"] is None), None)
    return ActivityBucket(
        from_at,
        {FAMILIES[row["family"]]: row["runs"] for row in by_family},
        sum(row["failed"] for row in by_family),
        sum(row["timed_out"] for row in by_family),
        *(Percentiles(), Percentiles())
        if whole is None
        else (Percentiles(*(whole["late"] or ())), Percentiles(*(whole["took"] or ()))),
    )


def _grouped(rows: Iterable[Row], column: str) -> list[tuple[Any, list[Row]]]:
    return [(key, list(own)) for key, own in groupby(rows, itemgetter(column))]


def _states(row: Row) -> StateCounts:
    _, *counts = row
    return StateCounts(*counts)
