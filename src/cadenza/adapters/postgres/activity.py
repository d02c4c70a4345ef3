"""How much runs, and how."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import OverDatabase
from cadenza.adapters.postgres.endpoint_ids import endpoint_ids
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import listed
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
        own = await endpoint_ids(self._database, tenant_id, search, MOST_ENDPOINTS)
        if own is None:
            most = MOST_RUNS
            rows = await self._database.fetch(
                query("activity_of_tenant"), tenant_id, *span, MOST_RUNS
            )
        else:
            most = MOST_RUNS // max(1, len(own))
            rows = await self._database.fetch(query("activity_of_endpoints"), own, *span, most)
        return _activity(rows, most)

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

    async def count_states(
        self, tenant_id: UUID, job_id: UUID | None = None, job_ids: Collection[UUID] | None = None
    ) -> StateCounts:
        wanted = [job_id] if job_id is not None else listed(job_ids)
        row = await self._database.fetchrow(query("states_of_jobs"), tenant_id, wanted, True)
        return StateCounts() if row is None else _states(row)

    async def states_of_jobs(
        self, tenant_id: UUID, job_ids: Sequence[UUID]
    ) -> Mapping[UUID, StateCounts]:
        rows = await self._database.fetch(query("states_of_jobs"), tenant_id, list(job_ids), False)
        return {row["job_id"]: _states(row) for row in rows}

    async def sessions_by_day(
        self, tenant_id: UUID, since: datetime, job_ids: Collection[UUID] | None = None
    ) -> Sequence[DayOfSessions]:
        own = listed(job_ids)
        rows = await self._database.fetch(query("sessions_by_day"), tenant_id, since, own)
        return [DayOfSessions(**row) for row in rows]

    async def idle_looks(self, tenant_id: UUID, job_ids: Collection[UUID] | None = None) -> int:
        return await self._database.fetchval(query("idle_looks"), tenant_id, listed(job_ids))


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
        sum(row["cancelled"] for row in by_family),
        sum(row["running"] for row in by_family),
        *(Percentiles(), Percentiles())
        if whole is None
        else (Percentiles(*(whole["late"] or ())), Percentiles(*(whole["took"] or ()))),
    )


def _grouped(rows: Iterable[Row], column: str) -> list[tuple[Any, list[Row]]]:
    return [(key, list(own)) for key, own in groupby(rows, itemgetter(column))]


def _states(row: Row) -> StateCounts:
    _, *counts = row
    return StateCounts(*counts)
