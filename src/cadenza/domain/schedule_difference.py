"""From the schedules that are stored to those that a file wants: shown and written as it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from cadenza.domain.difference import ChangeKind
from cadenza.domain.errors import InvalidFields, InvalidInput
from cadenza.domain.schedule import DeclaredSchedule, Schedule

_FIXED = "it cannot be changed; take another name, and this one away"


@dataclass(frozen=True, slots=True)
class StoredSchedule:
    """One that has a name, with the account that pays for it."""

    schedule: Schedule
    account_id: UUID
    account_name: str

    @property
    def declared(self) -> DeclaredSchedule:
        return DeclaredSchedule(self.schedule.definition, self.account_name)


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    kind: ChangeKind
    name: str
    before: DeclaredSchedule | None
    after: DeclaredSchedule | None
    path: str = ""  # in the file


def schedule_difference(
    stored: Sequence[StoredSchedule], wanted: Sequence[DeclaredSchedule], *, prune: bool
) -> tuple[ScheduleChange, ...]:
    """What is wanted in its order, then what is deleted; InvalidFields where graph or account
    would change."""
    present = {row.declared.name: row for row in stored}
    changes: list[ScheduleChange] = []
    errors: list[InvalidInput] = []
    for index, declared in enumerate(wanted):
        path, row = f"schedules[{index}]", present.pop(declared.name, None)
        if row is None:
            changes.append(ScheduleChange(ChangeKind.CREATE, declared.name, None, declared, path))
            continue
        before, after = row.declared, _with_account(declared, row)
        errors += _fixed_fields(path, before, after)
        kind = ChangeKind.UNCHANGED if before == after else ChangeKind.UPDATE
        changes.append(ScheduleChange(kind, after.name, before, after, path))
    if errors:
        raise InvalidFields(errors)
    for name, row in present.items() if prune else ():
        changes.append(ScheduleChange(ChangeKind.DELETE, name, row.declared, None))
    return tuple(changes)


def _with_account(wanted: DeclaredSchedule, row: StoredSchedule) -> DeclaredSchedule:
    """The account by its name, however the file has it."""
    is_same = wanted.account in (None, str(row.account_id))
    return replace(wanted, account=row.account_name) if is_same else wanted


def _fixed_fields(
    path: str, before: DeclaredSchedule, after: DeclaredSchedule
) -> Iterator[InvalidInput]:
    if before.definition.graph_id != after.definition.graph_id:
        yield InvalidInput(f"{path}.graph_id", after.definition.graph_id, _FIXED)
    if before.account != after.account:
        yield InvalidInput(f"{path}.account", after.account, _FIXED)
