"""Use cases of graph schedules and their runs."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.schedules import ScheduleReads
from cadenza.application.ports.store import Channel, Store
from cadenza.application.recording import check_revision, created_before, record
from cadenza.application.schedule_changes import NewSchedule, ScheduleChanges
from cadenza.application.slots import slot_job
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.billing import Account
from cadenza.domain.cron import Cron
from cadenza.domain.errors import AlreadyRunning, NotFound, Refused
from cadenza.domain.graph import check_size
from cadenza.domain.schedule import Concurrency, Schedule, ScheduleDefinition
from cadenza.domain.slot import ScheduleRun, SlotStatus, next_slot

Revisions = frozenset[int] | None


class SchedulePatch(Protocol):
    def applied_to(self, definition: ScheduleDefinition) -> ScheduleDefinition: ...

    @property
    def fields(self) -> list[str]: ...


class Schedules:
    def __init__(
        self,
        store: Store,
        reads: ScheduleReads,
        billing: BillingReads,
        changes: ScheduleChanges,
        cron: Cron,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._reads = reads
        self._billing = billing
        self._changes = changes
        self._cron = cron
        self._new_id = new_id

    # --- Create, change, end --------------------------------------------------------------

    async def create(
        self, caller: Caller, wanted: NewSchedule, sent: IdempotencyRecord | None = None
    ) -> tuple[Schedule, bool]:
        """Returns the schedule, and whether an earlier identical request had created it."""
        accounts = await self._candidates(caller, wanted)
        schedule_id = self._new_id()
        async with self._store.transaction() as tx:
            existing = await created_before(tx, caller.tenant_id, sent, schedule_id)
            if existing is not None:
                return (await tx.lock_schedule(caller.tenant_id, existing))[0], True
            return await self._changes.add(tx, caller, schedule_id, wanted, accounts), False

    async def _candidates(self, caller: Caller, wanted: NewSchedule) -> Sequence[Account]:
        if wanted.grant_id is not None or wanted.account_id is not None:
            return ()
        return await self._billing.list_accounts(caller.tenant_id, None, None, 2)

    async def change(
        self, caller: Caller, schedule_id: UUID, patch: SchedulePatch, expected: Revisions = None
    ) -> Schedule:
        async with self._store.transaction() as tx:
            schedule, _ = await tx.lock_schedule(caller.tenant_id, schedule_id)
            check_revision(schedule.revision, expected)
            definition = patch.applied_to(schedule.definition)
            if definition == schedule.definition:
                return schedule
            return await self._changes.redefine(tx, caller, schedule, definition, patch.fields)

    async def delete(self, caller: Caller, schedule_id: UUID, expected: Revisions = None) -> None:
        async with self._store.transaction() as tx:
            schedule, _ = await tx.lock_schedule(caller.tenant_id, schedule_id)
            check_revision(schedule.revision, expected)
            await self._changes.end(tx, caller, schedule)

    # --- Runs -----------------------------------------------------------------------------

    async def run_now(self, caller: Caller, schedule_id: UUID) -> datetime:
        """Adds a slot at this instant, and returns it."""
        async with self._store.transaction() as tx:
            schedule, now = await tx.lock_schedule(caller.tenant_id, schedule_id)
            is_forbidden = schedule.definition.concurrency is Concurrency.FORBID
            if is_forbidden and await tx.running_runs(schedule_id):
                raise AlreadyRunning("a run of this schedule is under way, or about to start")
            await tx.add_jobs([slot_job(schedule, now, is_manual=True)])
            await tx.notify(Channel.SLOTS)
            await record(tx, caller.actor, caller.tenant_id, "schedule.run", schedule_id)
        return now

    async def get_run(self, caller: Caller, schedule_id: UUID, run_id: UUID) -> ScheduleRun:
        run = await self._reads.get_run(caller.tenant_id, run_id)
        _check_belongs(run, schedule_id)
        return run

    async def cancel(self, caller: Caller, schedule_id: UUID, run_id: UUID) -> None:
        async with self._store.transaction() as tx:
            run = await tx.lock_run(caller.tenant_id, run_id)
            _check_belongs(run, schedule_id)
            if run.status is not SlotStatus.RUNNING:
                raise Refused(f"only a run that is under way can be cancelled; it is {run.status}")
            await tx.cancel_runs([run_id], f"cancelled by {caller.actor.public_name}")
            await tx.notify(Channel.SLOTS)  # what waited behind it
            await record(tx, caller.actor, caller.tenant_id, "schedule.cancel", run_id)

    async def answer(
        self, caller: Caller, schedule_id: UUID, run_id: UUID, answer: Any
    ) -> datetime:
        """Answer a run's question; the graph goes on as a new run of the same schedule, once."""
        check_size("answer", answer)
        async with self._store.transaction() as tx:
            schedule, now = await tx.lock_schedule(caller.tenant_id, schedule_id)
            run = await tx.lock_run(caller.tenant_id, run_id)
            _check_belongs(run, schedule_id)
            _check_waits(run)
            await tx.note_answer(run_id, answer)
            await tx.add_jobs([slot_job(schedule, now, is_manual=True, answer_to=run_id)])
            await tx.notify(Channel.SLOTS)
            await record(tx, caller.actor, caller.tenant_id, "schedule.answer", run_id)
        return now

    def next_runs(self, schedule: Schedule, count: int) -> Sequence[datetime]:
        """The waiting slot, and those after it."""
        runs: list[datetime] = []
        next_at = schedule.next_run_at
        while next_at is not None and len(runs) < count:
            runs.append(next_at)
            next_at = next_slot(schedule.definition, next_at, self._cron)
        return runs


def _check_belongs(run: ScheduleRun, schedule_id: UUID) -> None:
    if run.schedule_id != schedule_id:
        raise NotFound(f"no run {run.id} of this schedule")


def _check_waits(run: ScheduleRun) -> None:
    if run.status is not SlotStatus.WAITING:
        raise Refused(f"this run does not wait for an answer; it is {run.status}")
    if run.answered_at is not None:
        raise Refused("it has been answered already")
