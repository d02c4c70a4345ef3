"""The schedules of a file: compared with what is stored, and written with the rest of the file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from cadenza.application.graph_grants import MOST_ACCOUNTS, chosen_account
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.store import Transaction
from cadenza.application.schedule_changes import NewSchedule, ScheduleChanges
from cadenza.domain.access import Caller
from cadenza.domain.billing import Account
from cadenza.domain.difference import ChangeKind
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.schedule import DeclaredSchedule
from cadenza.domain.schedule_difference import ScheduleChange, StoredSchedule, schedule_difference


@dataclass(frozen=True, slots=True)
class WantedSchedules:
    """The schedules of a file, with the accounts that they may name."""

    schedules: Sequence[DeclaredSchedule]
    accounts: Sequence[Account]


class ScheduleManifests:
    def __init__(
        self, changes: ScheduleChanges, billing: BillingReads, new_id: Callable[[], UUID]
    ) -> None:
        self._changes = changes
        self._billing = billing
        self._new_id = new_id

    async def wanted(
        self, caller: Caller, schedules: Sequence[DeclaredSchedule]
    ) -> WantedSchedules:
        if not schedules:
            return WantedSchedules((), ())
        listed = self._billing.list_accounts(caller.tenant_id, None, None, MOST_ACCOUNTS)
        return WantedSchedules(schedules, await listed)

    def difference(
        self,
        stored: Sequence[StoredSchedule],
        wanted: WantedSchedules,
        now: datetime,
        *,
        prune: bool,
    ) -> Sequence[ScheduleChange]:
        """Raises InvalidFields with everything that could not be written."""
        changes = schedule_difference(stored, wanted.schedules, prune=prune)
        named = [_with_account_name(change, wanted.accounts) for change in changes]
        if errors := [error for change in named for error in self._errors(change, wanted, now)]:
            raise InvalidFields(errors)
        return named

    def _errors(
        self, change: ScheduleChange, wanted: WantedSchedules, now: datetime
    ) -> Sequence[InvalidInput]:
        after = change.after
        if after is None or change.kind is ChangeKind.UNCHANGED:
            return ()
        try:
            self._changes.check(after.definition, now)
            if change.kind is ChangeKind.CREATE:
                chosen_account(wanted.accounts, after.account)
        except InvalidInput as error:
            return [InvalidInput(f"{change.path}.{error.field}", error.value, error.fix)]
        return ()

    async def write(
        self,
        tx: Transaction,
        caller: Caller,
        changes: Sequence[ScheduleChange],
        stored: Sequence[StoredSchedule],
        accounts: Sequence[Account],
    ) -> None:
        ids = {row.declared.name: row.schedule.id for row in stored}
        for change in changes:
            if change.kind is ChangeKind.CREATE:
                assert change.after is not None
                account = chosen_account(accounts, change.after.account)
                new = NewSchedule(change.after.definition, account_id=account.id)
                await self._changes.add(tx, caller, self._new_id(), new, ())
            elif change.kind is not ChangeKind.UNCHANGED:
                await self._change(tx, caller, ids[change.name], change)

    async def _change(
        self, tx: Transaction, caller: Caller, schedule_id: UUID, change: ScheduleChange
    ) -> None:
        schedule, _ = await tx.lock_schedule(caller.tenant_id, schedule_id)
        if change.after is None:
            await self._changes.end(tx, caller, schedule)
        else:
            await self._changes.redefine(tx, caller, schedule, change.after.definition, ["file"])


def _with_account_name(change: ScheduleChange, accounts: Sequence[Account]) -> ScheduleChange:
    """A schedule that would be created is shown with its account's name."""
    if change.kind is not ChangeKind.CREATE or change.after is None:
        return change
    try:
        name = chosen_account(accounts, change.after.account).name
    except InvalidInput:
        return change
    return replace(change, after=replace(change.after, account=name))
