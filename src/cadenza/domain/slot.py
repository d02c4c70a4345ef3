"""Slots of schedules: what becomes of one that is due, and which one follows it.

Missed slots are never run afterwards. They are declared, with their number and the reason, and
the chain goes on with the next one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.cron import Cron
from cadenza.domain.errors import InvalidCron
from cadenza.domain.grant import Grant, refusal
from cadenza.domain.graph import ErrorCode, GraphCaller, GraphRequest, GraphResult, Resume
from cadenza.domain.instants import iso
from cadenza.domain.run import MAX_LOST_ATTEMPTS
from cadenza.domain.schedule import Concurrency, Schedule, ScheduleDefinition

GRACE = timedelta(minutes=1)  # a slot may start so much late; after that it was missed
MOST_COUNTED = 10_000  # slots of one gap; a longer one says "at least"


class SlotStatus(StrEnum):
    SCHEDULED = "scheduled"
    RUNNING = "running"
    SUCCESS = "success"
    ERROR = "error"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"
    WAITING = "waiting"  # for a person's answer


class SkipReason(StrEnum):
    MISSED = "missed"  # no worker was there
    STILL_RUNNING = "still_running"  # the run before it was in the way


@dataclass(frozen=True, slots=True)
class DueSlot:
    """A slot whose time has come, with everything that decides about it."""

    schedule: Schedule
    slot_at: datetime
    grant: Grant | None
    is_manual: bool = False


@dataclass(frozen=True, slots=True)
class SlotDecision:
    """Start it, or skip it for a reason; the chain goes on with `next_at` either way."""

    next_at: datetime | None
    skip_reason: str | None = None
    skipped_slots: int = 0  # among them this one, where it is skipped


def decide(due: DueSlot, now: datetime, cron: Cron, grace: timedelta = GRACE) -> SlotDecision:
    definition = due.schedule.definition
    refused = refusal(due.grant, definition.graph_id, now)
    if due.is_manual:
        return SlotDecision(None, refused, 1 if refused else 0)
    ended_at = due.schedule.last_ended_at
    if ended_at is not None and ended_at > due.slot_at:  # the run before it was in the way
        count, last_at = _slots_until(definition, due.slot_at, now, cron)
        if count > 1:
            return SlotDecision(last_at, SkipReason.STILL_RUNNING, count - 1)
    elif now - due.slot_at > grace:
        return missed(definition, due.slot_at, now, cron)
    next_at = next_slot(definition, max(due.slot_at, now), cron)
    return SlotDecision(next_at, refused, 1 if refused else 0)


def missed(
    definition: ScheduleDefinition, slot_at: datetime, now: datetime, cron: Cron
) -> SlotDecision:
    """It and all after it until now were missed; the next one lies ahead."""
    count, _ = _slots_until(definition, slot_at, now, cron)
    return SlotDecision(next_slot(definition, now, cron), SkipReason.MISSED, count)


def next_slot(definition: ScheduleDefinition, after: datetime, cron: Cron) -> datetime | None:
    """None where the expression has no further occurrence."""
    try:
        return cron.next_after(definition.cron, definition.timezone, after)
    except InvalidCron:
        return None


def _slots_until(
    definition: ScheduleDefinition, slot_at: datetime, now: datetime, cron: Cron
) -> tuple[int, datetime]:
    """How many slots from this one to now, and the last of them."""
    count, last_at = 1, slot_at
    while count < MOST_COUNTED:
        next_at = next_slot(definition, last_at, cron)
        if next_at is None or next_at > now:
            break
        count, last_at = count + 1, next_at
    return count, last_at


@dataclass(frozen=True, slots=True)
class SlotClaim:
    """A slot that one worker may run until its lease ends; the epoch fences what it reports."""

    run_id: UUID
    schedule: Schedule
    account_id: UUID
    slot_at: datetime
    epoch: int
    attempt: int = 1
    is_manual: bool = False
    is_started: bool = False  # by a worker that was lost: it is never started again
    resume: Resume | None = None

    @property
    def tenant_id(self) -> UUID:
        return self.schedule.tenant_id

    @property
    def host(self) -> str:
        return ""

    @property
    def source(self) -> str:
        return "manual" if self.is_manual else "schedule"

    @property
    def subject_id(self) -> UUID:
        return self.schedule.id

    @property
    def subject_name(self) -> str:
        return self.schedule.label

    @property
    def must_close(self) -> bool:
        return self.is_started or self.attempt > MAX_LOST_ATTEMPTS

    @property
    def request(self) -> GraphRequest:
        schedule, definition = self.schedule, self.schedule.definition
        ids = (schedule.tenant_id, schedule.user_id, schedule.grant_id, self.account_id)
        return GraphRequest(
            self.run_id,
            definition.graph_id,
            definition.input,
            GraphCaller(*ids),
            limits=definition.limits,
            slot_at=self.slot_at,
            attempt=self.attempt,
            resume=self.resume,
            schedule_id=schedule.id,
        )


@dataclass(frozen=True, slots=True)
class RunEvent:
    """An event of a run as it is stored."""

    number: int
    at: datetime
    kind: str
    data: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FinishedSlot:
    """A worker's report of a claim."""

    claim: SlotClaim
    status: SlotStatus
    result: GraphResult
    started_at: datetime | None
    finished_at: datetime
    reason: str | None = None  # why it was skipped
    events: tuple[RunEvent, ...] = ()  # those that are not stored yet


@dataclass(frozen=True, slots=True)
class ScheduleRun:
    """A slot as people see it."""

    schedule_id: UUID
    tenant_id: UUID
    user_id: UUID
    slot_at: datetime
    status: SlotStatus
    id: UUID | None = None  # made when it is started or closed, never when it is enqueued
    is_manual: bool = False
    attempt: int = 0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    output: Any = None
    error_code: ErrorCode | None = None
    error_message: str | None = None
    last_lines: str = ""
    reason: str | None = None
    skipped_slots: int = 0
    question: Any = None
    answered_at: datetime | None = None
    answer_to: UUID | None = None  # the run whose question this one answers
    credits: int = 0

    @property
    def duration(self) -> timedelta | None:
        if self.started_at is None or self.finished_at is None:
            return None
        return self.finished_at - self.started_at


def job_key(schedule_id: UUID, slot_at: datetime) -> str:
    """Unique for ever: the same slot enqueued twice is one run."""
    return f"{schedule_id}:{iso(slot_at)}"


def is_exclusive(schedule: Schedule) -> bool:
    """One run at a time."""
    return schedule.definition.concurrency is not Concurrency.ALLOW
