"""How PostgreSQL reads runs for their owners: by an index, however many there are.

As in test_plans: the statements that are really sent, planned for their values and for any.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.records import PostgresEventLog
from cadenza.adapters.postgres.run_reads import PostgresRunReads
from cadenza.adapters.postgres.usage import PostgresUsage
from cadenza.application.ports.event_log import BEGINNING
from cadenza.application.ports.run_search import RunSearch
from cadenza.domain.run import RunStatus
from tests.adapters.postgres.test_plans import Plan, Watched, nodes, plans
from tests.postgres import migrated_database_url

TENANT, ENDPOINT, JOB = UUID(int=7), UUID(int=247), UUID(int=7)
RUNS = 60_000
TARGET = json.dumps(
    {
        "kind": "http",
        "url": "http://a.example/",
        "method": "GET",
        "headers": {},
        "body": None,
        "timeout_ms": 30_000,
    }
)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    database = migrated_database_url()
    with asyncio.Runner() as runner:
        url = runner.run(database.__aenter__())
        runner.run(_fill(url))
        yield url
        runner.run(database.__aexit__(None, None, None))


async def _fill(url: str) -> None:
    """Twenty tenants, ten endpoints each; runs over three days to their end, whatever the time is,
    each day a partition."""
    database = await open_database(url, connections=1)
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)  # noqa: TID251
    async with database.connection() as connection:
        for back in range(3):
            begins = today - timedelta(days=back)
            await connection.execute(
                f"CREATE TABLE runs_{begins:%Y%m%d} PARTITION OF runs FOR VALUES FROM"
                f" ('{begins.isoformat()}') TO ('{(begins + timedelta(days=1)).isoformat()}')"
            )
        uuid = "lpad(to_hex({}), 32, '0')::uuid"
        n, tenant, endpoint = (
            uuid.format(number) for number in ("n", "n % 20", "100 + n % 20 + 20 * (n % 10)")
        )
        await connection.execute(
            f"INSERT INTO tenants (id, name) SELECT {n}, n FROM generate_series(0, 19) AS n;"
            f"INSERT INTO jobs (id, tenant_id, name) SELECT id, id, 'job' FROM tenants;"
            "INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target)"
            f" SELECT {uuid.format('100 + n')}, {tenant}, {tenant}, n, now(), '{TARGET}'"
            " FROM generate_series(0, 199) AS n"
        )
        await connection.execute(
            "INSERT INTO runs (id, endpoint_id, tenant_id, slot_at, source, status, attempt,"
            " epoch, claimed_at, finished_at)"
            f" SELECT {n}, {endpoint}, {tenant}, at, 'baseline-interval', 'success', 1, 1, at, at"
            " FROM (SELECT n, $1::timestamptz + n * interval '4.31 s' AS at"
            "   FROM generate_series(0, $2::int) AS n) AS slots",
            today - timedelta(days=2),
            RUNS,
        )
        await connection.execute(
            "UPDATE runs SET status = 'failure'"
            " WHERE ('x' || right(id::text, 4))::bit(16)::int % 7 = 3"
        )
        await connection.execute(
            f"INSERT INTO events (tenant_id, kind) SELECT {tenant}, 'x'"
            " FROM generate_series(0, 5000) AS n"
        )
        await connection.execute("VACUUM ANALYZE")
    await database.close()


@asynccontextmanager
async def sent_by(url: str, reader: type[Any]) -> AsyncIterator[tuple[Any, list[Plan]]]:
    """A reader; when the block ends, how everything it sent would be done."""
    database = await open_database(url, connections=2)
    watched, planned = Watched(database), list[Plan]()
    yield reader(watched), planned
    async with database.connection() as connection:
        for statement in watched.seen:
            planned += await plans(connection, statement)
    await database.close()


def check(planned: list[Plan], table: str, *indexes: str) -> None:
    """Each of the table's parts is read by one of these, and none of them from end to end."""
    assert planned
    for plan in planned:
        reads = [node for node in nodes(plan) if node.get("Relation Name", "").startswith(table)]
        whole = [node for node in reads if node["Node Type"] == "Seq Scan"]
        # An empty default partition is read whole, which is nothing.
        assert not [node for node in whole if node["Relation Name"] != f"{table}_default"]
    used = {node["Index Name"] for plan in planned for node in nodes(plan) if "Index Name" in node}
    for index in indexes:
        assert any(name.endswith(index) for name in used), f"{used} has no {index}"


@pytest.mark.parametrize(
    "search",
    [
        RunSearch(),
        RunSearch(statuses=(RunStatus.SUCCESS,)),
        RunSearch(after=(datetime(2020, 1, 1, tzinfo=UTC), UUID(int=5))),
        RunSearch(from_at=datetime(2020, 1, 1, tzinfo=UTC)),
    ],
    ids=["all", "by status", "deep", "by time"],
)
async def test_the_runs_of_a_tenant_are_read_by_its_index(url: str, search: RunSearch) -> None:
    async with sent_by(url, PostgresRunReads) as (reads, planned):
        await reads.search_runs(TENANT, search)
    check(planned, "runs", "tenant_id_slot_at_idx", *(() if search.is_plain else ("pkey",)))


@pytest.mark.parametrize(
    "search",
    [
        RunSearch(endpoint_id=ENDPOINT),
        RunSearch(endpoint_id=ENDPOINT, statuses=(RunStatus.SUCCESS,)),
        RunSearch(job_id=JOB),
    ],
    ids=["endpoint", "endpoint by status", "job"],
)
async def test_the_runs_of_an_endpoint_or_a_job_are_read_by_key(
    url: str, search: RunSearch
) -> None:
    async with sent_by(url, PostgresRunReads) as (reads, planned):
        assert (await reads.search_runs(TENANT, search)).items
    check([plan for plan in planned if "runs" in str(plan)], "runs", "pkey")


@pytest.mark.parametrize("endpoint_id", [None, ENDPOINT], ids=["of all", "of an endpoint"])
async def test_failed_runs_are_read_by_their_own_indexes(
    url: str, endpoint_id: UUID | None
) -> None:
    search = RunSearch(endpoint_id=endpoint_id, statuses=(RunStatus.FAILURE, RunStatus.TIMEOUT))
    async with sent_by(url, PostgresRunReads) as (reads, planned):
        assert (await reads.search_runs(TENANT, search)).items
    by = "failed_runs_of_tenant" if endpoint_id is None else "failed_runs_pkey"
    check(planned, "failed_runs", by)
    check(planned, "runs", "pkey")


async def test_one_run_is_found_by_its_id(url: str) -> None:
    async with sent_by(url, PostgresRunReads) as (reads, planned):
        assert (await reads.get_run(TENANT, UUID(int=7))).run.tenant_id == TENANT
    check(planned, "runs", "_id_idx")


async def test_health_reads_a_day_of_an_endpoint_and_no_more(url: str) -> None:
    async with sent_by(url, PostgresRunReads) as (reads, planned):
        await reads.health_of(TENANT, ENDPOINT)
    check(planned, "runs", "pkey")
    conditions = [node.get("Index Cond", "") for plan in planned for node in nodes(plan)]
    assert any("slot_at" in condition for condition in conditions)


async def test_usage_counts_by_the_index_of_the_tenant(url: str) -> None:
    async with sent_by(url, PostgresUsage) as (reads, planned):
        await reads.usage(TENANT)
    check(planned, "run_counts", "run_counts_pkey")


async def test_events_are_read_by_the_index_of_their_order(url: str) -> None:
    async with sent_by(url, PostgresEventLog) as (log, planned):
        assert await log.read_after(TENANT, BEGINNING, 200)
    check(planned, "events", "events_of_tenant")
