"""Which endpoints need an analysis, and what a brain reads of them."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.job_rows import rules_of
from cadenza.adapters.postgres.policy_rows import modes_of, policy_of
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import STATUSES, Row, endpoint_of
from cadenza.adapters.postgres.sessions import fired_of, waiting_of
from cadenza.adapters.postgres.storable import from_json
from cadenza.adapters.postgres.targets import target_of
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.domain.analysis import (
    LONGEST_RECENT_BODY,
    RECENT_RESPONSES,
    STREAK_GAP,
    AnalysisContext,
    AnalysisReason,
    LastAnalysis,
    Response,
    SiblingState,
)
from cadenza.domain.endpoint import MAX_SPREAD, Job
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.planner_policy import USUAL
from cadenza.domain.target import only_reads
from cadenza.domain.track_record import Ending

ALWAYS = datetime.min.replace(tzinfo=UTC)  # what asyncpg sends as -infinity
_COLUMNS = (
    "slot_at",
    "started_at",
    "finished_at",
    "status",
    "status_code",
    "error_kind",
    "body",
)


class PostgresAnalysisQueue:
    def __init__(self, database: Database, spread: timedelta = MAX_SPREAD) -> None:
        self._database = database
        self._spread = spread

    async def claim_for_analysis(self, request: AnalysisRequest) -> Mapping[UUID, AnalysisReason]:
        since = request.since if request.since is not None else ALWAYS
        async with self._database.transaction() as connection:
            await connection.execute(query("plan_for_these_values"))
            rows = await connection.fetch(
                query("claim_for_analysis"),
                request.limit,
                request.brain,
                request.holder,
                request.lease,
                list(request.without),
                since,
                request.attention,
                USUAL.min_gap,
                STREAK_GAP,
            )
        return {row["id"]: AnalysisReason(row["reason"]) for row in rows}

    async def contexts_for(
        self, endpoint_ids: Sequence[UUID], brain: str
    ) -> Sequence[AnalysisContext]:
        async with self._database.connection() as connection:
            ids = list(endpoint_ids)
            rows = await connection.fetch(
                query("analysis_contexts"), ids, RECENT_RESPONSES, LONGEST_RECENT_BODY, brain
            )
            members = await connection.fetch(
                query("job_members"), ids, LONGEST_RECENT_BODY, None, brain
            )
        by_job = defaultdict[UUID, list[SiblingState]](list)
        for member in members:  # read once for all, however many siblings ask for it
            by_job[member["job_id"]].append(self._state(member))
        families = {job_id: _Family(states) for job_id, states in by_job.items()}
        return [self._context(row, families.get(row["job_id"], _NOBODY)) for row in rows]

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        rows = await self._database.fetch(query("responses"), endpoint_id, limit, offset)
        return [_response(row, "") for row in rows]

    async def siblings(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[SiblingState]:
        async with self._database.connection() as connection:
            page = await connection.fetch(query("sibling_page"), endpoint_id, limit, offset)
            ids = [row["id"] for row in page]
            rows = await connection.fetch(query("job_members"), [endpoint_id], None, ids, None)
        return [self._state(row) for row in rows]

    async def endings(self, endpoint_id: UUID, limit: int) -> Sequence[Ending]:
        rows = await self._database.fetch(query("endings"), endpoint_id, limit)
        return [
            Ending(
                row["finished_at"], STATUSES[row["status"]], row["status_code"], row["error_kind"]
            )
            for row in rows
        ]

    async def release(self, endpoint_ids: Sequence[UUID], brain: str, holder: str) -> None:
        await self._database.execute(query("release_looks"), list(endpoint_ids), brain, holder)

    def _state(self, row: Row) -> SiblingState:
        latest = _response(row, "latest_") if row["latest_slot_at"] is not None else None
        return SiblingState(endpoint_of(row, self._spread), latest, from_json(row["memory"]))

    def _context(self, row: Row, family: "_Family") -> AnalysisContext:
        endpoint = endpoint_of(row, self._spread)
        names, siblings = family.others(endpoint.id)
        looked_at, policy = row["looked_at"], policy_of(row["planner"])
        return AnalysisContext(
            now=row["now"],
            endpoint=endpoint,
            job=Job(
                endpoint.job_id,
                endpoint.tenant_id,
                row["job_name"],
                row["job_description"],
                row["job_pause"],
                row["job_archived_at"],
                rules_of(row["job_rules"]),
                policy,
            ),
            health=health_of_row(row, endpoint.failure_count),
            sibling_names=names,
            last_analysis=LastAnalysis(looked_at, row["last_reasoning"]) if looked_at else None,
            recent=_recent(row),
            siblings=siblings,
            modes=policy.modes(modes_of(row)),
            fired_at=fired_of(row["fired"]),
            waiting=waiting_of(row["waiting"]),
            failed_looks=row["failed_looks"],
            memory=from_json(row["memory"]),
            only_reads=only_reads(target_of(row["target"])),
        )


class _Family:
    """The endpoints of a job. Hundreds of them may each ask for all the others: they are cut from
    one tuple, not compared one by one."""

    def __init__(self, states: Sequence[SiblingState]) -> None:
        self._states = tuple(states)
        self._names = tuple(state.endpoint.name for state in states)
        self._places = {state.endpoint.id: place for place, state in enumerate(states)}

    def others(self, endpoint_id: UUID) -> tuple[tuple[str, ...], tuple[SiblingState, ...]]:
        names, states, place = self._names, self._states, self._places.get(endpoint_id)
        if place is None:
            return names, states
        return names[:place] + names[place + 1 :], states[:place] + states[place + 1 :]


_NOBODY = _Family(())


def health_of_row(row: Row, failure_streak: int) -> Health:
    windows = tuple(
        HealthWindow(length, row[f"runs_{hours}h"], row[f"successes_{hours}h"])
        for length in WINDOWS
        for hours in [length // timedelta(hours=1)]
    )
    return Health(
        windows, row["mean_duration"], failure_streak, row["outages"], row["state_changed_at"]
    )


def _response(row: Row, prefix: str) -> Response:
    return _answer(*(row[prefix + name] for name in _COLUMNS))


def _answer(
    slot_at: datetime,
    started_at: datetime | None,
    finished_at: datetime,
    status: str,
    status_code: int | None,
    error_kind: str | None,
    body: str | None,
) -> Response:
    duration = finished_at - started_at if started_at else None
    ending = (STATUSES[status], from_json(body), duration, status_code, error_kind)
    return Response(slot_at, finished_at, *ending)


def _recent(row: Row) -> tuple[Response, ...]:
    if row["recent_slot_at"] is None:
        return ()
    runs = zip(*(row["recent_" + name] for name in _COLUMNS), strict=True)
    return tuple(_answer(*run) for run in runs)
