"""The queue of slots that graph workers take from.

One transaction takes a due slot and inserts the next one, so that no error can break the chain. A
start is stored before any user code runs; from then on the slot is never started again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, FinishReport, Renewal
from cadenza.application.ports.schedules import RUN_TASK, SlotJob
from cadenza.application.ports.store import Channel, Store, Transaction
from cadenza.application.starting import LOCKED, Refusals, refused_starts
from cadenza.domain.audit import PendingEvent
from cadenza.domain.cron import Cron
from cadenza.domain.instants import iso
from cadenza.domain.schedule import Schedule
from cadenza.domain.slot import (
    GRACE,
    DueSlot,
    FinishedSlot,
    SlotClaim,
    SlotDecision,
    decide,
    is_exclusive,
    job_key,
    missed,
    next_slot,
)


def slot_job(schedule: Schedule, run_at: datetime, **payload: object) -> SlotJob:
    """The arguments of `add_job(task, payload, run_at, job_key, queue_name)` for one slot."""
    payload = {"schedule_id": str(schedule.id), "scheduled_for": iso(run_at), **payload}
    return SlotJob(RUN_TASK, payload, run_at, job_key(schedule.id, run_at), str(schedule.id))


class ClaimedSlots:
    def __init__(
        self,
        store: Store,
        cron: Cron,
        new_id: Callable[[], UUID],
        labels: Sequence[str] = (),
        grace: timedelta = GRACE,
    ) -> None:
        self._store = store
        self._cron = cron
        self._new_id = new_id
        self._labels = labels
        self._grace = grace

    # --- Claim ----------------------------------------------------------------------------

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[SlotClaim]:
        async with self._store.transaction() as tx:
            lost = await tx.take_lost_slots(request)
            room = request.limit - len(lost)
            due = await tx.lock_due_slots(replace(request, limit=room), self._labels)
            decisions = [
                (slot, decide(slot, due.now, self._cron, self._grace)) for slot in due.slots
            ]
            within = list(_within_limits(decisions, request))
            claims = await self._carry_out(tx, within, request)
        is_backlog = len(due.slots) >= room or len(within) < len(decisions)
        next_slots = [decision.next_at for _, decision in decisions if decision.next_at]
        next_due_at = min([*next_slots, *filter(None, [due.next_due_at])], default=None)
        return ClaimBatch([*lost, *claims], next_due_at, backlog=is_backlog)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[SlotClaim]:
        """The sweep: takes over lost runs, and gives every schedule without a slot exactly one
        ahead."""
        async with self._store.transaction() as tx:
            now, broken = await tx.lock_broken_chains(self._grace)
            await self._carry_out(tx, [*self._mended(broken, now)], request)
            return await tx.take_lost_slots(request)

    def _mended(
        self, broken: Iterable[DueSlot], now: datetime
    ) -> Iterable[tuple[DueSlot, SlotDecision]]:
        for slot in broken:
            definition, ended_at = slot.schedule.definition, slot.schedule.last_ended_at
            if slot.slot_at >= now:  # nothing waited
                yield slot, SlotDecision(next_slot(definition, now, self._cron), "", 0)
            elif ended_at is None or ended_at < now - self._grace:  # else a claim may start it
                yield slot, missed(definition, slot.slot_at, now, self._cron)

    async def _carry_out(
        self,
        tx: Transaction,
        wanted: Sequence[tuple[DueSlot, SlotDecision]],
        request: ClaimRequest,
    ) -> Sequence[SlotClaim]:
        skips = [
            (slot, decision, self._new_id())
            for slot, decision in wanted
            if decision.skip_reason and decision.skipped_slots
        ]
        starts = [(slot, self._new_id()) for slot, choice in wanted if choice.skip_reason is None]
        if skips:
            await tx.skip_slots(skips)
            await tx.add_events([_skipped(slot, decision) for slot, decision, _ in skips])
        claims = await tx.start_slots(starts, request) if starts else list[SlotClaim]()
        jobs = [
            slot_job(slot.schedule, decision.next_at)
            for slot, decision in wanted
            if decision.next_at is not None
        ]
        if jobs:
            await tx.add_jobs(jobs)
        return claims

    # --- Start ----------------------------------------------------------------------------

    async def start(self, claims: Sequence[SlotClaim]) -> Refusals:
        """Record that they start; runs that are not returned as refused may begin."""
        async with self._store.transaction() as tx:
            starting, locked = await tx.lock_starting(claims)
            run_ids = [claim.run_id for claim in claims if claim.run_id not in locked]
            refusals = await refused_starts(tx, run_ids, starting)
            good = [claim for claim in claims if claim.run_id not in {*refusals, *locked}]
            if good:
                await tx.note_started(good)
        return {**refusals, **dict.fromkeys(locked, LOCKED)}

    # --- Keep and end ---------------------------------------------------------------------

    async def renew(self, claims: Sequence[SlotClaim], lease: timedelta) -> Renewal:
        async with self._store.transaction() as tx:
            return await tx.renew_slots(claims, lease)

    async def finish(self, finished: Sequence[FinishedSlot]) -> FinishReport:
        async with self._store.transaction() as tx:
            closed = await tx.close_slots(finished)
            next_at = closed.next_slot_at
            ended = [slot for slot in finished if slot.claim.run_id in closed.stored]
            if ended:
                await tx.add_events([_ended(slot) for slot in ended])
            if next_at is not None and next_at <= await tx.time():
                await tx.notify(Channel.SLOTS)  # what waited behind it
        late = frozenset(slot.claim.run_id for slot in finished) - closed.stored - closed.locked
        return FinishReport(late, next_at, closed.locked)

    async def give_back(self, claims: Sequence[SlotClaim]) -> None:
        async with self._store.transaction() as tx:
            await tx.end_leases(claims)
            await tx.notify(Channel.SLOTS)


def _within_limits(
    decisions: Sequence[tuple[DueSlot, SlotDecision]], request: ClaimRequest
) -> Iterable[tuple[DueSlot, SlotDecision]]:
    """No tenant beyond its limit, and one run of an exclusive schedule at a time; the others
    wait."""
    tenants = Counter(request.busy_tenants)
    started: set[UUID] = set()
    for slot, decision in decisions:
        schedule = slot.schedule
        if decision.skip_reason is None:
            is_second = schedule.id in started and is_exclusive(schedule)
            if is_second or tenants[schedule.tenant_id] >= request.per_tenant:
                continue
            started.add(schedule.id)
            tenants[schedule.tenant_id] += 1
        yield slot, decision


def _skipped(slot: DueSlot, decision: SlotDecision) -> PendingEvent:
    return _event(
        slot.schedule,
        "skipped",
        slot_at=iso(slot.slot_at),
        reason=decision.skip_reason,
        skipped_slots=decision.skipped_slots,
    )


def _ended(slot: FinishedSlot) -> PendingEvent:
    return _event(
        slot.claim.schedule,
        slot.status,
        run_id=str(slot.claim.run_id),
        slot_at=iso(slot.claim.slot_at),
        reason=slot.reason,
        error_code=slot.result.error,
    )


def _event(schedule: Schedule, what: str, **data: object) -> PendingEvent:
    data = {"schedule_id": str(schedule.id), "name": schedule.label, **data}
    return PendingEvent(f"schedule.run.{what}", schedule.tenant_id, data=data)
