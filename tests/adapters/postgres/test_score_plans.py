"""How PostgreSQL reads for the score and the activity: by an index, however many runs there are;
and that it tells families apart as the domain does."""

import json
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import UUID

import pytest

from cadenza.adapters.postgres.activity import PostgresActivityReads
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.score import PostgresScoreReads
from cadenza.adapters.postgres.steering_history import PostgresSteeringReads
from cadenza.application.ports.activity import ActivitySearch
from cadenza.application.ports.score import LaneSearch
from cadenza.domain.family import family_of
from cadenza.domain.instants import iso
from cadenza.domain.plan import Source
from tests.adapters.postgres.test_read_plans import ENDPOINT, JOB, TENANT, check, sent_by, url

__all__ = ["url"]  # the fixture: sixty thousand runs over three days

LANES = [ENDPOINT, UUID(int=107), UUID(int=127)]
TO = datetime(2100, 1, 1, tzinfo=UTC)
FROM = datetime(2020, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


async def test_lanes_are_read_by_the_key_of_runs(url: str) -> None:
    async with sent_by(url, PostgresScoreReads) as (reads, planned):
        assert (await reads.lanes(TENANT, LaneSearch(JOB))).endpoints
        counts = await reads.count_runs(LANES, FROM, TO, 100)
        assert counts[ENDPOINT] == 100
        assert await reads.lane_runs(LANES, FROM, TO)
        assert await reads.lane_buckets(LANES, FROM, TO, MINUTE, 50)
        await reads.recent_bodies(LANES, 5)
        await reads.answer_values(ENDPOINT, ["depth"], FROM, TO, 50)
        await reads.suggesting_sessions(LANES, FROM, TO, 5)
    check([plan for plan in planned if "runs" in str(plan)], "runs", "pkey")


async def test_activity_is_read_by_the_index_of_the_tenant_or_the_key(
    url: str,
) -> None:
    async with sent_by(url, PostgresActivityReads) as (reads, planned):
        since = datetime.now(UTC) - timedelta(hours=2)  # noqa: TID251
        assert (await reads.run_activity(TENANT, ActivitySearch(since, TO, MINUTE))).buckets
        await reads.job_strips(TENANT, [JOB], since, MINUTE)
    check([plan for plan in planned if "runs" in str(plan)], "runs", "tenant_id_slot_at_idx")
    async with sent_by(url, PostgresActivityReads) as (reads, planned):
        await reads.run_activity(TENANT, ActivitySearch(FROM, TO, MINUTE, endpoint_id=ENDPOINT))
    check(planned, "runs", "pkey")


async def test_what_bent_a_lane_is_read_by_its_index(url: str) -> None:
    async with sent_by(url, PostgresSteeringReads) as (reads, planned):
        await reads.steering_between(LANES, FROM, TO, 10)
    assert planned


@pytest.fixture
async def database(url: str) -> Database:
    return await open_database(url, connections=1)


async def test_families_are_those_of_the_domain(database: Database) -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    instants = (noon, noon + timedelta(microseconds=1), noon + MINUTE)
    plans: list[dict[str, object] | None] = [None, {}]
    for hinted, plain in product(instants, instants):
        for baseline in ("baseline-cron", "baseline-interval"):
            candidates = [
                {"source": baseline, "at": iso(plain)},
                {"source": "ai-interval", "at": iso(hinted)},
            ]
            plans += [{"candidates": candidates}, {"candidates": candidates[1:]}]
    cases = list(product(Source, (False, True), plans))
    rows = await database.fetch(
        "SELECT run_family(source, is_manual, plan)"
        " FROM unnest($1::text[], $2::boolean[], $3::json[]) WITH ORDINALITY"
        " AS run (source, is_manual, plan, n) ORDER BY n",
        [source for source, _, _ in cases],
        [is_manual for _, is_manual, _ in cases],
        [None if plan is None else json.dumps(plan) for _, _, plan in cases],
    )
    await database.close()
    expected = [family_of(source, plan, is_manual=manual) for source, manual, plan in cases]
    assert [row[0] for row in rows] == expected
