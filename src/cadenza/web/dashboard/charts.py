"""What charts and strips show: columns of numbers over time, told in a table beside the picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.activity import Activity, ActivityBucket, ActivitySearch
from cadenza.application.ports.catalogue import StoredEndpoint
from cadenza.application.score_values import Series
from cadenza.application.scores import ScoreQuery
from cadenza.domain.family import Family
from cadenza.domain.instants import milliseconds
from cadenza.domain.score import bucket_width
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.dashboard.visitor import Visitor
from cadenza.web.dashboard.words import plural

HOUR, DAY, MINUTE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)
BUCKETS = 60
# Of each family: the token of its colour, and what it is called.
TOKENS = {
    Family.BASELINE: ("baseline", "Baseline"),
    Family.TIGHTENED: ("tight", "Tightened"),
    Family.RELAXED: ("relaxed", "Relaxed"),
    Family.ONCE: ("once", "Asked once"),
    Family.MANUAL: ("hand", "By hand"),
    Family.HELD: ("limit", "Held by a limit"),
}
Row = tuple[datetime, Sequence[float | None]]


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    token: str
    kind: str = "line"  # bar: they stand on each other; dots: only where it is more than 0
    unit: str = ""  # ms, or nothing


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]  # oldest first


# --- Runs -------------------------------------------------------------------------------------


async def runs_a_minute(dependencies: Dependencies, visitor: Visitor) -> Chart | None:
    """Of everything in the last hour, by family and outcome; None where nothing ran."""
    now = dependencies.around.clock.now()
    search = ActivitySearch(now.replace(second=0, microsecond=0) - 59 * MINUTE, now, MINUTE)
    reads = dependencies.reads.activity
    activity = await reads.run_activity(visitor.caller.tenant_id, search)
    if not activity.buckets:
        return None
    families = [family for family in Family if any(family in b.counts for b in activity.buckets)]
    columns = [Column(TOKENS[family][1], TOKENS[family][0], "bar") for family in families]
    rows = [
        (at, [*(_count(bucket, family) for family in families), _bad(bucket)])
        for at, bucket in _filled(activity, search)
    ]
    failed = Column("Failed or timed out", "danger", "dots")
    return Chart("runs", "Runs a minute", [*columns, failed], rows)


def _filled(
    activity: Activity, search: ActivitySearch
) -> list[tuple[datetime, ActivityBucket | None]]:
    """Every bucket of the range, also those in which nothing ran."""
    known = {bucket.from_at: bucket for bucket in activity.buckets}
    count = -(-(search.to_at - search.from_at) // search.width)
    times = (search.from_at + number * search.width for number in range(count))
    return [(at, known.get(at)) for at in times]


def _count(bucket: ActivityBucket | None, family: Family) -> int:
    return 0 if bucket is None else bucket.counts.get(family, 0)


def _bad(bucket: ActivityBucket | None) -> int:
    return 0 if bucket is None else bucket.failed + bucket.timed_out


# --- An endpoint ------------------------------------------------------------------------------


async def charts_of_endpoint(
    dependencies: Dependencies, visitor: Visitor, stored: StoredEndpoint
) -> list[Chart]:
    """How long and how late it ran, and the numbers in its answers: a day, or since it is there."""
    now, endpoint = dependencies.around.clock.now(), stored.endpoint
    from_at = max(now - DAY, min(endpoint.created_at, now - HOUR))
    width = bucket_width(now - from_at, BUCKETS)
    search = ActivitySearch(from_at, now, width, endpoint_id=endpoint.id)
    reads, tenant_id = dependencies.reads.activity, visitor.caller.tenant_id
    activity = await reads.run_activity(tenant_id, search)
    if not activity.buckets:
        return []
    query = ScoreQuery(from_at, now, (endpoint.id,), lanes=1, runs=1)
    score = await dependencies.scores.of_job(tenant_id, endpoint.job_id, query)
    return [
        _pace(activity),
        *(_values(number, series) for number, series in enumerate(score.series)),
    ]


def _pace(activity: Activity) -> Chart:
    columns = (
        Column("Duration, median", "baseline", unit="ms"),
        Column("Duration, 95th percentile", "tight", unit="ms"),
        Column("Late, 95th percentile", "limit", unit="ms"),
    )
    rows = [
        (
            bucket.from_at,
            [_ms(bucket.duration.p50), _ms(bucket.duration.p95), _ms(bucket.lateness.p95)],
        )
        for bucket in activity.buckets
    ]
    return Chart("pace", "Duration and lateness", columns, rows)


def _ms(duration: timedelta | None) -> float | None:
    return None if duration is None else max(0, milliseconds(duration))


def _values(number: int, series: Series) -> Chart:
    name = ".".join(series.field.path)
    rows: list[Row] = [(at, [value]) for at, value in series.points]
    return Chart(f"value-{number}", f"{name} in responses", [Column(name, "ink-2")], rows)


# --- Strips -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Bar:
    """Part of a minute's column, in the units of a strip: 60 wide, 20 high."""

    x: int
    y: float
    height: float
    token: str


@dataclass(frozen=True, slots=True)
class Strip:
    """The last hour of a job by minute, and the same in words."""

    words: str
    bars: Sequence[Bar] = ()
    failed: Sequence[int] = ()  # the minutes in which something did


async def strips_of(
    dependencies: Dependencies, visitor: Visitor, job_ids: Sequence[UUID]
) -> Mapping[UUID, Strip]:
    from_at = dependencies.around.clock.now().replace(second=0, microsecond=0) - 59 * MINUTE
    reads = dependencies.reads.activity
    strips = await reads.job_strips(visitor.caller.tenant_id, job_ids, from_at, MINUTE)
    return {id_: strip_of(strips.get(id_), from_at) for id_ in job_ids}


def strip_of(activity: Activity | None, from_at: datetime) -> Strip:
    if activity is None or not activity.buckets:
        return Strip("Nothing ran in the last hour")
    total = sum(sum(bucket.counts.values()) for bucket in activity.buckets)
    bad = sum(map(_bad, activity.buckets))
    most = max(sum(bucket.counts.values()) for bucket in activity.buckets)
    bars, failed = list[Bar](), list[int]()
    for bucket in activity.buckets:
        minute = (bucket.from_at - from_at) // MINUTE
        bars += _bars(minute, bucket, most)
        if _bad(bucket):
            failed.append(minute)
    words = f"{plural(total, 'run')} in the last hour, {f'{bad:,} failed' if bad else 'all fine'}"
    return Strip(words, bars, failed)


def _bars(minute: int, bucket: ActivityBucket, most: int) -> list[Bar]:
    """As high as the root of the count says, so that one run still shows."""
    total = sum(bucket.counts.values())
    height, top = max(3.0, 16 * (total / most) ** 0.5), 16.0
    bars: list[Bar] = []
    for family in Family:
        if count := bucket.counts.get(family, 0):
            part = height * count / total
            top -= part
            bars.append(Bar(minute, round(top, 2), round(part, 2), TOKENS[family][0]))
    return bars
