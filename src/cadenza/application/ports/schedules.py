"""Schedules and their slots: what is read of them, and a transaction's verbs.

The queue of slots is the table of runs itself. A job's key is unique for ever, so that a slot that
is enqueued twice (by a restart, a retry or a race) is one run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from cadenza.application.ports.claims import ClaimRequest, Renewal
from cadenza.application.ports.grants import Starting
from cadenza.domain.schedule import Schedule
from cadenza.domain.schedule_difference import StoredSchedule
from cadenza.domain.slot import (
    DueSlot,
    FinishedSlot,
    RunEvent,
    ScheduleRun,
    SlotClaim,
    SlotDecision,
)

RUN_TASK = "execute_scheduled_run"


@dataclass(frozen=True, slots=True)
class SlotJob:
    """One job of the queue. Of those with the same queue name one is under way at a time."""

    task: str
    payload: Mapping[str, Any]
    run_at: datetime
    job_key: str
    queue_name: str


@dataclass(frozen=True, slots=True)
class DueSlots:
    now: datetime
    slots: Sequence[DueSlot]
    next_due_at: datetime | None  # the earliest slot beyond those that are due


@dataclass(frozen=True, slots=True)
class ClosedSlots:
    stored: frozenset[UUID]  # run ids
    locked: frozenset[UUID] = frozenset()  # as they were: somebody else holds their rows
    next_slot_at: datetime | None = None  # the earliest of their schedules that waits


class ScheduleReads(Protocol):
    """NotFound for what is not there, or of another tenant."""

    async def get_schedule(self, tenant_id: UUID, schedule_id: UUID) -> Schedule:
        """Also one that is deleted."""
        ...

    async def list_schedules(
        self, tenant_id: UUID, name: str | None, after: UUID | None, limit: int
    ) -> Sequence[Schedule]:
        """Those that are not deleted, of this name or all, by id."""
        ...

    async def list_runs(
        self,
        tenant_id: UUID,
        schedule_id: UUID | None,
        before: datetime | None,
        limit: int,
    ) -> Sequence[ScheduleRun]:
        """Newest slot first; of all schedules where none is named."""
        ...

    async def get_run(self, tenant_id: UUID, run_id: UUID) -> ScheduleRun: ...

    async def list_run_events(
        self, tenant_id: UUID, run_id: UUID, after: int, limit: int
    ) -> Sequence[RunEvent]: ...


class ScheduleRows(Protocol):
    async def insert_schedule(self, schedule: Schedule) -> None:
        """AlreadyThere where its name is taken."""
        ...

    async def lock_schedule(self, tenant_id: UUID, schedule_id: UUID) -> tuple[Schedule, datetime]:
        """Not one that is deleted; also tells the time."""
        ...

    async def declared_schedules(self, tenant_id: UUID) -> Sequence[StoredSchedule]:
        """Those that have a name and are not deleted, by name."""
        ...

    async def save_schedule(self, schedule: Schedule) -> None: ...

    async def add_jobs(self, jobs: Sequence[SlotJob]) -> None:
        """Nothing for a key that was there before, or a schedule that has a slot waiting."""
        ...

    async def remove_waiting_slot(self, schedule_id: UUID) -> None:
        """The slot that waits, and not what a person asked for."""
        ...

    async def remove_waiting_slots(self, schedule_id: UUID) -> None:
        """All that waits, also what a person asked for."""
        ...

    async def running_runs(self, schedule_id: UUID) -> Sequence[ScheduleRun]:
        """Under way, or asked for by a person and about to be."""
        ...

    async def lock_run(self, tenant_id: UUID, run_id: UUID) -> ScheduleRun:
        """With its schedule, which is locked first."""
        ...

    async def cancel_runs(self, run_ids: Sequence[UUID], reason: str) -> None:
        """Those that are running are cancelled now, and their workers are told to end them."""
        ...

    async def note_answer(self, run_id: UUID, answer: Any) -> None: ...


class SlotRows(Protocol):
    """Set-based: each is a statement or two, however many slots there are."""

    async def lock_due_slots(self, request: ClaimRequest, labels: Sequence[str]) -> DueSlots:
        """Due, with labels that the worker has, and not behind a run that is in the way."""
        ...

    async def take_lost_slots(self, request: ClaimRequest) -> Sequence[SlotClaim]:
        """Lease what is running and has no live lease."""
        ...

    async def lock_broken_chains(self, grace: timedelta) -> tuple[datetime, Sequence[DueSlot]]:
        """Enabled schedules with no slot waiting (their `slot_at` is now), or with one that is
        past by more than the grace and that nothing is in the way of."""
        ...

    async def skip_slots(self, skips: Sequence[tuple[DueSlot, SlotDecision, UUID]]) -> None:
        """Close them; with the id that each gets."""
        ...

    async def start_slots(
        self, starts: Sequence[tuple[DueSlot, UUID]], request: ClaimRequest
    ) -> Sequence[SlotClaim]:
        """Lease them; with the id that each gets. A run that one replaces is cancelled."""
        ...

    async def renew_slots(self, claims: Sequence[SlotClaim], lease: timedelta) -> Renewal: ...

    async def lock_starting(
        self, claims: Sequence[SlotClaim]
    ) -> tuple[Sequence[Starting], frozenset[UUID]]:
        """Those that are still ours and not cancelled; and of those the ones whose rows somebody
        else has locked."""
        ...

    async def note_started(self, claims: Sequence[SlotClaim]) -> None: ...

    async def close_slots(self, finished: Sequence[FinishedSlot]) -> ClosedSlots:
        """Store the results of those that are still ours."""
        ...

    async def add_run_events(self, claim: SlotClaim, events: Sequence[RunEvent]) -> None: ...

    async def end_leases(self, claims: Sequence[SlotClaim]) -> None:
        """Of those that are not started: another worker may have them at once."""
        ...
