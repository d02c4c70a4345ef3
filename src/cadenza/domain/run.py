"""Runs: one slot of an endpoint, sent once or more, recorded once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.endpoint import Endpoint
from cadenza.domain.graph import GraphCaller, GraphRequest
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.instants import iso
from cadenza.domain.plan import Plan, Source
from cadenza.domain.target import Target
from cadenza.domain.value import replace, value

MAX_LOST_ATTEMPTS = 3

# A response body: any JSON value, or text.
Body = dict[str, Any] | list[Any] | str | int | float | bool | None


class RunStatus(StrEnum):
    RUNNING = "running"
    SUCCESS = "success"
    FAILURE = "failure"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"


@value
class Outcome:
    """How an attempt ended, as the dispatcher saw it."""

    status: RunStatus
    error_kind: str | None = None
    error_message: str | None = None
    status_code: int | None = None
    body: Body = None
    retry_after: timedelta | None = None

    @property
    def failed(self) -> bool:
        return self.status in (RunStatus.FAILURE, RunStatus.TIMEOUT)


def error_text(
    status: str, status_code: int | None, error_kind: str | None, error_message: str | None
) -> str:
    """A failed run in a line, nothing twice; its status where nothing more is known."""
    text = error_message or error_kind or status
    return text if status_code is None or str(status_code) in text else f"{status_code} {text}"


WORKER_LOST = Outcome(RunStatus.TIMEOUT, "worker_lost", "worker lost")


@value
class Claim:
    """A slot that one worker may execute until its lease ends; the epoch fences its result."""

    run_id: UUID
    endpoint_id: UUID
    tenant_id: UUID
    job_id: UUID
    endpoint_name: str
    target: Target
    slot_at: datetime
    source: Source
    epoch: int
    first_claimed_at: datetime
    host: str = ""  # what the limit of requests in flight per host counts by
    attempt: int = 1
    is_manual: bool = False
    is_paused: bool = False
    is_archived: bool = False
    unreadable: str | None = None  # why a secret that it needs does not open
    started_at: datetime | None = None  # noted by a worker that was lost: never started again

    @property
    def subject_id(self) -> UUID:
        return self.endpoint_id

    @property
    def subject_name(self) -> str:
        return self.endpoint_name

    @property
    def request(self) -> GraphRequest:
        """Of a claim whose target is a graph."""
        target = self.target
        assert isinstance(target, GraphTarget)
        assert target.mandate is not None, "a graph is stored with its mandate"
        mandate = target.mandate
        ids = (self.tenant_id, mandate.user_id, mandate.grant_id, mandate.account_id)
        return GraphRequest(
            self.run_id,
            target.graph_id,
            target.input,
            GraphCaller(*ids),
            limits=target.limits,
            slot_at=self.slot_at,
            attempt=self.attempt,
            endpoint_id=self.endpoint_id,
        )

    @property
    def idempotency_key(self) -> str:
        return f"{self.endpoint_id}:{iso(self.slot_at)}"

    @property
    def must_close(self) -> bool:
        """A slot whose worker was lost is sent again, unless that is of no use any more, or its
        start was noted: then it is started at most once."""
        if self.started_at is not None:
            return True
        lost_attempts = self.attempt - 1
        is_unwanted = self.is_manual or self.is_paused or self.is_archived
        return lost_attempts >= MAX_LOST_ATTEMPTS or (lost_attempts > 0 and is_unwanted)


@value
class FinishedRun:
    """A worker's report of a claim: `started_at` is None where nothing was sent."""

    claim: Claim
    outcome: Outcome
    started_at: datetime | None
    finished_at: datetime

    @property
    def status(self) -> RunStatus:
        return self.outcome.status

    @property
    def first_started_at(self) -> datetime:
        """When the slot was first sent; a lost worker leaves only the time of its claim."""
        if self.claim.attempt == 1 and self.started_at is not None:
            return self.started_at
        return max(self.claim.first_claimed_at, self.claim.slot_at)


@value
class Finish:
    """An endpoint after a run, its next plan, and the slots that were skipped meanwhile."""

    settled: Endpoint
    plan: Plan
    skipped_slots: int = 0
    skipped_reason: str | None = None
    moves_anchor: bool = True

    @property
    def anchor_at(self) -> datetime | None:
        return self.plan.anchor_at if self.moves_anchor else self.settled.last_run_at

    @property
    def endpoint(self) -> Endpoint:
        return replace(self.settled, plan=self.plan, last_run_at=self.anchor_at)


@dataclass(frozen=True, slots=True)
class Run:
    id: UUID
    endpoint_id: UUID
    tenant_id: UUID
    slot_at: datetime
    source: Source
    status: RunStatus
    attempt: int
    epoch: int
    claimed_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    status_code: int | None = None
    error_kind: str | None = None
    error_message: str | None = None
    body: Body = None
    plan: dict[str, Any] | None = None
    skipped_slots: int = 0
    skipped_reason: str | None = None
    is_manual: bool = False

    @property
    def duration(self) -> timedelta | None:
        if self.started_at is None or self.finished_at is None:
            return None
        return self.finished_at - self.started_at


@dataclass(frozen=True, slots=True)
class LostAttempt:
    """An attempt whose worker never answered."""

    run_id: UUID
    attempt: int
    noted_at: datetime


@dataclass(frozen=True, slots=True)
class LateResult:
    """A result that came with an old epoch: recorded, never applied."""

    run_id: UUID
    endpoint_id: UUID
    epoch: int
    status: RunStatus
    received_at: datetime
