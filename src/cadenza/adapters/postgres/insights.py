"""What a planner reads and leaves behind."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.jobs import mode_of, rules_of
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row, body_of, endpoint_of, to_json, to_text
from cadenza.domain.analysis import (
    LONGEST_RECENT_BODY,
    RECENT_RESPONSES,
    Attention,
    LastAnalysis,
    Material,
    Response,
    SiblingState,
)
from cadenza.domain.endpoint import MAX_SPREAD, Job
from cadenza.domain.health import WINDOWS, Health, HealthWindow
from cadenza.domain.instants import milliseconds
from cadenza.domain.run import RunStatus
from cadenza.domain.session import Session

_FINDERS = {
    Attention.OWN_RUNS: "find_after_own_runs",
    Attention.EVERY_RUN: "find_after_any_run",
    Attention.ON_CHANGE: "find_after_changes",
}


class PostgresInsights:
    def __init__(self, database: Database, spread: timedelta = MAX_SPREAD) -> None:
        self._database = database
        self._spread = spread

    async def find_for_analysis(
        self, attention: Attention, limit: int, without: Collection[UUID] = ()
    ) -> Sequence[UUID]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query(_FINDERS[attention]), limit, list(without))
        return [row["id"] for row in rows]

    async def material_for(self, endpoint_ids: Sequence[UUID]) -> Sequence[Material]:
        async with self._database.connection() as connection:
            ids = list(endpoint_ids)
            rows = await connection.fetch(
                query("material"), ids, RECENT_RESPONSES, LONGEST_RECENT_BODY
            )
            members = await connection.fetch(query("job_members"), ids, LONGEST_RECENT_BODY)
        by_job: dict[UUID, list[SiblingState]] = {}
        for each in members:  # read once for all, however many siblings ask for it
            by_job.setdefault(each["job_id"], []).append(self._state(each))
        return [self._material(row, by_job.get(row["job_id"], [])) for row in rows]

    async def responses(
        self, endpoint_id: UUID, *, limit: int, offset: int = 0
    ) -> Sequence[Response]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("responses"), endpoint_id, limit, offset)
        return [_response(row, "") for row in rows]

    async def siblings(self, endpoint_id: UUID) -> Sequence[SiblingState]:
        async with self._database.connection() as connection:
            rows = await connection.fetch(query("siblings"), endpoint_id)
        return [self._state(row) for row in rows]

    async def record_look(self, session: Session) -> None:
        async with self._database.transaction() as connection:
            await connection.execute(
                query("record_look"),
                session.endpoint_id,
                session.started_at,
                session.next_analysis_at,
                to_text(session.reasoning),
                session.worth_keeping,
            )
            if session.worth_keeping:
                await connection.execute(query("add_session"), *_session_values(session))
            acted = [call.tool for call in session.tool_calls if call.took_effect]
            if acted:
                told = {"session_id": str(session.id), "brain": session.brain, "tools": acted}
                await connection.execute(
                    query("add_event"),
                    session.tenant_id,
                    "planner.acted",
                    session.job_id,
                    session.endpoint_id,
                    to_json(told),
                )

    def _state(self, row: Row) -> SiblingState:
        latest = _response(row, "latest_") if row["latest_slot_at"] is not None else None
        return SiblingState(endpoint_of(row, self._spread), latest)

    def _material(self, row: Row, members: Sequence[SiblingState]) -> Material:
        endpoint = endpoint_of(row, self._spread)
        looked_at = row["looked_at"]
        return Material(
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
                mode_of(row["planner_mode"]),
                row["probe_budget"],
            ),
            health=health_of_row(row, endpoint.failure_count),
            sibling_names=tuple(row["sibling_names"]),
            last_analysis=LastAnalysis(looked_at, row["last_reasoning"]) if looked_at else None,
            recent=_recent(row),
            siblings=tuple(each for each in members if each.endpoint.id != endpoint.id),
        )


def health_of_row(row: Row, failure_streak: int) -> Health:
    windows = tuple(
        HealthWindow(length, row[f"runs_{hours}h"], row[f"successes_{hours}h"])
        for length in WINDOWS
        for hours in [length // timedelta(hours=1)]
    )
    return Health(
        windows, row["mean_duration"], failure_streak, row["outages"], row["state_changed_at"]
    )


def _response(row: Row | Mapping[str, Any], prefix: str) -> Response:
    started_at, finished_at = row[f"{prefix}started_at"], row[f"{prefix}finished_at"]
    return Response(
        slot_at=row[f"{prefix}slot_at"],
        finished_at=finished_at,
        status=RunStatus(row[f"{prefix}status"]),
        body=body_of(row[f"{prefix}body"]),
        duration=finished_at - started_at if started_at else None,
        status_code=row[f"{prefix}status_code"],
    )


def _recent(row: Row) -> tuple[Response, ...]:
    columns = ("slot_at", "started_at", "finished_at", "status", "status_code", "body")
    if row["recent_slot_at"] is None:
        return ()
    each_run = zip(*(row[f"recent_{name}"] for name in columns), strict=True)
    return tuple(_response(dict(zip(columns, run, strict=True)), "") for run in each_run)


def _session_values(session: Session) -> tuple[Any, ...]:
    calls = [
        {
            "tool": call.tool,
            "arguments": call.arguments,
            "result": call.result,
            "took_effect": call.took_effect,
        }
        for call in session.tool_calls
    ]
    return (
        session.id,
        session.tenant_id,
        session.job_id,
        session.endpoint_id,
        session.brain,
        session.started_at,
        milliseconds(session.duration),
        session.end,
        to_json(calls),
        to_text(session.reasoning),
        session.confidence,
        session.tokens,
        session.cost,
        [to_text(warning) for warning in session.warnings],
        session.next_analysis_at,
        session.prompt_version,
    )
