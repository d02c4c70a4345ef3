"""What an analysis looks at, and when an endpoint needs one."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.health import Health
from cadenza.domain.rule import ALL_ACT, Modes
from cadenza.domain.run import Body, RunStatus

RECENT_RESPONSES = 49  # half hours: a day and one more, so that a daily peak is not news
_WELL = RunStatus.SUCCESS  # hundreds of uses in an analysis, and looking up an enum is slow
LONGEST_RECENT_BODY = 8_000  # characters of JSON: a batch of hundreds must fit in memory


class Attention(StrEnum):
    """When a brain wants to analyse an endpoint."""

    EVERY_RUN = "every-run"  # after each run of the endpoint or a sibling: cheap brains
    OWN_RUNS = "own-runs"  # after each run of the endpoint itself
    ON_CHANGE = "on-change"  # when something happened, or the brain asked for another analysis


@dataclass(frozen=True, slots=True)
class Response:
    slot_at: datetime
    finished_at: datetime
    status: RunStatus
    body: Body
    duration: timedelta | None = None
    status_code: int | None = None

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
    memory: Mapping[str, Any] | None = None  # what this brain remembers of it
    only_reads: bool = True  # a request that changes nothing: it may be sent once more


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides whether an endpoint needs an analysis."""

    last_finished_at: datetime | None = None
    last_failed_at: datetime | None = None
    sibling_finished_at: datetime | None = None
    sibling_changed_at: datetime | None = None  # response, pause, hints or failure state
    asked_at: datetime | None = None
    looked_at: datetime | None = None
    next_analysis_at: datetime | None = None


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


def reason_to_analyse(facts: Facts, attention: Attention, now: datetime) -> str | None:
    if _since_look(facts.asked_at, facts):
        return "a person asked for it"
    if attention is Attention.ON_CHANGE:
        return _reason_on_change(facts, now)
    if _since_look(facts.last_finished_at, facts):
        return "it ran"
    if attention is Attention.EVERY_RUN and _since_look(facts.sibling_finished_at, facts):
        return "a sibling ran"
    return None


def _reason_on_change(facts: Facts, now: datetime) -> str | None:
    if _since_look(facts.sibling_changed_at, facts):
        return "a sibling changed"
    if not _since_look(facts.last_finished_at, facts):
        return None
    if facts.looked_at is None:
        return "it was never analysed"
    if _since_look(facts.last_failed_at, facts):
        return "it failed since"
    if facts.next_analysis_at is not None and facts.next_analysis_at <= now:
        return "the last analysis asked for another look"
    return None


def _since_look(instant: datetime | None, facts: Facts) -> bool:
    return instant is not None and (facts.looked_at is None or instant > facts.looked_at)
