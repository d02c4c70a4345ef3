"""A transaction's verbs for schedules and their slots."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cadenza.adapters.memory.rows import SlotRow
from cadenza.adapters.memory.writes import Writes
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.grants import Starting
from cadenza.application.ports.schedules import DueSlots, SlotJob
from cadenza.application.ports.store import Channel
from cadenza.domain.errors import AlreadyThere, NotFound
from cadenza.domain.grant import Grant
from cadenza.domain.graph import ErrorCode, Resume
from cadenza.domain.schedule import Concurrency, Schedule
from cadenza.domain.schedule_difference import StoredSchedule
from cadenza.domain.slot import (
    DueSlot,
    FinishedSlot,
    RunEvent,
    ScheduleRun,
    SlotClaim,
    SlotDecision,
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
                *(schedule.id, schedule.tenant_id, schedule.user_id, job.run_at),
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


class MemorySlotRows(MemoryScheduleRows):
    async def lock_due_slots(self, request: ClaimRequest, labels: Sequence[str]) -> DueSlots:
        now, horizon = self._now, self._now + request.ahead
        scheduled = sorted(
            (row for row in self._tables.slots.values() if row.run.status is SlotStatus.SCHEDULED),
            key=lambda row: row.run.slot_at,
        )
        busy = request.busy_tenants
        due = [
            row.run
            for row in scheduled
            if row.run.slot_at <= horizon
            and set(row.requires) <= set(labels)
            and busy.get(row.tenant_id, 0) < request.per_tenant
            and not (row.concurrency is Concurrency.FORBID and self._is_running(row.run))
        ]
        later = (row.run.slot_at for row in scheduled if row.run.slot_at > horizon)
        slots = [self._due(run, run.slot_at) for run in due[: request.limit]]
        return DueSlots(now, slots, min(later, default=None))

    async def lock_broken_chains(self, grace: timedelta) -> tuple[datetime, Sequence[DueSlot]]:
        now, broken = self._now, list[DueSlot]()
        for schedule in self._tables.schedules.values():
            if not schedule.definition.enabled or schedule.deleted_at is not None:
                continue
            grant = self._grant(schedule)
            waiting = self._waiting(schedule.id)
            if not waiting:
                broken.append(DueSlot(schedule, now, grant))
            elif waiting[0].run.slot_at < now - grace and not self._is_running(waiting[0].run):
                broken.append(DueSlot(schedule, waiting[0].run.slot_at, grant))
        return now, broken

    async def take_lost_slots(self, request: ClaimRequest) -> Sequence[SlotClaim]:
        now = self._now
        lost = [row for row in self._tables.slots.values() if row.is_lost(now)]
        return [self._lease(row, request) for row in lost[: request.limit]]

    async def skip_slots(self, skips: Sequence[tuple[DueSlot, SlotDecision, UUID]]) -> None:
        for due, decision, run_id in skips:
            row = self._tables.slots[due.schedule.id, due.slot_at]
            run = replace(
                row.run,
                status=SlotStatus.SKIPPED,
                id=run_id,
                reason=decision.skip_reason,
                finished_at=self._now,
                skipped_slots=decision.skipped_slots,
            )
            self._save(row, run=run)

    async def start_slots(
        self, starts: Sequence[tuple[DueSlot, UUID]], request: ClaimRequest
    ) -> Sequence[SlotClaim]:
        claims: list[SlotClaim] = []
        for due, run_id in starts:
            schedule = due.schedule
            if schedule.definition.concurrency is Concurrency.REPLACE:
                for other in self._slots_of(schedule.id):
                    if other.run.status is SlotStatus.RUNNING:
                        self._cancel(other, "replaced")
            row = self._tables.slots[schedule.id, due.slot_at]
            run = replace(row.run, id=row.run.id or run_id, status=SlotStatus.RUNNING)
            claims.append(self._lease(replace(row, run=run), request))
            last_at = max(due.slot_at, schedule.last_run_at or due.slot_at)
            self._change_schedule(schedule.id, last_run_at=last_at)
        return claims

    async def renew_slots(self, claims: Sequence[SlotClaim], lease: timedelta) -> frozenset[UUID]:
        held = self._held(claims)
        for row in held.values():
            self._save(row, lease_until=self._now + lease)
        return frozenset(held)

    async def lock_starting(self, claims: Sequence[SlotClaim]) -> Sequence[Starting]:
        held = self._held(claims)
        return [self._starting(claim.request) for claim in claims if claim.run_id in held]

    async def note_started(self, claims: Sequence[SlotClaim]) -> None:
        for row in self._held(claims).values():
            self._save(row, run=replace(row.run, started_at=self._now))

    async def close_slots(
        self, finished: Sequence[FinishedSlot]
    ) -> tuple[frozenset[UUID], datetime | None]:
        stored: set[UUID] = set()
        next_slots: list[datetime] = []
        for slot in finished:
            row = self._tables.slots.get((slot.claim.schedule.id, slot.claim.slot_at))
            if row is None or row.epoch != slot.claim.epoch or not row.is_running:
                continue
            result = slot.result
            run = replace(
                row.run,
                status=slot.status,
                started_at=row.run.started_at or slot.started_at,
                finished_at=self._now,
                output=result.output,
                error_code=result.error,
                error_message=result.message,
                last_lines=result.last_lines,
                reason=slot.reason,
                skipped_slots=int(slot.status is SlotStatus.SKIPPED),
                question=result.question,
            )
            self._save(row, run=run, lease_until=None, state=result.state)
            self._change_schedule(run.schedule_id, last_ended_at=self._now)
            await self.add_run_events(slot.claim, slot.events)
            stored.add(slot.claim.run_id)
            waiting = self._slots_of(run.schedule_id)
            next_slots += [
                row.run.slot_at for row in waiting if row.run.status is SlotStatus.SCHEDULED
            ]
        return frozenset(stored), min(next_slots, default=None)

    async def add_run_events(self, claim: SlotClaim, events: Sequence[RunEvent]) -> None:
        before = self._tables.run_events.get(claim.run_id, ())
        numbers = {event.number for event in before}
        added = [event for event in events if event.number not in numbers]
        self._put(self._tables.run_events, claim.run_id, (*before, *added))

    async def end_leases(self, claims: Sequence[SlotClaim]) -> None:
        for row in self._held(claims).values():
            if row.run.started_at is None:
                self._save(row, lease_until=self._now, epoch=row.epoch + 1)

    # --- Rows and what belongs to them ----------------------------------------------------

    def _grant(self, schedule: Schedule) -> Grant | None:
        row = self._tables.grants.get(schedule.grant_id)
        return None if row is None else row.grant

    def _due(self, run: ScheduleRun, slot_at: datetime) -> DueSlot:
        schedule = self._tables.schedules[run.schedule_id]
        grant = self._grant(schedule)
        return DueSlot(schedule, slot_at, grant, run.is_manual)

    def _is_running(self, run: ScheduleRun) -> bool:
        return any(row.is_running for row in self._slots_of(run.schedule_id))

    def _held(self, claims: Iterable[SlotClaim]) -> dict[UUID, SlotRow]:
        now, held = self._now, dict[UUID, SlotRow]()
        for claim in claims:
            row = self._tables.slots.get((claim.schedule.id, claim.slot_at))
            if row is not None and row.is_held_by(claim, now):
                held[claim.run_id] = row
        return held

    def _lease(self, row: SlotRow, request: ClaimRequest) -> SlotClaim:
        run = row.run
        is_started = run.started_at is not None
        run = replace(run, attempt=run.attempt + (not is_started))
        row = self._save(row, run=run, epoch=row.epoch + 1, lease_until=self._now + request.lease)
        schedule = self._tables.schedules[run.schedule_id]
        grant = self._grant(schedule)
        assert run.id is not None
        resume = None
        if run.answer_to is not None:
            asked = self._tables.slot(run.tenant_id, run.answer_to)
            resume = Resume(asked.state or b"", asked.answer)
        return SlotClaim(
            *(run.id, schedule, grant.account_id if grant else schedule.id, run.slot_at),
            *(row.epoch, run.attempt, run.is_manual, is_started, resume),
        )
