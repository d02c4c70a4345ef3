"""A transaction's verbs for schedules, and for slots as their owners change them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from cadenza.adapters.memory.rows import SlotRow
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.schedules import SlotJob
from cadenza.application.ports.store import Channel
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.graph import ErrorCode
from cadenza.domain.schedule import Schedule
from cadenza.domain.schedule_difference import StoredSchedule
from cadenza.domain.slot import (
    ScheduleRun,
    SlotStatus,
)


class MemoryScheduleRows(Writes):
    async def insert_schedule(self, schedule: Schedule) -> None:
        self._put_schedule(schedule)

    async def lock_schedule(self, tenant_id: UUID, schedule_id: UUID) -> tuple[Schedule, datetime]:
        schedule = self._tables.schedule(tenant_id, schedule_id)
        if schedule.deleted_at is not None:
            raise NotFound(f"no schedule {schedule_id}")
        return schedule, self._now

    async def declared_schedules(self, tenant_id: UUID) -> Sequence[StoredSchedule]:
        tables, rows = self._tables, list[StoredSchedule]()
        for schedule in tables.schedules.values():
            is_named = schedule.definition.name is not None and schedule.deleted_at is None
            if is_named and schedule.tenant_id == tenant_id:
                grant = tables.grants[schedule.grant_id].grant
                account = tables.accounts[grant.account_id]
                current = tables.schedule(tenant_id, schedule.id)
                rows.append(StoredSchedule(current, account.id, account.name))
        return sorted(rows, key=lambda row: row.declared.name)

    async def save_schedule(self, schedule: Schedule) -> None:
        self._put_schedule(schedule)

    async def add_jobs(self, jobs: Sequence[SlotJob]) -> None:
        for job in jobs:
            schedule = self._tables.schedules[UUID(job.queue_name)]
            is_manual = bool(job.payload.get("is_manual"))
            key = (schedule.id, job.run_at)
            if key in self._tables.slots or (not is_manual and self._waiting(schedule.id)):
                continue
            run = ScheduleRun(
                schedule.id,
                schedule.tenant_id,
                schedule.user_id,
                job.run_at,
                SlotStatus.SCHEDULED,
                is_manual=is_manual,
                answer_to=job.payload.get("answer_to"),
            )
            definition = schedule.definition
            row = SlotRow(run, definition.concurrency, definition.requires)
            self._put(self._tables.slots, key, row)

    async def remove_waiting_slot(self, schedule_id: UUID) -> None:
        for row in self._waiting(schedule_id):
            self._delete(self._tables.slots, (schedule_id, row.run.slot_at))

    async def remove_waiting_slots(self, schedule_id: UUID) -> None:
        for row in self._slots_of(schedule_id):
            if row.run.status is SlotStatus.SCHEDULED:
                self._delete(self._tables.slots, (schedule_id, row.run.slot_at))

    async def running_runs(self, schedule_id: UUID) -> Sequence[ScheduleRun]:
        return [
            row.run
            for row in self._slots_of(schedule_id)
            if row.run.status is SlotStatus.RUNNING
            or (row.run.status is SlotStatus.SCHEDULED and row.run.is_manual)
        ]

    async def lock_run(self, tenant_id: UUID, run_id: UUID) -> ScheduleRun:
        return self._tables.slot(tenant_id, run_id).run

    async def cancel_runs(self, run_ids: Sequence[UUID], reason: str) -> None:
        for row in list(self._tables.slots.values()):
            if row.run.id in run_ids and row.run.status is SlotStatus.RUNNING:
                self._cancel(row, reason)
                self._change_schedule(row.run.schedule_id, last_ended_at=self._now)

    async def note_answer(self, run_id: UUID, answer: Any) -> None:
        row = next(row for row in self._tables.slots.values() if row.run.id == run_id)
        self._save(row, answer=answer, run=replace(row.run, answered_at=self._now))

    def _put_schedule(self, schedule: Schedule) -> None:
        name = schedule.definition.name
        others = (other for other in self._tables.schedules.values() if other.id != schedule.id)
        if name is not None and schedule.deleted_at is None:
            for other in others:
                is_same = (other.tenant_id, other.definition.name) == (schedule.tenant_id, name)
                if is_same and other.deleted_at is None:
                    taken = "a schedule of that name exists; choose another"
                    raise AlreadyThere("name", name, taken)
        self._put(self._tables.schedules, schedule.id, replace(schedule, next_run_at=None))

    def _change_schedule(self, schedule_id: UUID, **changes: Any) -> None:
        schedule = self._tables.schedules[schedule_id]
        self._put(self._tables.schedules, schedule_id, replace(schedule, **changes))

    def _slots_of(self, schedule_id: UUID) -> list[SlotRow]:
        rows = self._tables.slots.values()
        return [row for row in rows if row.run.schedule_id == schedule_id]

    def _waiting(self, schedule_id: UUID) -> list[SlotRow]:
        return [row for row in self._slots_of(schedule_id) if row.is_waiting]

    def _save(self, row: SlotRow, **changes: Any) -> SlotRow:
        changed = replace(row, **changes)
        self._put(self._tables.slots, (row.run.schedule_id, row.run.slot_at), changed)
        return changed

    def _cancel(self, row: SlotRow, reason: str) -> None:
        run = replace(
            row.run,
            status=SlotStatus.CANCELLED,
            reason=reason,
            finished_at=self._now,
            error_code=ErrorCode.ABORTED,
        )
        self._save(row, run=run, epoch=row.epoch + 1, lease_until=None)
        self._channels[Channel.CANCELLED] = None
