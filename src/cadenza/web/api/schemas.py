"""What an answer says of jobs and endpoints."""

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from cadenza.application.ports.catalogue import StoredEndpoint, StoredJob
from cadenza.domain.endpoint import Baseline, CronLine, Every
from cadenza.domain.hint import Hint, IntervalHint, Pause
from cadenza.domain.instants import FOREVER, milliseconds
from cadenza.domain.preview import Upcoming
from cadenza.domain.target import HttpTarget, Target
from cadenza.manifest.rules import rule_document


class Shown(BaseModel):
    model_config = ConfigDict(frozen=True)


class JobShown(Shown):
    id: UUID
    name: str
    description: str
    created_at: datetime
    paused: bool
    paused_until: datetime | None = Field(description="null: not paused, or until resumed.")
    archived_at: datetime | None
    endpoint_count: int
    revision: int
    rules: list[dict[str, Any]] = Field(description="As they are written.")
    planner_mode: str | None = Field(description="null: what the tenant's owner has set.")
    probe_budget: float


class JobChanged(JobShown):
    warnings: list[str] = Field(
        description="Rules that speak of fields which the endpoints did not answer last."
    )


class BaselineShown(Shown):
    every_ms: int | None = None
    cron: str | None = None
    timezone: str | None = None
    on_demand: bool = False


class TargetShown(Shown):
    kind: str
    timeout_ms: int
    url: str | None = None
    method: str | None = None
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    secret_headers: list[str] = Field(
        default_factory=list[str], description="Their names; values are never shown."
    )
    body: str | None = None
    max_redirects: int = 0
    success_statuses: list[int] = Field(default_factory=list[int])
    success_when: str | None = None
    command: list[str] | None = None
    folder: str | None = None


class HintShown(Shown):
    kind: str = Field(description="interval or one-shot")
    interval_ms: int | None = None
    run_at: datetime | None = None
    expires_at: datetime
    author: str
    reason: str


class PauseShown(Shown):
    by: str = Field(description="person, planner or job")
    until: datetime | None = Field(description="null: until resumed")
    reason: str = ""


class EndpointShown(Shown):
    id: UUID
    job_id: UUID
    job_name: str
    name: str
    created_at: datetime
    archived_at: datetime | None
    revision: int
    baseline: BaselineShown
    min_interval_ms: int | None
    max_interval_ms: int | None
    target: TargetShown
    next_run_at: datetime | None
    next_source: str | None
    last_run_at: datetime | None
    running: bool
    failure_count: int
    not_before_at: datetime | None = Field(description="The target's Retry-After.")
    hints: list[HintShown]
    pauses: list[PauseShown]


class UpcomingShown(Shown):
    at: datetime
    source: str


class EndpointCreated(EndpointShown):
    next_runs: list[UpcomingShown]
    warnings: list[str] = Field(description="Where baseline and guardrails fight each other.")


def job_shown(stored: StoredJob, now: datetime) -> JobShown:
    job = stored.job
    paused_until = job.paused_until if job.paused_until and job.paused_until > now else None
    return JobShown(
        id=job.id,
        name=job.name,
        description=job.description,
        created_at=stored.created_at,
        paused=paused_until is not None,
        paused_until=_until(paused_until),
        archived_at=job.archived_at,
        endpoint_count=stored.endpoint_count,
        revision=stored.revision,
        rules=[rule_document(each) for each in job.rules],
        planner_mode=job.planner_mode,
        probe_budget=job.probe_budget,
    )


def endpoint_shown(stored: StoredEndpoint) -> EndpointShown:
    return EndpointShown(**_fields(stored))


def endpoint_created(
    stored: StoredEndpoint, upcoming: list[Upcoming], warnings: list[str]
) -> EndpointCreated:
    return EndpointCreated(**_fields(stored), next_runs=upcoming_shown(upcoming), warnings=warnings)


def upcoming_shown(upcoming: list[Upcoming]) -> list[UpcomingShown]:
    return [UpcomingShown(at=each.at, source=each.source) for each in upcoming]


def _fields(stored: StoredEndpoint) -> dict[str, Any]:
    endpoint = stored.endpoint
    least, most = endpoint.min_interval, endpoint.max_interval
    next_run_at = stored.next_run_at
    endless = next_run_at is not None and next_run_at >= FOREVER
    return {
        "id": endpoint.id,
        "job_id": endpoint.job_id,
        "job_name": stored.job_name,
        "name": endpoint.name,
        "created_at": endpoint.created_at,
        "archived_at": endpoint.archived_at,
        "revision": stored.revision,
        "baseline": _baseline(endpoint.baseline),
        "min_interval_ms": milliseconds(least) if least else None,
        "max_interval_ms": milliseconds(most) if most else None,
        "target": _target(stored.target),
        "next_run_at": None if endless else next_run_at,
        "next_source": stored.next_source,
        "last_run_at": endpoint.last_run_at,
        "running": endpoint.in_flight,
        "failure_count": endpoint.failure_count,
        "not_before_at": endpoint.not_before_at,
        "hints": _hints(stored),
        "pauses": _pauses(stored),
    }


def _baseline(baseline: Baseline) -> BaselineShown:
    if isinstance(baseline, Every):
        return BaselineShown(every_ms=milliseconds(baseline.interval))
    if isinstance(baseline, CronLine):
        return BaselineShown(cron=baseline.expression, timezone=baseline.timezone)
    return BaselineShown(on_demand=True)


def _target(target: Target) -> TargetShown:
    timeout_ms = milliseconds(target.timeout)
    if not isinstance(target, HttpTarget):
        return TargetShown(
            kind="shell",
            timeout_ms=timeout_ms,
            command=list(target.command),
            folder=target.folder,
        )
    return TargetShown(
        kind="http",
        timeout_ms=timeout_ms,
        url=target.url,
        method=target.method,
        headers=dict(target.headers),
        secret_headers=sorted(target.secret_headers),
        body=target.body,
        max_redirects=target.max_redirects,
        success_statuses=list(target.success_statuses),
        success_when=target.success_when,
    )


def _hints(stored: StoredEndpoint) -> list[HintShown]:
    endpoint = stored.endpoint
    hints = (endpoint.interval_hint, endpoint.one_shot_hint)
    return [_hint(each) for each in hints if each is not None and each.expires_at > stored.read_at]


def _hint(hint: Hint) -> HintShown:
    told: dict[str, Any] = {
        "expires_at": hint.expires_at,
        "author": hint.author,
        "reason": hint.reason,
    }
    if isinstance(hint, IntervalHint):
        return HintShown(kind="interval", interval_ms=milliseconds(hint.interval), **told)
    return HintShown(kind="one-shot", run_at=hint.run_at, **told)


def _pauses(stored: StoredEndpoint) -> list[PauseShown]:
    endpoint, now = stored.endpoint, stored.read_at
    job = endpoint.job_paused_until
    pauses = (
        ("person", endpoint.person_pause),
        ("planner", endpoint.planner_pause),
        ("job", Pause(job) if job else None),
    )
    return [
        PauseShown(by=author, until=_until(pause.until_at), reason=pause.reason)
        for author, pause in pauses
        if pause is not None and pause.until_at > now
    ]


def _until(instant: datetime | None) -> datetime | None:
    return None if instant is None or instant >= FOREVER else instant
