"""Endpoints as they are sent: their baseline, target, hints and pauses, and what lies ahead."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from cadenza.application.bulk import BulkResult
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.domain.endpoint import Baseline, CronLine, Every, fresh_hints
from cadenza.domain.explanation import Explanation
from cadenza.domain.function_target import FunctionTarget
from cadenza.domain.graph_target import GraphTarget
from cadenza.domain.hint import Hint, IntervalHint, Pause
from cadenza.domain.instants import milliseconds
from cadenza.domain.preview import Upcoming
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.target import HttpTarget, Target
from cadenza.manifest.limits import limits_values
from cadenza.web.api.schemas.base import LimitsResponse, ResponseSchema, null_if_endless


class BaselineResponse(ResponseSchema):
    every_ms: int | None = None
    cron: str | None = None
    timezone: str | None = None
    on_demand: bool = False


class TargetResponse(ResponseSchema):
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
    graph: str | None = None
    input: dict[str, Any] | None = None
    limits: LimitsResponse | None = None
    grant_id: UUID | None = Field(default=None, description="That the graph runs under.")
    account: str | None = Field(
        default=None, description="Who pays, where the grant was made for the endpoint."
    )
    function: str | None = Field(default=None, description="Of the program that runs it.")
    queue: str | None = Field(default=None, description="The address of the broker.")
    topic: str | None = None
    exchange: str | None = None
    has_password: bool = Field(default=False, description="Of the broker; it is never shown.")
    await_result: bool = False
    reply_to: str | None = None


class HintResponse(ResponseSchema):
    kind: str = Field(description="interval or one-shot")
    interval_ms: int | None = None
    run_at: datetime | None = None
    expires_at: datetime
    author: str
    reason: str


class PauseResponse(ResponseSchema):
    by: str = Field(description="person, planner or job")
    until: datetime | None = Field(description="null: until resumed")
    reason: str = ""


class EndpointResponse(ResponseSchema):
    id: UUID
    job_id: UUID
    job_name: str
    name: str
    created_at: datetime
    archived_at: datetime | None
    revision: int
    baseline: BaselineResponse
    min_interval_ms: int | None
    max_interval_ms: int | None
    backoff: str = Field(description="doubling, or none: what failures do to an interval.")
    target: TargetResponse
    next_run_at: datetime | None
    next_source: str | None
    last_run_at: datetime | None = Field(description="Also of a run that a person asked for.")
    running: bool
    failure_count: int
    failing_since: datetime | None
    not_before_at: datetime | None = Field(description="The target's Retry-After.")
    hints: list[HintResponse]
    pauses: list[PauseResponse]


class UpcomingRunResponse(ResponseSchema):
    at: datetime
    source: str


class EndpointDetailResponse(EndpointResponse):
    next_runs: list[UpcomingRunResponse]
    warnings: list[str] = Field(description="Where baseline and guardrails fight each other.")


class ExplanationResponse(ResponseSchema):
    endpoint_id: UUID
    at: datetime = Field(description="When this was said.")
    summary: str
    next_run_at: datetime | None
    source: str | None
    plan: dict[str, Any] | None = Field(
        description="The record: every candidate and why it was excluded, the winner, clamps, "
        "inputs."
    )
    because: list[str] = Field(description="How it was chosen, in sentences.")
    would_change: list[str] = Field(description="What would change it, in sentences.")


class PreviewResponse(ResponseSchema):
    endpoint_id: UUID
    at: datetime
    planned: list[UpcomingRunResponse] = Field(description="Under the hints and pauses in force.")
    baseline: list[UpcomingRunResponse] = Field(
        description="As if there were no hints and no planner's pause."
    )


class DraftPreviewResponse(ResponseSchema):
    at: datetime
    next_runs: list[UpcomingRunResponse] = Field(
        description="If each goes well; the first of an interval is spread by up to 3 s."
    )
    warnings: list[str] = Field(description="Where baseline and guardrails fight each other.")


class TestCallResponse(ResponseSchema):
    status: str
    status_code: int | None
    error_kind: str | None
    error_message: str | None
    duration_ms: int
    body: Any


class RequestedRunResponse(ResponseSchema):
    endpoint_id: UUID
    slot_at: datetime


class RequestedAnalysisResponse(ResponseSchema):
    endpoint_id: UUID


def endpoint_response(stored: StoredEndpoint) -> EndpointResponse:
    return EndpointResponse(**_fields(stored))


def endpoint_detail_response(
    stored: StoredEndpoint, upcoming: Sequence[Upcoming], warnings: list[str]
) -> EndpointDetailResponse:
    next_runs = [UpcomingRunResponse.model_validate(run) for run in upcoming]
    return EndpointDetailResponse(**_fields(stored), next_runs=next_runs, warnings=warnings)


def explanation_response(
    endpoint_id: UUID, at: datetime, explanation: Explanation
) -> ExplanationResponse:
    plan = explanation.plan
    return ExplanationResponse(
        endpoint_id=endpoint_id,
        at=at,
        summary=explanation.summary,
        next_run_at=null_if_endless(plan.next_run_at) if plan else None,
        source=plan.source if plan else None,
        plan=plan.record() if plan else None,
        because=list(explanation.because),
        would_change=list(explanation.would_change),
    )


def _fields(stored: StoredEndpoint) -> dict[str, Any]:
    endpoint = stored.endpoint
    least, most = endpoint.min_interval, endpoint.max_interval
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
        "backoff": "doubling" if endpoint.backs_off else "none",
        "target": _target(stored.target),
        "next_run_at": null_if_endless(stored.next_run_at),
        "next_source": stored.next_source,
        "last_run_at": endpoint.ran_at,
        "running": endpoint.in_flight,
        "failure_count": endpoint.failure_count,
        "failing_since": stored.failing_since if endpoint.failure_count else None,
        "not_before_at": endpoint.not_before_at,
        "hints": [_hint(hint) for hint in fresh_hints(endpoint, stored.read_at) if hint],
        "pauses": _pauses(stored),
    }


def _baseline(baseline: Baseline) -> BaselineResponse:
    if isinstance(baseline, Every):
        return BaselineResponse(every_ms=milliseconds(baseline.interval))
    if isinstance(baseline, CronLine):
        return BaselineResponse(cron=baseline.expression, timezone=baseline.timezone)
    return BaselineResponse(on_demand=True)


def _target(target: Target) -> TargetResponse:
    timeout_ms = milliseconds(target.timeout)
    if isinstance(target, GraphTarget):
        return TargetResponse(
            kind="graph",
            timeout_ms=timeout_ms,
            graph=target.graph_id,
            input=dict(target.input),
            limits=LimitsResponse(**limits_values(target.limits)),
            grant_id=target.mandate.grant_id if target.mandate else target.grant_id,
            account=target.account,
        )
    if isinstance(target, FunctionTarget):
        return TargetResponse(kind="function", timeout_ms=timeout_ms, function=target.path)
    if isinstance(target, QueueTarget):
        return TargetResponse(
            kind="queue",
            timeout_ms=timeout_ms,
            queue=target.url,
            topic=target.topic,
            exchange=target.exchange or None,
            has_password=target.password is not None,
            headers=dict(target.headers),
            body=target.body,
            await_result=target.waits,
            reply_to=target.reply_to,
        )
    if not isinstance(target, HttpTarget):
        return TargetResponse(
            kind="shell",
            timeout_ms=timeout_ms,
            command=list(target.command),
            folder=target.folder,
        )
    return TargetResponse(
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
        await_result=target.awaits_result,
    )


def _hint(hint: Hint) -> HintResponse:
    is_interval = isinstance(hint, IntervalHint)
    return HintResponse(
        kind="interval" if is_interval else "one-shot",
        interval_ms=milliseconds(hint.interval) if is_interval else None,
        run_at=None if is_interval else hint.run_at,
        expires_at=hint.expires_at,
        author=hint.author,
        reason=hint.reason,
    )


def _pauses(stored: StoredEndpoint) -> list[PauseResponse]:
    endpoint, now = stored.endpoint, stored.read_at
    job_until = endpoint.job_paused_until
    pauses = (
        ("person", endpoint.person_pause),
        ("planner", endpoint.planner_pause),
        ("job", Pause(job_until) if job_until else None),
    )
    return [
        PauseResponse(by=author, until=null_if_endless(pause.until_at), reason=pause.reason)
        for author, pause in pauses
        if pause is not None and pause.until_at > now
    ]


class BulkResultResponse(ResponseSchema):
    endpoint_id: UUID
    result: BulkResult


class BulkResponse(ResponseSchema):
    done: int = Field(description="How many were changed.")
    items: list[BulkResultResponse] = Field(description="In the order that was asked for.")


def bulk_response(results: Mapping[UUID, BulkResult]) -> BulkResponse:
    return BulkResponse(
        done=sum(result is BulkResult.DONE for result in results.values()),
        items=[
            BulkResultResponse(endpoint_id=endpoint_id, result=result)
            for endpoint_id, result in results.items()
        ],
    )


class MatchingCountResponse(ResponseSchema):
    count: int
    is_more: bool = Field(description="More match than an action may be for.")


class MatchingResponse(ResponseSchema):
    matched: int
    done: int = Field(description="How many were changed.")
    unchanged: int = Field(description="How many were so already.")
    archived: int


def matching_response(results: Sequence[BulkResult]) -> MatchingResponse:
    counts = Counter(results)
    return MatchingResponse(
        matched=len(results),
        done=counts[BulkResult.DONE],
        unchanged=counts[BulkResult.UNCHANGED],
        archived=counts[BulkResult.ARCHIVED],
    )
