"""The score of a job: why everything ran when it ran, in one answer of bounded size."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cadenza.application.ports.catalogue import JobReads, StoredEndpoint, StoredJob
from cadenza.application.ports.expressions import Expressions
from cadenza.application.ports.run_authors import RunAuthorReads
from cadenza.application.ports.score import LaneBucket, LaneRun, LaneSearch, ScoreReads
from cadenza.application.ports.steering_history import NamedEntry, SteeringReads
from cadenza.application.score_steering import (
    Flag,
    Window,
    flags_of,
    suggestion_flag,
    window_of,
)
from cadenza.application.score_values import (
    ANSWERS,
    CHOICES,
    LOOKED_AT,
    POINTS,
    SERIES,
    Choice,
    Field,
    Series,
    chosen_fields,
    fields_of_rules,
    telling_fields,
)
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import CronLine, fresh_hints
from cadenza.domain.preview import Upcoming, next_runs, next_runs_by_baseline
from cadenza.domain.score import (
    AHEAD,
    BUCKETED_RUNS,
    LONGEST_RANGE,
    RUNS_OF_A_LANE,
    RUNS_OF_A_SCORE,
    USUAL_RANGE,
    bucket_width,
)
from cadenza.domain.session import Session

EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)  # nothing that we know of ran before
PLANNED = 50  # runs ahead, of a lane
PLANNED_IN_ALL = 1_000
WINDOWS = 100  # of a lane
SUGGESTIONS = 200
BY_HAND = 500  # runs of all lanes whose people are named
Windows = Mapping[UUID, list[Window]]
Flags = Mapping[UUID, list[Flag]]
ByHand = Mapping[UUID, Mapping[datetime, str | None]]


@dataclass(frozen=True, slots=True)
class ScoreQuery:
    """`from_at` and `to_at` may be left out: the last hour, and a little of what is ahead."""

    from_at: datetime | None = None
    to_at: datetime | None = None
    endpoint_ids: tuple[UUID, ...] = ()
    after: tuple[str, UUID] | None = None
    lanes: int = 50
    runs: int = RUNS_OF_A_LANE
    values: tuple[Choice, ...] = ()  # none: what the rules read, else what moves most
    with_fields: bool = False

    def span(self, now: datetime) -> tuple[datetime, datetime]:
        to_at = self.to_at
        from_at = self.from_at or max(min(now, to_at or now), EARLIEST) - USUAL_RANGE
        if to_at is None:
            to_at = now + min(max(now - from_at, USUAL_RANGE), LONGEST_RANGE) / AHEAD
        return from_at, to_at


@dataclass(frozen=True, slots=True)
class Lane:
    stored: StoredEndpoint
    runs: Sequence[LaneRun]  # none where there are buckets
    buckets: Sequence[LaneBucket] | None
    known_from: datetime | None  # before this, its runs were too many to be read
    windows: Sequence[Window]
    flags: Sequence[Flag]
    planned: Sequence[Upcoming]
    baseline: Sequence[Upcoming]
    by_hand: Mapping[datetime, str | None]  # who asked for the run of a slot


@dataclass(frozen=True, slots=True)
class Score:
    job: StoredJob
    at: datetime
    from_at: datetime
    to_at: datetime
    bucket: timedelta
    total: int
    lanes: Sequence[Lane]
    has_more: bool
    series: Sequence[Series]
    fields: Sequence[Field] = ()  # that could stand above it; only where they were asked for


@dataclass(frozen=True, slots=True)
class Scores:
    reads: ScoreReads
    jobs: JobReads
    steering: SteeringReads
    authors: RunAuthorReads
    expressions: Expressions
    cron: Cron

    async def of_job(self, tenant_id: UUID, job_id: UUID, query: ScoreQuery) -> Score:
        """NotFound where the tenant has no such job."""
        job = await self.jobs.get_job(tenant_id, job_id)
        from_at, to_at = query.span(job.read_at)
        search = LaneSearch(job_id, query.endpoint_ids, query.after, query.lanes + 1)
        lanes, total = await self.reads.lanes(tenant_id, search)
        page = lanes[: query.lanes]
        width = bucket_width(to_at - from_at)
        fields = await self._fields(job, page, query)
        return Score(
            job,
            job.read_at,
            from_at,
            to_at,
            width,
            total,
            lanes=await self._lanes(job, page, from_at, to_at, query.runs, width),
            has_more=len(lanes) > query.lanes,
            series=await self._series(fields, page, from_at, to_at, query.values),
            fields=fields[:CHOICES] if query.with_fields else (),
        )

    async def _lanes(
        self,
        job: StoredJob,
        page: Sequence[StoredEndpoint],
        from_at: datetime,
        to_at: datetime,
        most: int,
        width: timedelta,
    ) -> list[Lane]:
        ids = [stored.endpoint.id for stored in page]
        if not ids:
            return []
        # What bent them, and what lies ahead, is found out while the database looks for runs.
        (runs, buckets, per_lane), (windows, flags, by_hand), ahead = await asyncio.gather(
            self._runs(ids, from_at, to_at, most, width),
            self._bent(job, ids, from_at, to_at),
            _ahead(page, job.read_at, to_at, self.cron),
        )
        return [
            Lane(
                stored,
                runs.get(id_, ()),
                buckets.get(id_),
                _known_from(buckets.get(id_), per_lane),
                windows[id_],
                sorted(flags[id_], key=lambda flag: flag.at),
                *ahead[id_],
                by_hand[id_],
            )
            for id_, stored in zip(ids, page, strict=True)
        ]

    async def _bent(
        self, job: StoredJob, ids: Sequence[UUID], from_at: datetime, to_at: datetime
    ) -> tuple[Windows, Flags, ByHand]:
        entries = await self.steering.steering_between(ids, from_at, to_at, WINDOWS)
        sessions = await self.reads.suggesting_sessions(ids, from_at, to_at, SUGGESTIONS)
        asked = await self.authors.asked_between(ids, from_at, to_at, BY_HAND)
        by_hand = defaultdict[UUID, dict[datetime, str | None]](dict)
        for (endpoint_id, slot_at), author in asked.items():
            by_hand[endpoint_id][slot_at] = author.name
        rules = {rule.id: rule.name for rule in job.job.rules if rule.id is not None}
        return *_steered(entries, sessions, rules, job.read_at, from_at), by_hand

    async def _runs(
        self,
        ids: Sequence[UUID],
        from_at: datetime,
        to_at: datetime,
        most: int,
        width: timedelta,
    ) -> tuple[Mapping[UUID, Sequence[LaneRun]], Mapping[UUID, list[LaneBucket]], int]:
        """One by one where they are few; else counted, so many of the newest of each lane."""
        most = min(most, RUNS_OF_A_SCORE // len(ids))
        counts = await self.reads.count_runs(ids, from_at, to_at, most + 1)
        few = [id_ for id_ in ids if counts[id_] <= most]
        many = [id_ for id_ in ids if counts[id_] > most]
        runs: Mapping[UUID, Sequence[LaneRun]] = {}
        buckets: dict[UUID, list[LaneBucket]] = {}
        if few:
            runs = await self.reads.lane_runs(few, from_at, to_at)
        per_lane = BUCKETED_RUNS // max(1, len(many))
        if many:
            counted = await self.reads.lane_buckets(many, from_at, to_at, width, per_lane)
            for bucket in counted:
                buckets.setdefault(bucket.endpoint_id, []).append(bucket)
        return runs, buckets, per_lane

    async def _fields(
        self, job: StoredJob, page: Sequence[StoredEndpoint], query: ScoreQuery
    ) -> list[Field]:
        """What the rules read; and what else is in the answers, where that is wanted or all."""
        fields = fields_of_rules(job.job.rules, page, self.expressions)
        if not page or (fields and not query.with_fields):
            return fields
        looked_at = [stored.endpoint.id for stored in page[:LOOKED_AT]]
        others = telling_fields(await self.reads.recent_bodies(looked_at, ANSWERS), page)
        known = {(field.endpoint_id, field.path) for field in fields}
        return fields + [field for field in others if (field.endpoint_id, field.path) not in known]

    async def _series(
        self,
        known: Sequence[Field],
        page: Sequence[StoredEndpoint],
        from_at: datetime,
        to_at: datetime,
        choice: Sequence[Choice],
    ) -> list[Series]:
        fields = chosen_fields(choice, known, page) or known
        series: list[Series] = []
        for field in fields[: 3 * SERIES]:
            span = (from_at, to_at, POINTS)
            points = await self.reads.answer_values(field.endpoint_id, field.path, *span)
            if points:
                series.append(Series(field, points))
            if len(series) == SERIES:
                break
        return series


def _steered(
    entries: Sequence[NamedEntry],
    sessions: Sequence[Session],
    rules: Mapping[UUID, str],
    now: datetime,
    from_at: datetime,
) -> tuple[Windows, Flags]:
    windows, flags = defaultdict[UUID, list[Window]](list), defaultdict[UUID, list[Flag]](list)
    for named in entries:
        endpoint_id = named.entry.endpoint_id
        windows[endpoint_id].append(window_of(named, rules, now))
        flags[endpoint_id] += (flag for flag in flags_of(named, rules) if flag.at >= from_at)
    for session in sessions:
        if (flag := suggestion_flag(session, rules)) is not None:
            flags[session.endpoint_id].append(flag)
    return windows, flags


def _known_from(buckets: Sequence[LaneBucket] | None, per_lane: int) -> datetime | None:
    if not buckets or sum(bucket.runs for bucket in buckets) < per_lane:
        return None
    return min(bucket.first_at for bucket in buckets)


Ahead = tuple[list[Upcoming], list[Upcoming]]


async def _ahead(
    page: Sequence[StoredEndpoint], now: datetime, to_at: datetime, cron: Cron
) -> Mapping[UUID, Ahead]:
    """Planned under what is in force, and by the baseline alone; nothing where all is past."""
    if to_at <= now:
        return defaultdict(lambda: ([], []))
    count = min(PLANNED, max(1, PLANNED_IN_ALL // len(page)))

    def walk() -> dict[UUID, Ahead]:
        return {lane.endpoint.id: _walk(lane, now, to_at, cron, count) for lane in page}

    # A rare cron line takes long to walk, and others are waiting.
    is_cron = any(isinstance(lane.endpoint.baseline, CronLine) for lane in page)
    return await asyncio.to_thread(walk) if is_cron else walk()


def _walk(lane: StoredEndpoint, now: datetime, to_at: datetime, cron: Cron, count: int) -> Ahead:
    endpoint = lane.endpoint
    planned = next_runs(endpoint, now, cron, count, to_at)
    is_bent = any(fresh_hints(endpoint, now)) or endpoint.planner_pause is not None
    if not is_bent:
        return planned, planned
    return planned, next_runs_by_baseline(endpoint, now, cron, count, to_at)
