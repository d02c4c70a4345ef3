"""The score of a job, as it is sent: dictionaries where there are thousands of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12, pydantic knows no other

from cadenza.application import score_values
from cadenza.application.descriptions import describe_baseline
from cadenza.application.ports.score import LaneBucket, LaneRun
from cadenza.application.score_steering import Flag, Window, reason_at
from cadenza.application.score_values import Series
from cadenza.application.scores import Lane, Score
from cadenza.domain.endpoint import CronLine, Endpoint, EndpointState, Every
from cadenza.domain.family import Family, planned_family
from cadenza.domain.hint import Author
from cadenza.domain.instants import milliseconds
from cadenza.domain.plan import Source
from cadenza.domain.preview import Upcoming
from cadenza.domain.run import RunStatus
from cadenza.domain.score import SteeredBy, shown_state
from cadenza.domain.target import only_reads
from cadenza.web.api.parsing.cursors import write_cursor
from cadenza.web.api.schemas.base import AS_TEXT, Id, ResponseSchema, null_if_endless

_WINDOW_OF = {
    Family.TIGHTENED: "interval",
    Family.RELAXED: "interval",
    Family.ONCE: "once",
}


class LaneEndpointResponse(ResponseSchema):
    id: UUID
    name: str
    baseline: str = Field(description="In words.", examples=["every 5 min"])
    interval_ms: int | None = Field(description="null: it runs by cron, or on demand.")
    cron: str | None
    timezone: str | None
    min_interval_ms: int | None
    max_interval_ms: int | None
    state: EndpointState = Field(
        description="Of those it is in, the first of archived, paused, failing, late and hinted."
    )
    failure_count: int
    paused_until: datetime | None = Field(description="null too where a pause has no end.")
    only_reads: bool = Field(description="Its request changes nothing at the target.")
    running: bool
    next_run_at: datetime | None
    next_source: Source | None


class ScoreRunResponse(TypedDict):
    id: Id
    slot_at: datetime
    source: Annotated[Source, AS_TEXT]
    family: Annotated[Family, AS_TEXT]
    status: Annotated[RunStatus, AS_TEXT]
    attempt: int
    started_at: datetime | None
    duration_ms: int | None
    status_code: int | None
    error: Annotated[str | None, Field(description="Its kind and message, cut short.")]
    skipped_slots: int
    reason: Annotated[str | None, Field(description="Of the hint that asked for it.")]
    session_id: Annotated[Id | None, Field(description="Whose hint or pause chose its slot.")]
    asked_by: Annotated[str | None, Field(description="The name of who ran it by hand.")]


class ScoreBucketResponse(TypedDict):
    from_at: Annotated[datetime, Field(alias="from")]
    counts: Annotated[dict[Family, int], Field(description="Runs by family.")]
    failed: int
    timed_out: int


class WindowAuthorResponse(TypedDict):
    kind: Annotated[SteeredBy, AS_TEXT]
    name: Annotated[str | None, Field(description="Of the person or the declared rule.")]


class ScoreWindowResponse(TypedDict):
    kind: Annotated[str, Field(examples=["interval"], description="interval, pause or job-pause.")]
    bends: Annotated[str | None, Field(description="tightened or relaxed; null for a pause.")]
    from_at: Annotated[datetime, Field(alias="from")]
    to: Annotated[
        datetime | None, Field(description="Its end, real or planned; null: until resumed.")
    ]
    ended_as: Annotated[str, Field(description="standing, expired, cleared or replaced.")]
    interval_ms: int | None
    renewals: Annotated[int, Field(description="How often it was lengthened.")]
    author: WindowAuthorResponse
    reason: str
    session_id: UUID | None


class ScoreFlagResponse(TypedDict):
    at: datetime
    by: Annotated[Author, AS_TEXT]
    name: Annotated[str | None, Field(description="Of the person or the rule, else the brain.")]
    kind: Annotated[
        str, Field(description="interval, once, pause, job-pause, resume, clear or suggested.")
    ]
    text: str
    session_id: UUID | None
    rule: str | None


class PlannedRunResponse(TypedDict):
    at: datetime
    source: Annotated[Source, AS_TEXT]
    family: Annotated[Family, AS_TEXT]


class LaneResponse(ResponseSchema):
    endpoint: LaneEndpointResponse
    run_count: int = Field(description="In the range; where `known_from` is set, since then.")
    known_from: datetime | None = Field(
        description="Before this instant there were too many runs to be read; null: none were."
    )
    runs: list[ScoreRunResponse] = Field(description="By slot; none where there are buckets.")
    buckets: list[ScoreBucketResponse] | None = Field(
        description="By time, without empty ones; null where the runs are told one by one."
    )
    windows: list[ScoreWindowResponse]
    flags: list[ScoreFlagResponse]
    planned: list[PlannedRunResponse] = Field(description="Under the hints and pauses in force.")
    baseline: list[PlannedRunResponse] = Field(description="What the baseline alone would do.")


class LimitResponse(ResponseSchema):
    op: str = Field(examples=[">"])
    value: float
    rule: str


class FieldResponse(ResponseSchema):
    endpoint_id: UUID
    endpoint: str
    field: str = Field(examples=["queue.depth"])
    path: list[str]


class SeriesResponse(FieldResponse):
    points: list[tuple[datetime, float]] = Field(description="By time, at most 500.")
    limits: list[LimitResponse] = Field(description="What declared rules compare it with.")


class ScoreJobResponse(ResponseSchema):
    id: UUID
    name: str
    paused_until: datetime | None = Field(description="null too where a pause has no end.")


class ScoreResponse(ResponseSchema):
    job: ScoreJobResponse
    at: datetime = Field(description="Now, by the server: what is planned lies behind it.")
    from_at: datetime = Field(serialization_alias="from")
    to: datetime
    bucket_ms: int
    lanes_total: int
    lanes: list[LaneResponse]
    next: str | None = Field(description="The cursor of the next lanes; null where these are all.")
    values: list[SeriesResponse] = Field(description="At most two.")
    fields: list[FieldResponse] = Field(
        description="What `value` may ask for, at most 60; only with `fields=true`."
    )


def score_response(score: Score) -> ScoreResponse:
    job = score.job.job
    last = score.lanes[-1].stored.endpoint if score.has_more else None
    return ScoreResponse(
        job=ScoreJobResponse(
            id=job.id, name=job.name, paused_until=null_if_endless(job.paused_until)
        ),
        at=score.at,
        from_at=score.from_at,
        to=score.to_at,
        bucket_ms=milliseconds(score.bucket),
        lanes_total=score.total,
        lanes=[lane_response(lane, score.at) for lane in score.lanes],
        next=None if last is None else write_cursor(last.name, last.id),
        values=[series_response(series) for series in score.series],
        fields=[field_response(field) for field in score.fields],
    )


def lane_response(lane: Lane, now: datetime) -> LaneResponse:
    endpoint = lane.stored.endpoint
    buckets = lane.buckets
    planned = [_planned(endpoint, run) for run in lane.planned]
    is_bent = lane.baseline is not lane.planned
    return LaneResponse.model_construct(
        endpoint=_endpoint(lane, now),
        run_count=len(lane.runs) if buckets is None else sum(bucket.runs for bucket in buckets),
        known_from=lane.known_from,
        runs=[_run(run, lane.windows, lane.by_hand) for run in lane.runs],
        buckets=None if buckets is None else _buckets(buckets),
        windows=[_window(window) for window in lane.windows if window.kind != "once"],
        flags=[_flag(flag) for flag in lane.flags],
        planned=planned,
        baseline=[_planned(endpoint, run) for run in lane.baseline] if is_bent else planned,
    )


def _endpoint(lane: Lane, now: datetime) -> LaneEndpointResponse:
    stored, endpoint = lane.stored, lane.stored.endpoint
    baseline, least, most = endpoint.baseline, endpoint.min_interval, endpoint.max_interval
    cron = baseline if isinstance(baseline, CronLine) else None
    return LaneEndpointResponse(
        id=endpoint.id,
        name=endpoint.name,
        baseline=describe_baseline(endpoint),
        interval_ms=milliseconds(baseline.interval) if isinstance(baseline, Every) else None,
        cron=cron.expression if cron else None,
        timezone=cron.timezone if cron else None,
        min_interval_ms=None if least is None else milliseconds(least),
        max_interval_ms=None if most is None else milliseconds(most),
        state=shown_state(endpoint, stored.next_run_at, now),
        failure_count=endpoint.failure_count,
        paused_until=null_if_endless(endpoint.paused_until(now)),
        only_reads=only_reads(stored.target),
        running=endpoint.in_flight,
        next_run_at=null_if_endless(stored.next_run_at),
        next_source=stored.next_source,
    )


def _run(
    run: LaneRun, windows: Sequence[Window], by_hand: Mapping[datetime, str | None]
) -> ScoreRunResponse:
    kind = _WINDOW_OF.get(run.family)
    has_error = run.error_kind is not None or run.error_message is not None
    return {
        "id": run.id,
        "slot_at": run.slot_at,
        "source": run.source,
        "family": run.family,
        "status": run.status,
        "attempt": run.attempt,
        "started_at": run.started_at,
        "duration_ms": run.took_ms,
        "status_code": run.status_code,
        "error": _error(run) if has_error else None,
        "skipped_slots": run.skipped_slots,
        "reason": None if kind is None else reason_at(windows, run.slot_at, kind),
        "session_id": run.session_id,
        "asked_by": by_hand.get(run.slot_at) if by_hand else None,
    }


def _error(run: LaneRun) -> str | None:
    return ": ".join(filter(None, (run.error_kind, run.error_message))) or None


def _buckets(buckets: Sequence[LaneBucket]) -> list[ScoreBucketResponse]:
    by_time: dict[datetime, ScoreBucketResponse] = {}
    for bucket in buckets:
        empty = ScoreBucketResponse(from_at=bucket.from_at, counts={}, failed=0, timed_out=0)
        entry = by_time.setdefault(bucket.from_at, empty)
        entry["counts"][bucket.family] = bucket.runs
        entry["failed"] += bucket.failed
        entry["timed_out"] += bucket.timed_out
    return list(by_time.values())


def _window(window: Window) -> ScoreWindowResponse:
    entry, advice = window.entry, window.entry.advice
    return ScoreWindowResponse(
        kind=window.kind,
        bends=window.bends,
        from_at=entry.begun_at,
        to=null_if_endless(entry.until_at),
        ended_as=window.ended_as,
        interval_ms=None if advice.interval is None else milliseconds(advice.interval),
        renewals=entry.renewals,
        author=WindowAuthorResponse(kind=window.steered_by, name=window.author_name),
        reason=advice.reason,
        session_id=advice.session_id,
    )


def _flag(flag: Flag) -> ScoreFlagResponse:
    return {
        "at": flag.at,
        "by": flag.by,
        "name": flag.name,
        "kind": flag.kind,
        "text": flag.text,
        "session_id": flag.session_id,
        "rule": flag.rule,
    }


def _planned(endpoint: Endpoint, run: Upcoming) -> PlannedRunResponse:
    return {"at": run.at, "source": run.source, "family": planned_family(endpoint, run.source)}


def series_response(series: Series) -> SeriesResponse:
    field = series.field
    return SeriesResponse(
        **field_response(field).model_dump(),
        points=list(series.points),
        limits=[LimitResponse.model_validate(limit) for limit in field.limits],
    )


def field_response(field: score_values.Field) -> FieldResponse:
    return FieldResponse(
        endpoint_id=field.endpoint_id,
        endpoint=field.endpoint_name,
        field=".".join(field.path),
        path=list(field.path),
    )
