"""What an analysis looks at, and when an endpoint needs one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.health import Health
from cadenza.domain.planner_policy import USUAL
from cadenza.domain.rule import ALL_ACT, Modes
from cadenza.domain.run import Body, RunStatus

RECENT_RESPONSES = 49  # half hours: a day and one more, so that a daily peak is not news
_WELL = RunStatus.SUCCESS  # hundreds of uses in an analysis, and looking up an enum is slow
LONGEST_RECENT_BODY = 8_000  # characters of JSON: a batch of hundreds must fit in memory
STREAK_GAP = timedelta(minutes=1)  # between two that a failure streak made urgent: some flap
FIRST_BACK_OFF = timedelta(minutes=5)
LONGEST_BACK_OFF = timedelta(days=1)
PROVIDER_BACK_OFF = timedelta(hours=1)  # where the provider failed: it may be back any minute


class Attention(StrEnum):
    """When a brain wants to analyse an endpoint."""

    EVERY_RUN = "every-run"  # after each run of the endpoint or a sibling: cheap brains
    OWN_RUNS = "own-runs"  # after each run of the endpoint itself
    ON_CHANGE = "on-change"  # when something happened, or the brain asked for another analysis


class AnalysisReason(StrEnum):
    """Why an endpoint is analysed; kept with the session."""

    ASKED = "asked"
    RAN = "ran"
    SIBLING_RAN = "sibling-ran"
    NEVER_ANALYSED = "never-analysed"
    STREAK = "failure-streak"
    SIBLING_CHANGED = "sibling-changed"
    FAILED = "failed"
    DUE = "due"
    RETRY = "retry"


REASONS = {
    AnalysisReason.ASKED: "a person asked for it",
    AnalysisReason.RAN: "it ran",
    AnalysisReason.SIBLING_RAN: "a sibling ran",
    AnalysisReason.NEVER_ANALYSED: "it was never analysed",
    AnalysisReason.STREAK: "a failure streak began or ended",
    AnalysisReason.SIBLING_CHANGED: "a sibling's pause, hints or failure state changed",
    AnalysisReason.FAILED: "it failed since",
    AnalysisReason.DUE: "the last analysis asked for another look",
    AnalysisReason.RETRY: "the last session failed, and is tried again",
}


@dataclass(frozen=True, slots=True)
class Response:
    slot_at: datetime
    finished_at: datetime
    status: RunStatus
    body: Body
    duration: timedelta | None = None
    status_code: int | None = None
    error_kind: str | None = None

    @property
    def is_well(self) -> bool:
        return self.status is _WELL


@dataclass(frozen=True, slots=True)
class SiblingState:
    endpoint: Endpoint
    latest: Response | None
    memory: Mapping[str, Any] | None = None  # what this brain remembers of it


@dataclass(frozen=True, slots=True)
class LastAnalysis:
    at: datetime
    reasoning: str


@dataclass(frozen=True, slots=True)
class AnalysisState:
    """How a brain stands to an endpoint."""

    brain: str
    looked_at: datetime | None
    next_analysis_at: datetime | None
    failed_looks: int = 0
    trouble: str = ""  # why the last session failed, or was not held


@dataclass(frozen=True, slots=True)
class Waiting:
    """A suggestion that no person has accepted yet."""

    tool: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class AnalysisContext:
    """Everything a brain gets to see before it asks for more."""

    now: datetime
    endpoint: Endpoint
    job: Job
    health: Health
    sibling_names: tuple[str, ...]
    last_analysis: LastAnalysis | None = None
    recent: tuple[Response, ...] = ()  # newest first; a long body is left out
    siblings: tuple[SiblingState, ...] = ()  # by name
    modes: Modes = ALL_ACT  # what each may do with the job
    # Declared rules, by id, and when each last did something.
    fired_at: Mapping[UUID, datetime] = field(default_factory=dict[UUID, datetime])
    waiting: tuple[Waiting, ...] = ()  # what this brain has suggested about it before
    reason: AnalysisReason | None = None  # why it is analysed now
    failed_looks: int = 0  # sessions of this brain about it that failed, in a row
    memory: Mapping[str, Any] | None = None  # what this brain remembers of it
    only_reads: bool = True  # a request that changes nothing: it may be sent once more


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides whether an endpoint needs an analysis."""

    last_finished_at: datetime | None = None
    last_failed_at: datetime | None = None
    streak_changed_at: datetime | None = None  # when a failure streak began or ended
    sibling_finished_at: datetime | None = None
    sibling_changed_at: datetime | None = None  # pause, hints or failure state, not a body
    asked_at: datetime | None = None
    looked_at: datetime | None = None
    next_analysis_at: datetime | None = None
    streak_looked_at: datetime | None = None  # the last look that a failure streak made urgent
    failed_looks: int = 0  # sessions that failed, in a row
    min_gap: timedelta = USUAL.min_gap  # between two looks of a model


def changes_its_state(before: Endpoint, after: Endpoint) -> bool:
    """Whether a change is news for siblings: pauses and hints are, renewing a hint is not."""
    return _state(before) != _state(after)


def _state(endpoint: Endpoint) -> tuple[object, ...]:
    interval, shot = endpoint.interval_hint, endpoint.one_shot_hint
    pauses = (endpoint.person_pause, endpoint.planner_pause)
    return (
        interval and interval.interval,
        shot and shot.run_at,
        *(pause and pause.until_at for pause in pauses),
        endpoint.job_paused_until,
        endpoint.archived_at,
        endpoint.failure_count,
    )


def reason_to_analyse(facts: Facts, attention: Attention, now: datetime) -> AnalysisReason | None:
    """The first that holds; claim_for_analysis says the same in SQL."""
    if _since_analysis(facts.asked_at, facts):
        return AnalysisReason.ASKED
    if attention is Attention.ON_CHANGE:
        return _reason_of_a_model(facts, now)
    if _since_analysis(facts.last_finished_at, facts):
        return AnalysisReason.RAN
    if attention is Attention.EVERY_RUN and _since_analysis(facts.sibling_finished_at, facts):
        return AnalysisReason.SIBLING_RAN
    return None


def _reason_of_a_model(facts: Facts, now: datetime) -> AnalysisReason | None:
    """A look costs: it has a reason, and keeps to the gap whatever the siblings do."""
    if facts.last_finished_at is None:
        return None
    if facts.looked_at is None:
        return AnalysisReason.NEVER_ANALYSED
    is_due = facts.next_analysis_at is not None and facts.next_analysis_at <= now
    if facts.failed_looks:
        return (
            AnalysisReason.RETRY
            if is_due and _since_analysis(facts.last_finished_at, facts)
            else None
        )
    if _since_analysis(facts.streak_changed_at, facts) and _is_past(
        facts.streak_looked_at, STREAK_GAP, now
    ):
        return AnalysisReason.STREAK
    if not _is_past(facts.looked_at, facts.min_gap, now):
        return None
    if _since_analysis(facts.sibling_changed_at, facts):
        return AnalysisReason.SIBLING_CHANGED
    if not _since_analysis(facts.last_finished_at, facts):
        return None
    if _since_analysis(facts.last_failed_at, facts):
        return AnalysisReason.FAILED
    return AnalysisReason.DUE if is_due else None


def _since_analysis(instant: datetime | None, facts: Facts) -> bool:
    return instant is not None and (facts.looked_at is None or instant > facts.looked_at)


def _is_past(instant: datetime | None, gap: timedelta, now: datetime) -> bool:
    return instant is None or instant + gap <= now


def back_off(failed_looks: int, *, of_provider: bool = False) -> timedelta:
    """How long an endpoint is left alone after so many failing sessions in a row."""
    longest = PROVIDER_BACK_OFF if of_provider else LONGEST_BACK_OFF
    return min(FIRST_BACK_OFF * 2 ** min(failed_looks - 1, 10), longest)
