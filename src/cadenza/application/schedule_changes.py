"""What happens to a schedule within a transaction, whoever asks: a request, or a file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cadenza.application.grants import NewGrant, add_grant, revoke_grant
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.store import Channel, Transaction
from cadenza.application.recording import record
from cadenza.application.slots import slot_job
from cadenza.domain.access import Caller
from cadenza.domain.billing import Account, ModelApi, TokenUsage, check_credits
from cadenza.domain.cron import Cron
from cadenza.domain.errors import InvalidInput
from cadenza.domain.grant import EXECUTE, Grant, refusal
from cadenza.domain.schedule import Schedule, ScheduleDefinition, check_schedule
from cadenza.domain.slot import next_slot

DELETED = "its schedule was deleted before it started"


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """With a grant that the owner has, or one that is made for it at an account's cost."""

    definition: ScheduleDefinition
    grant_id: UUID | None = None
    account_id: UUID | None = None  # None: the tenant's only one


class ScheduleChanges:
    """The slot that waits changes with its schedule."""

    def __init__(self, prices: Prices, cron: Cron, new_id: Callable[[], UUID]) -> None:
        self._prices = prices
        self._cron = cron
        self._new_id = new_id

    async def add(
        self,
        tx: Transaction,
        caller: Caller,
        schedule_id: UUID,
        wanted: NewSchedule,
        accounts: Sequence[Account],
    ) -> Schedule:
        """Of the accounts there is one where none is named."""
        now = await tx.time()
        self.check(wanted.definition, now)
        grant = await self._grant(tx, caller, wanted, accounts, schedule_id)
        check_credits(await tx.lock_account(caller.tenant_id, grant.account_id))
        schedule = Schedule(
            *(schedule_id, caller.tenant_id, caller.user_id, grant.id, wanted.definition, now, now)
        )
        await tx.insert_schedule(schedule)
        schedule = await self._enqueue_next(tx, schedule, now)
        data = {"graph_id": wanted.definition.graph_id, "cron": wanted.definition.cron}
        await record(tx, caller.actor, caller.tenant_id, "schedule.create", schedule_id, data)
        return schedule

    async def redefine(
        self,
        tx: Transaction,
        caller: Caller,
        schedule: Schedule,
        definition: ScheduleDefinition,
        fields: Sequence[str],
    ) -> Schedule:
        """Of a schedule that is locked."""
        now = await tx.time()
        self.check(definition, now)
        changed = replace(
            schedule, definition=definition, revision=schedule.revision + 1, updated_at=now
        )
        await tx.save_schedule(changed)
        await tx.remove_waiting_slot(schedule.id)
        changed = await self._enqueue_next(tx, changed, now)
        data = {"fields": list(fields)}
        await record(tx, caller.actor, caller.tenant_id, "schedule.change", schedule.id, data)
        return changed

    async def end(self, tx: Transaction, caller: Caller, schedule: Schedule) -> None:
        """Its history stays; the grant that was made for it ends with it."""
        now = await tx.time()
        await tx.save_schedule(replace(schedule, deleted_at=now, updated_at=now))
        await tx.remove_waiting_slots(schedule.id)
        unstarted = [run.id for run in await tx.running_runs(schedule.id) if not run.started_at]
        await tx.cancel_runs([run_id for run_id in unstarted if run_id], DELETED)
        grant, _ = await tx.lock_grant(caller.tenant_id, schedule.grant_id)
        if grant.schedule_id == schedule.id:
            await revoke_grant(tx, caller.actor, caller.tenant_id, grant.id)
        await record(tx, caller.actor, caller.tenant_id, "schedule.delete", schedule.id)

    def check(self, definition: ScheduleDefinition, now: datetime) -> None:
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

    async def _grant(
        self,
        tx: Transaction,
        caller: Caller,
        wanted: NewSchedule,
        accounts: Sequence[Account],
        schedule_id: UUID,
    ) -> Grant:
        graph_id = wanted.definition.graph_id
        if wanted.grant_id is None:
            account_id = wanted.account_id or _only(accounts).id
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


def _only(accounts: Sequence[Account]) -> Account:
    if len(accounts) == 1:
        return accounts[0]
    fix = "name the account that pays" if accounts else "create one: `cadenza accounts create`"
    raise InvalidInput("account_id", None, fix)
