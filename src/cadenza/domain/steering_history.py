"""What bent an endpoint's schedule, as data: each hint and each pause, with author and end.

Five things can stand at an endpoint at once, one of each kind. A transition begins one, ends it,
replaces it, or renews it: the same interval by the same author for longer, which is no news.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from cadenza.domain.endpoint import CronLine, Endpoint, Every
from cadenza.domain.hint import Author, IntervalHint, OneShotHint, Pause
from cadenza.domain.plan import Source


class SteeringKind(StrEnum):
    INTERVAL = "interval"
    ONCE = "once"
    PERSON_PAUSE = "person-pause"
    PLANNER_PAUSE = "planner-pause"
    JOB_PAUSE = "job-pause"


class SteeringEnd(StrEnum):
    CLEARED = "cleared"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class By:
    """Who makes a transition."""

    author: Author = Author.PLANNER
    user_id: UUID | None = None
    session_id: UUID | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """One hint or pause, as it stands."""

    until_at: datetime
    author: Author
    interval: timedelta | None = None
    run_at: datetime | None = None
    tightens: bool | None = field(default=None, compare=False)
    user_id: UUID | None = None
    brain: str | None = None
    rule_id: UUID | None = None
    session_id: UUID | None = None
    reason: str = ""

    def renews(self, before: "Advice | None") -> bool:
        return before is not None and self.what_and_who == before.what_and_who

    @property
    def what_and_who(self) -> tuple[object, ...]:
        who = (self.author, self.user_id, self.brain, self.rule_id)
        return (self.interval, self.run_at, *who)


@dataclass(frozen=True, slots=True)
class SteeringChange:
    """What a transition did to one of the five; `after` is None where it was ended."""

    tenant_id: UUID
    endpoint_id: UUID
    kind: SteeringKind
    after: Advice | None
    renews: bool


@dataclass(frozen=True, slots=True)
class SteeringEntry:
    """A hint or a pause of the past or the present. `until_at` is its real end."""

    id: int
    tenant_id: UUID
    endpoint_id: UUID
    kind: SteeringKind
    begun_at: datetime
    advice: Advice
    renewals: int = 0
    planned_until_at: datetime | None = None  # of one that was ended
    ended_as: SteeringEnd | None = None
    ended_by: By | None = None

    @property
    def until_at(self) -> datetime:
        return self.advice.until_at

    def ending(self, now: datetime) -> str:
        """How it ended, or that it stands."""
        if self.ended_as is not None:
            return self.ended_as
        return "standing" if self.until_at > now else "expired"


def steering_changes(before: Endpoint, after: Endpoint, by: By) -> Iterator[SteeringChange]:
    """An archived endpoint has no schedule that could be bent."""
    old = _advice_of(before, by)
    new = _advice_of(after, by) if after.archived_at is None else {}
    for kind in SteeringKind:
        then, now = old.get(kind), new.get(kind)
        if then != now:
            renews = now is not None and now.renews(then)
            yield SteeringChange(after.tenant_id, after.id, kind, now, renews)


def _advice_of(endpoint: Endpoint, by: By) -> dict[SteeringKind, Advice]:
    advice: dict[SteeringKind, Advice] = {}
    if (hint := endpoint.interval_hint) is not None:
        advice[SteeringKind.INTERVAL] = _hinted(hint, tightens=tightens(endpoint, hint))
    if (once := endpoint.one_shot_hint) is not None:
        advice[SteeringKind.ONCE] = _hinted(once)
    if (pause := endpoint.person_pause) is not None:
        advice[SteeringKind.PERSON_PAUSE] = _paused(pause, Author.PERSON)
    if (pause := endpoint.planner_pause) is not None:
        advice[SteeringKind.PLANNER_PAUSE] = _paused(pause, Author.PLANNER)
    if (until_at := endpoint.job_paused_until) is not None:
        advice[SteeringKind.JOB_PAUSE] = Advice(
            until_at, Author.PERSON, user_id=by.user_id, reason=by.reason
        )
    return advice


def _hinted(hint: IntervalHint | OneShotHint, tightens: bool | None = None) -> Advice:
    return Advice(
        hint.expires_at,
        hint.author,
        hint.interval if isinstance(hint, IntervalHint) else None,
        hint.run_at if isinstance(hint, OneShotHint) else None,
        tightens,
        hint.user_id,
        hint.brain,
        hint.rule_id,
        hint.session_id,
        hint.reason,
    )


def _paused(pause: Pause, author: Author) -> Advice:
    who = (pause.user_id, pause.brain, pause.rule_id, pause.session_id, pause.reason)
    return Advice(pause.until_at, author, None, None, None, *who)


def tightens(endpoint: Endpoint, hint: IntervalHint) -> bool:
    """Whether it asks for more runs than the baseline has, or for fewer."""
    baseline, plan = endpoint.baseline, endpoint.plan
    if isinstance(baseline, Every):
        return hint.interval <= baseline.interval
    if not isinstance(baseline, CronLine) or plan is None:
        return True
    at = {candidate.source: candidate.at for candidate in plan.candidates}
    if Source.AI_INTERVAL in at and Source.BASELINE_CRON in at:
        return at[Source.AI_INTERVAL] <= at[Source.BASELINE_CRON]
    # A hint that brings a run forward is planned with at once; one that does not waits.
    return endpoint.in_flight
