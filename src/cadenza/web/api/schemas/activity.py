"""How much runs, as it is sent."""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from typing import Annotated
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict  # before Python 3.12, pydantic knows no other

from cadenza.application.ports.activity import Activity, ActivityBucket, Percentiles, StateCounts
from cadenza.domain.family import Family
from cadenza.domain.instants import milliseconds
from cadenza.web.api.schemas.base import ResponseSchema

KnownFrom = Annotated[
    datetime | None,
    Field(description="Before this there were too many runs to be counted; null: none were."),
]


class PercentilesResponse(ResponseSchema):
    p50: float | None
    p95: float | None


class StripBucketResponse(TypedDict):
    from_at: Annotated[datetime, Field(alias="from")]
    counts: Annotated[dict[Family, int], Field(description="Runs by family.")]
    failed: int
    timed_out: int


class ActivityBucketResponse(StripBucketResponse):
    lateness_ms: Annotated[PercentilesResponse, Field(description="From slot to start.")]
    duration_ms: PercentilesResponse


class ActivityResponse(ResponseSchema):
    from_at: datetime = Field(serialization_alias="from")
    to: datetime
    bucket_ms: int
    known_from: KnownFrom
    buckets: list[ActivityBucketResponse] = Field(description="By time, without empty ones.")


class StateCountsResponse(ResponseSchema):
    """Of endpoints that are not archived; one that fails may be paused, too."""

    total: int
    ok: int = Field(description="None of the others.")
    failing: int
    late: int
    paused: int
    hinted: int


class JobStripResponse(ResponseSchema):
    job_id: UUID
    states: StateCountsResponse
    known_from: KnownFrom
    buckets: list[StripBucketResponse]


class JobStripsResponse(ResponseSchema):
    from_at: datetime = Field(serialization_alias="from")
    bucket_ms: int
    items: list[JobStripResponse]


class PlannerDayResponse(ResponseSchema):
    day: date
    sessions: int
    tokens: int
    cost: float = Field(description="In dollars.")


class PlannerDaysResponse(ResponseSchema):
    items: list[PlannerDayResponse]
    idle_looks: int = Field(description="Looks that came to nothing: counted, never stored.")


def activity_response(
    activity: Activity, from_at: datetime, to_at: datetime, width: timedelta
) -> ActivityResponse:
    return ActivityResponse(
        from_at=from_at,
        to=to_at,
        bucket_ms=milliseconds(width),
        known_from=activity.known_from,
        buckets=[
            ActivityBucketResponse(
                **_strip_bucket(bucket),
                lateness_ms=_in_ms(bucket.lateness),
                duration_ms=_in_ms(bucket.duration),
            )
            for bucket in activity.buckets
        ],
    )


def job_strip_response(
    job_id: UUID, states: StateCounts | None, activity: Activity | None
) -> JobStripResponse:
    buckets: Sequence[ActivityBucket] = activity.buckets if activity is not None else ()
    return JobStripResponse(
        job_id=job_id,
        states=StateCountsResponse.model_validate(states or StateCounts()),
        known_from=activity.known_from if activity is not None else None,
        buckets=[_strip_bucket(bucket) for bucket in buckets],
    )


def _strip_bucket(bucket: ActivityBucket) -> StripBucketResponse:
    return {
        "from_at": bucket.from_at,
        "counts": dict(bucket.counts),
        "failed": bucket.failed,
        "timed_out": bucket.timed_out,
    }


def _in_ms(percentiles: Percentiles) -> PercentilesResponse:
    p50, p95 = (
        None if value is None else value / timedelta(milliseconds=1)
        for value in (percentiles.p50, percentiles.p95)
    )
    return PercentilesResponse(p50=p50, p95=p95)
