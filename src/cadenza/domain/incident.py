"""Incidents: what is not as it should be, opened, updated and closed by the state of things.

A condition is what holds now; an incident is the record of one, from its beginning to its end. A
person may acknowledge it: no more is told of it unless it gets worse, or is over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

REOPENED_WITHIN = timedelta(hours=1)  # the same again so soon is the same incident
BY_STATE = "state"
MAX_DETAIL = 300
MAX_NAME = 250


class IncidentKind(StrEnum):
    FAILING = "failing"  # an endpoint, since its first failure
    LATE = "late"  # an endpoint that nobody runs
    PLANNER_PAUSE = "planner-pause"  # an endpoint that the planner holds back
    SUGGESTION = "suggestion"  # of the planner, waiting for a person
    QUOTA = "quota"  # of the planner, at 80 or 100 %
    GRANT = "grant-expiring"
    KEY = "key-expiring"  # of the API
    WORKER = "worker-lost"  # of the installation: told to its first tenant
    CHANNEL = "channel-failing"  # of notifications
    WEBHOOK = "webhook-disabled"


class Severity(StrEnum):
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        return _RANKS[self]


_RANKS = {severity: rank for rank, severity in enumerate(Severity)}

# From which measure on a condition has which severity: failures in a row, percent of a quota, …
LEVELS: Mapping[IncidentKind, tuple[tuple[int, Severity], ...]] = {
    IncidentKind.FAILING: ((1, Severity.WARNING), (3, Severity.ERROR), (10, Severity.CRITICAL)),
    IncidentKind.LATE: ((1, Severity.ERROR),),
    IncidentKind.PLANNER_PAUSE: ((1, Severity.INFO),),
    IncidentKind.SUGGESTION: ((1, Severity.INFO),),
    IncidentKind.QUOTA: ((80, Severity.WARNING), (100, Severity.ERROR)),
    IncidentKind.GRANT: ((1, Severity.WARNING), (2, Severity.ERROR)),
    IncidentKind.KEY: ((1, Severity.WARNING), (2, Severity.ERROR)),
    IncidentKind.WORKER: ((1, Severity.CRITICAL),),
    IncidentKind.CHANNEL: ((1, Severity.WARNING),),
    IncidentKind.WEBHOOK: ((1, Severity.WARNING),),
}


@dataclass(frozen=True, slots=True)
class Condition:
    """What holds now, of one subject."""

    tenant_id: UUID
    kind: IncidentKind
    subject: str  # an id or a name; with tenant and kind, what an incident is known by
    name: str  # for people
    since: datetime
    measure: int = 1
    job_id: UUID | None = None
    endpoint_id: UUID | None = None
    detail: str = ""
    ends_at: datetime | None = None  # where its end is known beforehand

    @property
    def key(self) -> "IncidentKey":
        return self.tenant_id, self.kind, self.subject


IncidentKey = tuple[UUID, IncidentKind, str]


@dataclass(frozen=True, slots=True)
class Incident:
    id: UUID
    tenant_id: UUID
    kind: IncidentKind
    subject: str
    name: str
    level: int
    severity: Severity
    opened_at: datetime
    updated_at: datetime
    detail: str = ""
    measure: int = 1
    job_id: UUID | None = None
    endpoint_id: UUID | None = None
    times: int = 1  # that it was opened
    ends_at: datetime | None = None
    acknowledged_at: datetime | None = None
    acknowledged_by: str | None = None
    resolved_at: datetime | None = None
    resolved_by: str | None = None  # BY_STATE, or a person

    @property
    def key(self) -> IncidentKey:
        return self.tenant_id, self.kind, self.subject

    @property
    def is_open(self) -> bool:
        return self.resolved_at is None

    @property
    def state(self) -> str:
        """What there is to be told: two that are equal are the same news."""
        return f"open:{self.level}" if self.is_open else "resolved"


def level_of(kind: IncidentKind, measure: int) -> int:
    """From 1 on; 0 below all of them, which is no incident."""
    return sum(measure >= least for least, _ in LEVELS[kind])


def severity_of(kind: IncidentKind, level: int) -> Severity:
    return LEVELS[kind][max(level, 1) - 1][1]


def opened(
    condition: Condition, before: Incident | None, now: datetime, incident_id: UUID
) -> Incident:
    """A new incident, or the one before again, where that ended a short while ago."""
    level = level_of(condition.kind, condition.measure)
    fresh = Incident(
        incident_id,
        condition.tenant_id,
        condition.kind,
        condition.subject,
        condition.name[:MAX_NAME],
        level,
        severity_of(condition.kind, level),
        min(condition.since, now),
        now,
        condition.detail[:MAX_DETAIL],
        condition.measure,
        condition.job_id,
        condition.endpoint_id,
        ends_at=condition.ends_at,
    )
    if before is None or not was_just_resolved(before, now):
        return fresh
    return replace(fresh, id=before.id, opened_at=before.opened_at, times=before.times + 1)


def was_just_resolved(incident: Incident, now: datetime) -> bool:
    at = incident.resolved_at
    return at is not None and now - at < REOPENED_WITHIN


def updated(incident: Incident, condition: Condition, now: datetime) -> Incident:
    """Another level; an acknowledgement holds as long as it gets no worse."""
    level = level_of(condition.kind, condition.measure)
    is_worse = level > incident.level
    return replace(
        incident,
        level=level,
        severity=severity_of(condition.kind, level),
        measure=condition.measure,
        detail=(condition.detail or incident.detail)[:MAX_DETAIL],
        ends_at=condition.ends_at or incident.ends_at,
        updated_at=now,
        acknowledged_at=None if is_worse else incident.acknowledged_at,
        acknowledged_by=None if is_worse else incident.acknowledged_by,
    )


def resolved(incident: Incident, now: datetime, by: str = BY_STATE) -> Incident:
    return replace(incident, resolved_at=now, resolved_by=by, updated_at=now)


def acknowledged(incident: Incident, now: datetime, by: str) -> Incident:
    """The first one counts."""
    if incident.acknowledged_at is not None or not incident.is_open:
        return incident
    return replace(incident, acknowledged_at=now, acknowledged_by=by, updated_at=now)


@dataclass(frozen=True, slots=True)
class IncidentChange:
    incident: Incident
    what: str  # opened, updated, resolved


def changes(
    conditions: Sequence[Condition],
    incidents: Mapping[IncidentKey, Incident],
    gone: Sequence[Incident],
    now: datetime,
    new_ids: Sequence[UUID],
) -> list[IncidentChange]:
    """What conditions do to the incidents of their subjects, open ones and those that just ended;
    and those that are `gone` end, whatever they came to before. One id for each condition, should
    it need one."""
    made: list[IncidentChange] = []
    ended = {incident.key for incident in gone}
    for condition, new_id in zip(conditions, new_ids, strict=True):
        if level_of(condition.kind, condition.measure) == 0 or condition.key in ended:
            continue
        incident = incidents.get(condition.key)
        if incident is None or not incident.is_open:
            made.append(IncidentChange(opened(condition, incident, now, new_id), "opened"))
        elif incident.level != level_of(condition.kind, condition.measure):
            made.append(IncidentChange(updated(incident, condition, now), "updated"))
    made += [IncidentChange(resolved(incident, now), "resolved") for incident in gone]
    return made
