"""Schedules and their runs between rows and values; and reading them."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.rows import Row
from cadenza.adapters.postgres.storable import from_json, to_json, to_text
from cadenza.domain.errors import NotFound
from cadenza.domain.graph import ErrorCode, GraphLimits
from cadenza.domain.schedule import Concurrency, Schedule, ScheduleDefinition
from cadenza.domain.slot import RunEvent, ScheduleRun, SlotStatus


class PostgresScheduleReads:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get_schedule(self, tenant_id: UUID, schedule_id: UUID) -> Schedule:
        row = await self._database.fetchrow(query("get_schedule"), tenant_id, schedule_id)
        if row is None:
            raise NotFound(f"no schedule {schedule_id}")
        return schedule_of(row)

    async def list_schedules(
        self, tenant_id: UUID, name: str | None, after: UUID | None, limit: int
    ) -> Sequence[Schedule]:
        rows = await self._database.fetch(query("list_schedules"), tenant_id, name, after, limit)
        return [schedule_of(row) for row in rows]

    async def list_runs(
        self,
        tenant_id: UUID,
        schedule_id: UUID | None,
        before: datetime | None,
        limit: int,
    ) -> Sequence[ScheduleRun]:
        rows = await self._database.fetch(
            query("list_schedule_runs"), tenant_id, schedule_id, before, limit
        )
        return [schedule_run_of(row) for row in rows]

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> ScheduleRun:
        row = await self._database.fetchrow(query("get_schedule_run"), tenant_id, run_id)
        if row is None:
            raise NotFound(f"no run {run_id}")
        return schedule_run_of(row)

    async def list_run_events(
        self, tenant_id: UUID, run_id: UUID, after: int, limit: int
    ) -> Sequence[RunEvent]:
        rows = await self._database.fetch(query("list_run_events"), tenant_id, run_id, after, limit)
        return [
            RunEvent(row["number"], row["at"], row["kind"], from_json(row["data"])) for row in rows
        ]


def schedule_of(row: Row) -> Schedule:
    definition = ScheduleDefinition(
        graph_id=row["graph_id"],
        cron=row["cron"],
        timezone=row["timezone"],
        input=from_json(row["input"]),
        name=row["name"],
        concurrency=Concurrency(row["concurrency"]),
        limits=_limits_of(from_json(row["limits"])),
        requires=tuple(row["requires"]),
        enabled=row["enabled"],
    )
    return Schedule(
        row["id"],
        row["tenant_id"],
        row["user_id"],
        row["grant_id"],
        definition,
        row["created_at"],
        row["updated_at"],
        row["deleted_at"],
        row["revision"],
        row["last_run_at"],
        row["last_ended_at"],
        row["next_run_at"],
    )


def definition_values(definition: ScheduleDefinition) -> tuple[Any, ...]:
    """In the order of insert_schedule and save_schedule."""
    return (
        None if definition.name is None else to_text(definition.name),
        to_text(definition.graph_id),
        to_json(dict(definition.input)),
        definition.cron,
        definition.timezone,
        definition.concurrency,
        to_json({**asdict(definition.limits), "time": definition.limits.time.total_seconds()}),
        list(definition.requires),
        definition.enabled,
    )


def _limits_of(stored: dict[str, Any]) -> GraphLimits:
    return GraphLimits(timedelta(seconds=stored.pop("time")), **stored)


def schedule_run_of(row: Row) -> ScheduleRun:
    code = row["error_code"]
    return ScheduleRun(
        schedule_id=row["schedule_id"],
        tenant_id=row["tenant_id"],
        user_id=row["user_id"],
        slot_at=row["slot_at"],
        status=SlotStatus(row["status"]),
        id=row["id"],
        is_manual=row["is_manual"],
        attempt=row["attempt"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        output=from_json(row["output"]),
        error_code=None if code is None else ErrorCode(code),
        error_message=row["error_message"],
        last_lines=row["last_lines"],
        reason=row["reason"],
        skipped_slots=row["skipped_slots"],
        question=from_json(row["question"]),
        answered_at=row["answered_at"],
        answer_to=row["answer_to"],
        credits=row.get("credits", 0),
    )
