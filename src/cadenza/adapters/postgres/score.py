"""What the score of a job is drawn from."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import STATUSES, Row
from cadenza.adapters.postgres.sessions import session_of
from cadenza.adapters.postgres.storable import from_json
from cadenza.adapters.postgres.targets import stored_endpoint
from cadenza.application.ports.score import LaneBucket, LaneRun, Lanes, LaneSearch, Point
from cadenza.domain.endpoint import MAX_SPREAD
from cadenza.domain.family import FAMILIES, Family, family_of
from cadenza.domain.plan import SOURCES
from cadenza.domain.run import Body
from cadenza.domain.session import Session

LONGEST_BODY = 8_000  # as it is stored: more would be read for one number
_OF_SOURCE = {name: (source, family_of(source, None)) for name, source in SOURCES.items()}


class PostgresScoreReads:
    def __init__(self, database: Database, spread: timedelta = MAX_SPREAD) -> None:
        self._database = database
        self._spread = spread

    async def lanes(self, tenant_id: UUID, search: LaneSearch) -> Lanes:
        whose = (tenant_id, search.job_id, list(search.endpoint_ids) or None)
        after = search.after or (None, None)
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("lanes_of_job"), *whose, *after, search.limit)
            total = await connection.fetchval(query("count_lanes"), *whose)
        return Lanes([stored_endpoint(row, self._spread) for row in rows], total)

    async def count_runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Mapping[UUID, int]:
        span = (list(endpoint_ids), from_at, to_at)
        rows = await self._database.fetch(query("count_lane_runs"), *span, most)
        return {row["id"]: row["runs"] for row in rows}

    async def lane_runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime
    ) -> Mapping[UUID, Sequence[LaneRun]]:
        span = (list(endpoint_ids), from_at, to_at)
        runs = [list[LaneRun]() for _ in endpoint_ids]
        for row in await self._database.fetch(query("lane_runs"), *span):
            number: int = row[0]
            runs[number - 1].append(_run(row))
        return dict(zip(endpoint_ids, runs, strict=True))

    async def lane_buckets(
        self,
        endpoint_ids: Sequence[UUID],
        from_at: datetime,
        to_at: datetime,
        width: timedelta,
        most: int,
    ) -> Sequence[LaneBucket]:
        span = (list(endpoint_ids), from_at, to_at)
        rows = await self._database.fetch(query("lane_buckets"), *span, width, most)
        return [_bucket(row) for row in rows]

    async def suggesting_sessions(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Sequence[Session]:
        span = (list(endpoint_ids), from_at, to_at)
        rows = await self._database.fetch(query("suggesting_sessions_of_lanes"), *span, most)
        return [session_of(row) for row in rows]

    async def recent_bodies(
        self, endpoint_ids: Sequence[UUID], per_endpoint: int
    ) -> Mapping[UUID, Sequence[Body]]:
        statement = query("recent_bodies")
        rows = await self._database.fetch(statement, list(endpoint_ids), per_endpoint, LONGEST_BODY)
        bodies: defaultdict[UUID, list[Any]] = defaultdict(list)
        for row in rows:
            bodies[row["id"]].append(from_json(row["body"]))
        return bodies

    async def answer_values(
        self,
        endpoint_id: UUID,
        path: Sequence[str],
        from_at: datetime,
        to_at: datetime,
        most: int,
    ) -> Sequence[Point]:
        rows = await self._database.fetch(
            query("answer_values"), endpoint_id, list(path), from_at, to_at, most, LONGEST_BODY
        )
        points = [(row["slot_at"], float(row["value"])) for row in rows]
        return [point for point in points if isfinite(point[1])]


def _run(row: Row) -> LaneRun:
    _, run_id, slot, name, is_manual, candidates, status, attempt, started, *more = row
    slot_at = datetime.fromtimestamp(slot, UTC)
    started_at = None if started is None else datetime.fromtimestamp(started, UTC)
    source, family = _OF_SOURCE[name]
    if is_manual:
        family = Family.MANUAL
    elif candidates is not None:
        family = family_of(source, {"candidates": from_json(candidates)})
    return LaneRun(run_id, slot_at, source, family, STATUSES[status], attempt, started_at, *more)


def _bucket(row: Row) -> LaneBucket:
    endpoint_id, from_at, family, *counts = row
    return LaneBucket(endpoint_id, from_at, FAMILIES[family], *counts)
