"""Schedules and their runs, read."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from cadenza.adapters.memory.tables import Tables
from cadenza.domain.schedule import Schedule
from cadenza.domain.slot import RunEvent, ScheduleRun


class MemoryScheduleReads:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def get_schedule(self, tenant_id: UUID, schedule_id: UUID) -> Schedule:
        return self._tables.schedule(tenant_id, schedule_id)

    async def list_schedules(
        self, tenant_id: UUID, name: str | None, after: UUID | None, limit: int
    ) -> Sequence[Schedule]:
        ids = sorted(
            schedule.id
            for schedule in self._tables.schedules.values()
            if schedule.tenant_id == tenant_id
            and schedule.deleted_at is None
            and name in (None, schedule.definition.name)
            and (after is None or schedule.id > after)
        )
        return [self._tables.schedule(tenant_id, schedule_id) for schedule_id in ids[:limit]]

    async def list_runs(
        self,
        tenant_id: UUID,
        schedule_id: UUID | None,
        before: datetime | None,
        limit: int,
    ) -> Sequence[ScheduleRun]:
        runs = [
            self._with_cost(row.run)
            for row in self._tables.slots.values()
            if row.tenant_id == tenant_id
            and schedule_id in (None, row.run.schedule_id)
            and (before is None or row.run.slot_at < before)
        ]
        return sorted(runs, key=lambda run: run.slot_at, reverse=True)[:limit]

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> ScheduleRun:
        return self._with_cost(self._tables.slot(tenant_id, run_id).run)

    async def list_run_events(
        self, tenant_id: UUID, run_id: UUID, after: int, limit: int
    ) -> Sequence[RunEvent]:
        self._tables.slot(tenant_id, run_id)
        events = self._tables.run_events.get(run_id, ())
        return [event for event in events if event.number > after][:limit]

    def _with_cost(self, run: ScheduleRun) -> ScheduleRun:
        charges = (row.charge for row in self._tables.charges.values())
        return replace(
            run, credits=sum(charge.credits for charge in charges if charge.run_id == run.id)
        )
