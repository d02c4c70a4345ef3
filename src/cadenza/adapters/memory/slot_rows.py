"""A transaction's verbs for the queue of schedules' slots."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.adapters.memory.rows import SlotRow
from cadenza.adapters.memory.schedule_rows import MemoryScheduleRows
from cadenza.application.ports.claims import ClaimRequest, Renewal
from cadenza.application.ports.grants import Starting
from cadenza.application.ports.schedules import ClosedSlots, DueSlots
from cadenza.domain.claiming import TAKE_TURNS, in_turn
from cadenza.domain.grant import Grant
from cadenza.domain.graph import Resume
from cadenza.domain.schedule import Concurrency, Schedule
from cadenza.domain.slot import (
    DueSlot,
    FinishedSlot,
    RunEvent,
    ScheduleRun,
    SlotClaim,
    SlotDecision,
    SlotStatus,
)


class MemorySlotRows(MemoryScheduleRows):
    async def lock_due_slots(self, request: ClaimRequest, labels: Sequence[str]) -> DueSlots:
        now, horizon = self._now, self._now + request.ahead
        scheduled = sorted(
            (row for row in self._tables.slots.values() if row.run.status is SlotStatus.SCHEDULED),
            key=lambda row: (row.run.slot_at, row.run.schedule_id),
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
        fair = in_turn(due[:TAKE_TURNS], lambda run: run.tenant_id, busy)
        slots = [self._due(run, run.slot_at) for run in fair[: request.limit]]
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

    async def renew_slots(self, claims: Sequence[SlotClaim], lease: timedelta) -> Renewal:
        held = self._held(claims)
        for row in held.values():
            self._save(row, lease_until=self._now + lease)
        return Renewal(frozenset(held))

    async def lock_starting(
        self, claims: Sequence[SlotClaim]
    ) -> tuple[Sequence[Starting], frozenset[UUID]]:
        held = self._held(claims)
        starting = [self._starting(claim.request) for claim in claims if claim.run_id in held]
        return starting, frozenset()

    async def note_started(self, claims: Sequence[SlotClaim]) -> None:
        for row in self._held(claims).values():
            self._save(row, run=replace(row.run, started_at=self._now))

    async def close_slots(self, finished: Sequence[FinishedSlot]) -> ClosedSlots:
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
        return ClosedSlots(frozenset(stored), next_slot_at=min(next_slots, default=None))

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
            run.id,
            schedule,
            grant.account_id if grant else schedule.id,
            run.slot_at,
            row.epoch,
            run.attempt,
            run.is_manual,
            is_started,
            resume,
        )
