"""Changes of a schedule within a transaction, for requests and for files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cadenza.application.grants import revoke_grant
from cadenza.application.graph_grants import GrantChoice, GraphGrants, chosen_account
from cadenza.application.ports.store import Channel, Transaction
from cadenza.application.recording import record
from cadenza.application.slots import slot_job
from cadenza.domain.access import Caller
from cadenza.domain.billing import Account
from cadenza.domain.cron import Cron
from cadenza.domain.schedule import Schedule, ScheduleDefinition, check_schedule
from cadenza.domain.slot import next_slot

DELETED = "its schedule was deleted before it started"


@dataclass(frozen=True, slots=True)
class NewSchedule:
    """With an existing grant of the owner, or a new one for an account."""

    definition: ScheduleDefinition
    grant_id: UUID | None = None
    account_id: UUID | None = None  # None: the tenant's only one


class ScheduleChanges:
    """Every change of a schedule also replaces its waiting slot."""

    def __init__(self, grants: GraphGrants, cron: Cron) -> None:
        self._grants = grants
        self._cron = cron

    async def add(
        self,
        tx: Transaction,
        caller: Caller,
        schedule_id: UUID,
        wanted: NewSchedule,
        accounts: Sequence[Account],
    ) -> Schedule:
        """Where the file or request names no account, there is exactly one."""
        now = await tx.time()
        self.check(wanted.definition, now)
        grant = await self._grants.take(tx, caller, _choice(wanted, accounts, schedule_id))
        schedule = Schedule(
            schedule_id, caller.tenant_id, caller.user_id, grant.id, wanted.definition, now, now
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
        """Change a schedule that is locked."""
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
        """Its history stays; a grant that was made for it is revoked."""
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
        self._grants.check_model(definition.model)

    async def _enqueue_next(self, tx: Transaction, schedule: Schedule, now: datetime) -> Schedule:
        """Never a slot that was claimed already: claims reach a little ahead of the slot's time."""
        if not schedule.definition.enabled:
            return replace(schedule, next_run_at=None)
        after = max(now, schedule.last_run_at or now)
        next_at = next_slot(schedule.definition, after, self._cron)
        if next_at is not None:
            await tx.add_jobs([slot_job(schedule, next_at)])
            await tx.notify(Channel.SLOTS)
        return replace(schedule, next_run_at=next_at)


def _choice(wanted: NewSchedule, accounts: Sequence[Account], schedule_id: UUID) -> GrantChoice:
    account_id = wanted.account_id
    if wanted.grant_id is None and account_id is None:
        account_id = chosen_account(accounts, field="account_id").id
    graph_id = wanted.definition.graph_id
    return GrantChoice(graph_id, wanted.grant_id, account_id, schedule_id=schedule_id)
