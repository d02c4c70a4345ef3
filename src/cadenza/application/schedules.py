"""What owners do with schedules of graphs. The slot that waits changes with its schedule."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from cadenza.application.grants import NewGrant, add_grant, revoke_grant
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.schedules import ScheduleReads
from cadenza.application.ports.store import Channel, Store, Transaction
from cadenza.application.recording import check_revision, created_before, record
from cadenza.application.slots import slot_job
from cadenza.domain.access import Caller
from cadenza.domain.audit import IdempotencyRecord
from cadenza.domain.billing import ModelApi, TokenUsage, check_credits
from cadenza.domain.cron import Cron
from cadenza.domain.errors import AlreadyRunning, InvalidInput, Refused
from cadenza.domain.grant import EXECUTE, Grant, refusal
from cadenza.domain.schedule import Concurrency, Schedule, ScheduleDefinition, check_schedule
from cadenza.domain.slot import ScheduleRun, SlotStatus, next_slot

Revisions = frozenset[int] | None


class SchedulePatch(Protocol):
    def applied_to(self, definition: ScheduleDefinition) -> ScheduleDefinition: ...

    @property
    def fields(self) -> list[str]: ...


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """With a grant that the owner has, or one that is made for it at an account's cost."""

    definition: ScheduleDefinition
    grant_id: UUID | None = None
    account_id: UUID | None = None  # None: the tenant's only one


class Schedules:
    def __init__(
        self,
        store: Store,
        reads: ScheduleReads,
        billing: BillingReads,
        prices: Prices,
        cron: Cron,
        new_id: Callable[[], UUID],
    ) -> None:
        self._store = store
        self._reads = reads
        self._billing = billing
        self._prices = prices
        self._cron = cron
        self._new_id = new_id

    # --- Create, change, end --------------------------------------------------------------

    async def create(
        self, caller: Caller, wanted: NewSchedule, sent: IdempotencyRecord | None = None
    ) -> tuple[Schedule, bool]:
        """The schedule, and whether the same request had made it before."""
        account_id = wanted.account_id or await self._only_account(caller, wanted)
        schedule_id, tenant_id = self._new_id(), caller.tenant_id
        async with self._store.transaction() as tx:
            existing = await created_before(tx, tenant_id, sent, schedule_id)
            if existing is not None:
                return (await tx.lock_schedule(tenant_id, existing))[0], True
            now = await tx.time()
            self._check(wanted.definition, now)
            grant = await self._grant(tx, caller, wanted, account_id, schedule_id)
            check_credits(await tx.lock_account(tenant_id, grant.account_id))
            schedule = Schedule(
                *(schedule_id, tenant_id, caller.user_id, grant.id, wanted.definition, now, now)
            )
            await tx.insert_schedule(schedule)
            schedule = await self._enqueue_next(tx, schedule, now)
            data = {"graph_id": wanted.definition.graph_id, "cron": wanted.definition.cron}
            await record(tx, caller.actor, tenant_id, "schedule.create", schedule_id, data)
        return schedule, False

    async def change(
        self, caller: Caller, schedule_id: UUID, patch: SchedulePatch, expected: Revisions = None
    ) -> Schedule:
        async with self._store.transaction() as tx:
            schedule, now = await tx.lock_schedule(caller.tenant_id, schedule_id)
            check_revision(schedule.revision, expected)
            definition = patch.applied_to(schedule.definition)
            if definition == schedule.definition:
                return schedule
            self._check(definition, now)
            changed = replace(schedule, definition=definition, revision=schedule.revision + 1)
            await tx.save_schedule(changed)
            await tx.remove_waiting_slot(schedule_id)
            changed = await self._enqueue_next(tx, changed, now)
            data = {"fields": patch.fields}
            await record(tx, caller.actor, caller.tenant_id, "schedule.change", schedule_id, data)
        return changed

    async def delete(self, caller: Caller, schedule_id: UUID, expected: Revisions = None) -> None:
        """Its history stays; the grant that was made for it ends with it."""
        async with self._store.transaction() as tx:
            schedule, now = await tx.lock_schedule(caller.tenant_id, schedule_id)
            check_revision(schedule.revision, expected)
            await tx.save_schedule(replace(schedule, deleted_at=now))
            await tx.remove_waiting_slot(schedule_id)
            grant, _ = await tx.lock_grant(caller.tenant_id, schedule.grant_id)
            if grant.schedule_id == schedule_id:
                await revoke_grant(tx, caller.actor, caller.tenant_id, grant.id)
            await record(tx, caller.actor, caller.tenant_id, "schedule.delete", schedule_id)

    # --- Runs -----------------------------------------------------------------------------

    async def run_now(self, caller: Caller, schedule_id: UUID) -> datetime:
        """A slot of its own, at this instant, which is given back."""
        async with self._store.transaction() as tx:
            schedule, now = await tx.lock_schedule(caller.tenant_id, schedule_id)
            is_forbidden = schedule.definition.concurrency is Concurrency.FORBID
            if is_forbidden and await tx.running_runs(schedule_id):
                raise AlreadyRunning("a run of this schedule is under way, or about to start")
            await tx.add_jobs([slot_job(schedule, now, is_manual=True)])
            await tx.notify(Channel.SLOTS)
            await record(tx, caller.actor, caller.tenant_id, "schedule.run", schedule_id)
        return now

    async def cancel(self, caller: Caller, run_id: UUID) -> None:
        async with self._store.transaction() as tx:
            run = await tx.lock_run(caller.tenant_id, run_id)
            if run.status is not SlotStatus.RUNNING:
                raise Refused(f"only a run that is under way can be cancelled; it is {run.status}")
            await tx.cancel_runs([run_id], f"cancelled by {caller.actor.public_name}")
            await record(tx, caller.actor, caller.tenant_id, "schedule.cancel", run_id)

    async def answer(self, caller: Caller, run_id: UUID, answer: Any) -> datetime:
        """What a run asked; it goes on as a new run of the same schedule, once."""
        asked = await self._reads.get_run(caller.tenant_id, run_id)
        async with self._store.transaction() as tx:
            schedule, now = await tx.lock_schedule(caller.tenant_id, asked.schedule_id)
            _check_waits(await tx.lock_run(caller.tenant_id, run_id))
            await tx.note_answer(run_id, answer)
            await tx.add_jobs([slot_job(schedule, now, is_manual=True, answer_to=run_id)])
            await tx.notify(Channel.SLOTS)
            await record(tx, caller.actor, caller.tenant_id, "schedule.answer", run_id)
        return now

    # --- Parts ----------------------------------------------------------------------------

    def next_runs(self, schedule: Schedule, count: int) -> Sequence[datetime]:
        """The slot that waits, and those after it."""
        runs: list[datetime] = []
        next_at = schedule.next_run_at
        while next_at is not None and len(runs) < count:
            runs.append(next_at)
            next_at = next_slot(schedule.definition, next_at, self._cron)
        return runs

    def _check(self, definition: ScheduleDefinition, now: datetime) -> None:
        check_schedule(definition)
        self._cron.next_after(definition.cron, definition.timezone, now)
        if definition.model is not None:
            self._check_price(definition.model)

    def _check_price(self, model: str) -> None:
        """A model that nobody knows the price of is refused here, not at its first call."""
        errors: list[InvalidInput] = []
        for api in ModelApi:
            try:
                self._prices.credits(api, model, TokenUsage())
            except InvalidInput as error:
                errors.append(error)
            else:
                return
        raise InvalidInput("input.model", model, errors[0].fix)

    async def _only_account(self, caller: Caller, wanted: NewSchedule) -> UUID | None:
        if wanted.grant_id is not None:
            return None
        accounts = await self._billing.list_accounts(caller.tenant_id, None, None, 2)
        if len(accounts) == 1:
            return accounts[0].id
        fix = "name the account that pays" if accounts else "create one: `cadenza accounts create`"
        raise InvalidInput("account_id", None, fix)

    async def _grant(
        self,
        tx: Transaction,
        caller: Caller,
        wanted: NewSchedule,
        account_id: UUID | None,
        schedule_id: UUID,
    ) -> Grant:
        graph_id = wanted.definition.graph_id
        if wanted.grant_id is None:
            assert account_id is not None
            await tx.lock_account(caller.tenant_id, account_id)
            new_grant = NewGrant(account_id, (EXECUTE + graph_id,))
            return await add_grant(tx, caller, self._new_id(), new_grant, schedule_id)
        grant, now = await tx.lock_grant(caller.tenant_id, wanted.grant_id)
        if grant.user_id != caller.user_id:
            raise InvalidInput("grant_id", str(grant.id), "a grant that you gave yourself")
        if (refused := refusal(grant, graph_id, now)) is not None:
            fix = f"a grant that is in force and allows {graph_id} (this one: {refused})"
            raise InvalidInput("grant_id", str(grant.id), fix)
        return grant

    async def _enqueue_next(self, tx: Transaction, schedule: Schedule, now: datetime) -> Schedule:
        """Never a slot that was taken already: claims reach a little ahead of their time."""
        if not schedule.definition.enabled:
            return replace(schedule, next_run_at=None)
        after = max(now, schedule.last_run_at or now)
        next_at = next_slot(schedule.definition, after, self._cron)
        if next_at is not None:
            await tx.add_jobs([slot_job(schedule, next_at)])
            await tx.notify(Channel.SLOTS)
        return replace(schedule, next_run_at=next_at)


def _check_waits(run: ScheduleRun) -> None:
    if run.status is not SlotStatus.WAITING:
        raise Refused(f"this run does not wait for an answer; it is {run.status}")
    if run.answered_at is not None:
        raise Refused("it has been answered already")
