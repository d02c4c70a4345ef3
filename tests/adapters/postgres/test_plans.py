"""How PostgreSQL finds what is due: by its indexes, with 50,000 endpoints as with ten.

The statements are those that the queue really sends, with the values that it sends. Each is planned
for these values, and once more for any, as PostgreSQL does with a statement that comes often.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import pytest

from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.database import Connection, Database, open_database
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.targets import target_json
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.ports.analysis_queue import AnalysisRequest
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.analysis import Attention
from cadenza.domain.run import Claim, FinishedRun
from cadenza.domain.target import HttpTarget
from tests.factories import OK, seconds
from tests.postgres import BOX, migrated_database_url, run_queue

ENDPOINTS = 50_000
FEWER = 5_000  # so many are read in a few milliseconds, which is too long for each claim
DUE = 2_000
REQUEST = ClaimRequest("worker", limit=100, lease=seconds(30), ahead=seconds(0.25), per_host=1000)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """One database for all of them; the tests change a few of its rows."""
    database = migrated_database_url()
    with asyncio.Runner() as runner:
        url = runner.run(database.__aenter__())
        runner.run(_fill(url, ENDPOINTS))
        yield url
        runner.run(database.__aexit__(None, None, None))


async def _fill(url: str, endpoints: int, tenants: int = 100) -> None:
    """Of the tenants' endpoints a few are overdue, and the others spread over a day."""
    database = await open_database(url, connections=1)
    async with database.connection() as connection:
        await connection.execute(
            "INSERT INTO tenants (id, name)"
            f" SELECT gen_random_uuid(), n FROM generate_series(1, {tenants}) AS n;"
            "INSERT INTO jobs (id, tenant_id, name)"
            " SELECT gen_random_uuid(), id, 'job' FROM tenants"
        )
        await connection.execute(
            "INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target, host,"
            " baseline_interval_ms, next_run_at, next_source)"
            " SELECT gen_random_uuid(), jobs.tenant_id, jobs.id, n, now(), $1, 'example.invalid',"
            " 86400000, now() + ((n - $2) * interval '1.7 s'), 'baseline-interval'"
            " FROM generate_series(1, $3::int) AS n"
            " JOIN (SELECT *, row_number() OVER () AS number FROM jobs) AS jobs"
            f" ON jobs.number = 1 + n % {tenants}"
            " ORDER BY md5(n::text)",  # they lie in no order, as they do after a while
            target_json(HttpTarget("http://example.invalid/")),
            DUE,
            endpoints,
        )
        await connection.execute("ANALYZE")
    await database.close()


# --- What the queue sends -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Statement:
    text: str
    values: tuple[Any, ...]
    settings: str  # of its transaction


@dataclass(slots=True)
class Watched:
    """Lets everything through to the database or its connection, and remembers what was asked."""

    inner: Any
    seen: list[Statement] = field(default_factory=list[Statement])
    settings: str = ""

    @asynccontextmanager
    async def connection(self) -> AsyncIterator["Watched"]:
        async with self.inner.connection() as connection:
            yield Watched(connection, self.seen)

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["Watched"]:
        async with self.inner.transaction() as connection:
            yield Watched(connection, self.seen)

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        async def passed_on(text: str, *values: Any) -> Any:
            if "SET LOCAL" in text:
                self.settings = text
            self.seen.append(Statement(text, values, self.settings))
            return await getattr(self.inner, method)(text, *values)

        return passed_on


@dataclass(slots=True)
class Queue:
    """The queue, and what each of its methods sends about endpoints."""

    database: Database
    watched: Watched
    queue: ClaimedRuns

    async def claim(self) -> Sequence[Claim]:
        return (await self.queue.claim_due(REQUEST)).claims

    def sent(self, name: str) -> Statement:
        """The statement of this name, as it was sent last."""
        (*_, last) = [sent for sent in self.watched.seen if sent.text == query(name)]
        return last

    async def check(self, name: str, *by: str, source: str = "") -> None:
        """It finds endpoints by these indexes, or this CTE of it does; and this check fails where
        one is not there."""
        sent = self.sent(name)
        async with self.database.connection() as connection:
            for plan in await plans(connection, sent):
                check(plan, *by, source=source)
            for index in by:
                async with without_index(connection, index):
                    for plan in await plans(connection, sent):
                        with pytest.raises(AssertionError, match="endpoints are"):
                            check(plan, *by, source=source)


@pytest.fixture
async def queue(url: str) -> AsyncIterator[Queue]:
    async with queue_of(url) as queue:
        yield queue


@asynccontextmanager
async def queue_of(url: str) -> AsyncIterator[Queue]:
    database = await open_database(url, connections=2)
    watched = Watched(database)
    yield Queue(database, watched, run_queue(watched, uuid4, BOX))  # type: ignore[arg-type]
    await database.close()


# --- How it would be done -------------------------------------------------------------------

Plan = dict[str, Any]


async def plans(connection: Connection, statement: Statement) -> list[Plan]:
    """For these values, and for any."""
    async with connection.transaction():
        if statement.settings:
            await connection.execute(statement.settings)
        explain = f"EXPLAIN (FORMAT JSON) {statement.text}"
        ours = await connection.fetchval(explain, *statement.values)
        nothing = ", ".join("NULL" for _ in statement.values)
        await connection.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        await connection.execute(f"PREPARE for_any AS {statement.text}")
        for_any = await connection.fetchval(f"EXPLAIN (FORMAT JSON) EXECUTE for_any ({nothing})")
        await connection.execute("DEALLOCATE for_any")
    return [json.loads(text)[0]["Plan"] for text in (ours, for_any)]


def nodes(plan: Plan, kind: str = "") -> list[Plan]:
    """The plan and everything below it, of one kind or all."""
    itself = [plan] if plan["Node Type"].startswith(kind) else []
    return itself + [node for below in plan.get("Plans", ()) for node in nodes(below, kind)]


def indexes(plan: Plan) -> set[str]:
    return {node["Index Name"] for node in nodes(plan) if "Index Name" in node}


def check(plan: Plan, *by: str, source: str = "") -> None:
    """Endpoints are found by these indexes, and nowhere is the whole table read; by these alone
    where one CTE of the statement is meant."""
    read_whole = [node for node in nodes(plan, "Seq Scan") if node["Relation Name"] == "endpoints"]
    assert not read_whole, "all endpoints are read"
    if source:
        (plan,) = [node for node in nodes(plan) if node.get("Subplan Name") == f"CTE {source}"]
    locked = set[str]().union(*(indexes(node) for node in nodes(plan, "LockRows")))
    as_wanted = set(by) == locked if source else set(by) <= locked
    assert as_wanted, f"endpoints are found by {locked}"


@asynccontextmanager
async def without_index(connection: Connection, name: str) -> AsyncIterator[None]:
    """As long as it lasts: what a transaction dropped comes back with it."""
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(
        f"ALTER TABLE endpoints DROP CONSTRAINT {name} CASCADE"
        if name.endswith("_pkey")
        else f"DROP INDEX {name}"
    )
    try:
        yield
    finally:
        await transaction.rollback()


# --- The statements -------------------------------------------------------------------------


async def test_what_is_due_is_found_by_its_index(queue: Queue) -> None:
    assert len(await queue.claim()) == REQUEST.limit
    await queue.check("claim_due", "endpoints_due", source="earliest")


async def test_what_runs_on_other_workers_is_not_even_read(queue: Queue) -> None:
    """Thousands that no worker of theirs claims must not slow down the claims of the others."""
    await queue.claim()
    async with queue.database.connection() as connection:
        for plan in await plans(connection, queue.sent("claim_due")):
            scans = [node for node in nodes(plan) if node.get("Index Name") == "endpoints_due"]
            conditions = [scan["Index Cond"] for scan in scans if scan.get("Index Cond")]
            assert len(conditions) == len(scans) >= 3  # what is due, what is lost, what comes next
            assert all("runs_on" in condition for condition in conditions)


async def test_also_among_few_endpoints_and_with_much_room() -> None:
    async with migrated_database_url() as url, queue_of(url) as queue:
        async with queue.database.connection() as connection:  # as they are after a while
            await connection.execute("ALTER TABLE endpoints SET (fillfactor = 20)")
        await _fill(url, FEWER)
        request = replace(REQUEST, limit=400, per_tenant=400)
        assert len((await queue.queue.claim_due(request)).claims) == request.limit
        await queue.check("claim_due", "endpoints_due", source="earliest")


async def test_with_a_backlog_what_is_due_is_found_by_tenant(queue: Queue) -> None:
    await queue.claim()
    assert len(await queue.claim()) == REQUEST.limit
    await queue.check("claim_due", "endpoints_due_by_tenant", source="shares")


async def test_with_a_backlog_no_more_is_read_than_there_is_room_for() -> None:
    """Each claim would read all that waits where a plan fetches it first, and then sorts it."""
    async with migrated_database_url() as url, queue_of(url) as queue:
        await _fill(url, FEWER, tenants=10)
        async with queue.database.connection() as connection:  # as after an hour without a worker
            await connection.execute("UPDATE endpoints SET next_run_at = now() - interval '1 s'")
            await connection.execute("VACUUM ANALYZE endpoints")
        await queue.claim()
        await queue.claim()
        async with queue.database.connection() as connection:
            for plan in await plans(connection, queue.sent("claim_due")):
                (shares,) = [
                    node for node in nodes(plan) if node.get("Subplan Name") == "CTE shares"
                ]
                assert not nodes(shares, "Sort") + nodes(shares, "Bitmap Heap")
                assert indexes(shares) == {"endpoints_due_by_tenant"}


async def test_the_sweep_finds_lost_runs_among_what_is_due_or_asked_for(queue: Queue) -> None:
    await queue.queue.claim_lost(REQUEST)
    await queue.check("claim_due", "endpoints_due", source="lost")
    await queue.check("claim_due", "endpoints_running_by_hand", source="lost_by_hand")


@pytest.mark.parametrize(
    ("sources", "is_backlog", "is_sweep"),
    [
        ({"earliest", "asked_for", "lost_by_hand"}, False, False),
        ({"earliest", "asked_for", "lost_by_hand", "shares", "tenant_walk"}, True, False),
        ({"lost", "lost_by_hand"}, True, True),
    ],
    ids=["claim", "claim with a backlog", "sweep"],
)
async def test_a_source_that_is_off_reads_nothing(
    queue: Queue, sources: set[str], is_backlog: bool, is_sweep: bool
) -> None:
    """Nor is it planned in another way: one plan serves them all."""
    await queue.claim()
    text, values = queue.sent("claim_due").text, queue.sent("claim_due").values
    async with queue.database.connection() as connection:
        transaction = connection.transaction()
        await transaction.start()
        explained = await connection.fetchval(
            f"EXPLAIN (ANALYZE, FORMAT JSON) {text}",
            *values[:12],
            is_backlog,
            *values[13:15],
            is_sweep,
            *values[16:],
        )
        await transaction.rollback()
    plan = json.loads(explained)[0]["Plan"]
    read = {
        source["Subplan Name"].removeprefix("CTE ")
        for source in nodes(plan)
        if source.get("Subplan Name", "").startswith("CTE ")
        for node in nodes(source, "Index") + nodes(source, "Bitmap Heap")
        if node["Actual Loops"] and node.get("Relation Name") == "endpoints"
    }
    assert read - {"leased", "meta"} == sources


async def test_leases_are_renewed_by_primary_key(queue: Queue) -> None:
    claims = await queue.claim()
    assert len((await queue.queue.renew(claims, seconds(30))).renewed) == REQUEST.limit
    await queue.check("renew", "endpoints_pkey")


async def test_what_has_ended_is_found_by_primary_key(queue: Queue) -> None:
    claims = await queue.claim()
    now = claims[0].first_claimed_at
    await queue.queue.finish([FinishedRun(claim, OK, now, now) for claim in claims])
    await queue.check("lock_held", "endpoints_pkey")
    async with queue.database.connection() as connection:
        for plan in await plans(connection, queue.sent("close_runs")):
            check(plan)
            assert "endpoints_pkey" in indexes(plan)


async def test_what_was_not_sent_is_given_back_by_primary_key(queue: Queue) -> None:
    await queue.queue.give_back(await queue.claim())
    await queue.check("undo_claims", "endpoints_pkey")


# --- What a planner sends ---------------------------------------------------------------------


@pytest.mark.parametrize("attention", list(Attention))
async def test_what_has_just_run_is_found_by_when_it_finished(
    url: str, attention: Attention
) -> None:
    """A planner that is woken several times a second reads what happened since, not everything."""
    database = await open_database(url, connections=2)
    watched = Watched(database)
    analysis_queue = PostgresAnalysisQueue(watched)  # type: ignore[arg-type]
    async with database.connection() as connection:
        await connection.execute(
            "UPDATE endpoints SET last_finished_at = now() - random() * interval '1 day'"
        )
        await connection.execute("ANALYZE endpoints")
        since = await connection.fetchval("SELECT now() - interval '3 s'")
        request = AnalysisRequest("rules", attention, "planner", 200, seconds(30), since=since)
        await analysis_queue.claim_for_analysis(request)
        (sent,) = [sent for sent in watched.seen if "INSERT INTO looks" in sent.text]
        assert query("plan_for_these_values") in [sent.text for sent in watched.seen]
        plan, _for_any = await plans(connection, sent)
        read_whole = [node["Relation Name"] for node in nodes(plan, "Seq Scan")]
        assert "endpoints" not in read_whole
        assert "endpoints_finished" in indexes(plan)
        async with without_index(connection, "endpoints_finished"):
            plan, _for_any = await plans(connection, sent)
            assert "endpoints" in [node["Relation Name"] for node in nodes(plan, "Seq Scan")]
    await database.close()
