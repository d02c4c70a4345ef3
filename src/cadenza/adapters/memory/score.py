"""What the score of a job is drawn from, in memory."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from math import isfinite
from typing import Any, cast
from uuid import UUID

from cadenza.adapters.memory.catalogue import stored_endpoint
from cadenza.adapters.memory.run_reads import ended_runs
from cadenza.adapters.memory.tables import OverTables
from cadenza.application.ports.score import LaneBucket, LaneRun, Lanes, LaneSearch, Point
from cadenza.domain.family import Family, family_of
from cadenza.domain.instants import milliseconds
from cadenza.domain.run import Body, Run, RunStatus
from cadenza.domain.session import Session


class MemoryScoreReads(OverTables):
    async def lanes(self, tenant_id: UUID, search: LaneSearch) -> Lanes:
        tables, wanted = self._tables, search.endpoint_ids
        rows = [
            row
            for endpoint_id in tables.ids_of_job.get(search.job_id, ())
            if (row := tables.endpoints[endpoint_id]).tenant_id == tenant_id
            and (endpoint_id in wanted if wanted else row.endpoint.archived_at is None)
        ]
        rows.sort(key=lambda row: (row.endpoint.name, row.endpoint.id))
        after = search.after
        rest = [row for row in rows if not after or (row.endpoint.name, row.endpoint.id) > after]
        return Lanes([stored_endpoint(tables, row) for row in rest[: search.limit]], len(rows))

    async def count_runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Mapping[UUID, int]:
        span = (from_at, to_at)
        return {id_: min(most, len(list(self._runs([id_], *span)))) for id_ in endpoint_ids}

    async def lane_runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime
    ) -> Mapping[UUID, Sequence[LaneRun]]:
        span = (from_at, to_at)
        return {id_: [_lane_run(run) for run in self._runs([id_], *span)] for id_ in endpoint_ids}

    async def lane_buckets(
        self,
        endpoint_ids: Sequence[UUID],
        from_at: datetime,
        to_at: datetime,
        width: timedelta,
        most: int,
    ) -> Sequence[LaneBucket]:
        buckets: dict[tuple[UUID, datetime, Family], list[Run]] = {}
        for endpoint_id in endpoint_ids:
            for run in list(self._runs([endpoint_id], from_at, to_at))[-most:]:
                begins = from_at + (run.slot_at - from_at) // width * width
                family = family_of(run.source, run.plan, is_manual=run.is_manual)
                buckets.setdefault((endpoint_id, begins, family), []).append(run)
        return [_bucket(*key, runs) for key, runs in sorted(buckets.items())]

    async def suggesting_sessions(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime, most: int
    ) -> Sequence[Session]:
        sessions = [
            session
            for session in self._tables.sessions.values()
            if session.endpoint_id in endpoint_ids
            and from_at <= session.started_at < to_at
            and session.suggests_until is not None
        ]
        return sorted(sessions, key=lambda session: session.started_at, reverse=True)[:most]

    async def recent_bodies(
        self, endpoint_ids: Sequence[UUID], per_endpoint: int
    ) -> Mapping[UUID, Sequence[Body]]:
        bodies: dict[UUID, list[Body]] = {}
        for endpoint_id in endpoint_ids:
            ended = ended_runs(self._tables, endpoint_id)
            newest = [run for run, _ in zip(ended, range(per_endpoint), strict=False)]
            bodies[endpoint_id] = [run.body for run in newest if run.body is not None]
        return bodies

    async def answer_values(
        self,
        endpoint_id: UUID,
        path: Sequence[str],
        from_at: datetime,
        to_at: datetime,
        most: int,
    ) -> Sequence[Point]:
        runs = list(self._runs([endpoint_id], from_at, to_at))
        every = max(1, -(-len(runs) // most))
        picked = [(run.slot_at, _number(run.body, path)) for run in runs[every - 1 :: every]]
        return [(at, number) for at, number in picked if number is not None]

    def _runs(
        self, endpoint_ids: Sequence[UUID], from_at: datetime, to_at: datetime
    ) -> Iterator[Run]:
        tables = self._tables
        for endpoint_id in endpoint_ids:
            slots = tables.runs_of.get(endpoint_id, {})
            for slot_at in sorted(slot for slot in slots if from_at <= slot < to_at):
                yield tables.runs[slots[slot_at]]


def _lane_run(run: Run) -> LaneRun:
    session_id = (run.plan or {}).get("session_id")
    is_baseline = run.source.startswith("baseline-")
    took = run.finished_at - run.started_at if run.finished_at and run.started_at else None
    return LaneRun(
        run.id,
        run.slot_at,
        run.source,
        family_of(run.source, run.plan, is_manual=run.is_manual),
        run.status,
        run.attempt,
        run.started_at,
        None if took is None else milliseconds(took),
        run.status_code,
        run.error_kind,
        run.error_message and run.error_message[:120],
        run.skipped_slots,
        None if session_id is None or is_baseline else UUID(session_id),
    )


def _bucket(
    endpoint_id: UUID, from_at: datetime, family: Family, runs: Sequence[Run]
) -> LaneBucket:
    by_status = Counter(run.status for run in runs)
    bad = (by_status[RunStatus.FAILURE], by_status[RunStatus.TIMEOUT])
    return LaneBucket(endpoint_id, from_at, family, len(runs), *bad, runs[0].slot_at)


def _number(body: object, path: Sequence[str]) -> float | None:
    for name in path:
        body = _inside(body, name)
    if isinstance(body, bool) or not isinstance(body, int | float):
        return None
    try:
        number = float(body)
    except OverflowError:
        return None
    return number if isfinite(number) else None


def _inside(body: object, name: str) -> object:
    if isinstance(body, dict):
        return cast("dict[str, Any]", body).get(name)
    items = cast("list[Any]", body) if isinstance(body, list) else []
    is_index = name.isascii() and name.isdigit() and len(name) <= 6
    return items[int(name)] if is_index and int(name) < len(items) else None
