"""Days of runs are made ahead and dropped when old, and none of it holds up a claim."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from uuid import uuid4

import asyncpg
import pytest

from cadenza.adapters.postgres import maintenance as module
from cadenza.adapters.postgres.database import SESSION, Connection, open_database
from cadenza.adapters.postgres.maintenance import DAYS_AHEAD, Maintenance, Round
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.endpoint import Endpoint, OnDemand
from cadenza.domain.run import FinishedRun
from tests.adapters.postgres.support import World, until
from tests.factories import NOON, OK, id_of, minutes, seconds
from tests.postgres import BOX, StoppedClock, run_queue

A_DAY = timedelta(days=1)
RETENTION = 30 * A_DAY
MADE = DAYS_AHEAD + 2  # yesterday, today and a week


@pytest.fixture
async def clock(world: World) -> StoppedClock:
    return await StoppedClock.in_database(world.database, NOON)


@pytest.fixture
def maintenance(world: World) -> Maintenance:
    return Maintenance(world.database, RETENTION)


async def partitions(world: World) -> list[str]:
    rows = await world.rows(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits"
        " WHERE inhparent = 'runs'::regclass ORDER BY 1"
    )
    return [row["name"] for row in rows]


def day(instant: datetime) -> str:
    return f"runs_{instant:%Y%m%d}"


async def record_runs(
    world: World, *slots: datetime, endpoint: Endpoint, status: str = "success"
) -> None:
    await world.execute(
        "INSERT INTO runs (id, endpoint_id, tenant_id, slot_at, source, status, attempt, epoch,"
        " claimed_at, finished_at) SELECT gen_random_uuid(), $1, $2, slot, 'baseline-interval', $4,"
        " 1, 1, slot, CASE WHEN $4 <> 'running' THEN slot END FROM unnest($3::timestamptz[]) slot",
        endpoint.id,
        endpoint.tenant_id,
        slots,
        status,
    )


async def kept_slots(world: World, endpoint: Endpoint) -> list[datetime]:
    return [run["slot_at"] for run in await world.runs(endpoint)]


async def home_of(world: World, slot_at: datetime) -> str:
    return await world.value(
        "SELECT tableoid::regclass::text FROM runs WHERE slot_at = $1", slot_at
    )


# --- Days ahead -----------------------------------------------------------------------------


async def test_days_are_made_from_yesterday_to_a_week_ahead(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    assert await maintenance.run_once() == Round(days_made=MADE)
    expected = [day(NOON + number * A_DAY) for number in range(-1, DAYS_AHEAD + 1)]
    assert await partitions(world) == [*expected, "runs_default"]


async def test_a_second_round_makes_none_and_the_next_day_one(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    await maintenance.run_once()
    assert await maintenance.run_once() == Round()
    await clock.set(NOON + A_DAY)
    assert await maintenance.run_once() == Round(days_made=1)


async def test_a_run_lies_in_the_day_of_its_slot(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    await maintenance.run_once()
    midnight = datetime(2026, 3, 3, tzinfo=UTC)
    slots = [midnight - timedelta(microseconds=1), midnight, midnight + A_DAY]
    await record_runs(world, *slots, endpoint=await world.add())
    homes = [await home_of(world, slot_at) for slot_at in slots]
    assert homes == ["runs_20260302", "runs_20260303", "runs_20260304"]


async def test_a_day_whose_rows_went_to_the_default_partition_is_left_there(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    endpoint = await world.add()
    await record_runs(world, NOON, endpoint=endpoint)
    for made in (MADE - 1, 0):
        assert await maintenance.run_once() == Round(days_made=made)
    assert await home_of(world, NOON) == "runs_default"
    assert day(NOON) not in await partitions(world)
    await record_runs(world, NOON + minutes(1), endpoint=endpoint)
    assert await home_of(world, NOON + minutes(1)) == "runs_default"


async def test_what_somebody_else_put_there_is_left_alone(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    await world.execute(f"CREATE TABLE {day(NOON)} (of_another_kind integer)")
    await world.execute(
        "CREATE TABLE archive_of_2020 PARTITION OF runs"
        " FOR VALUES FROM ('2020-01-01Z') TO ('2021-01-01Z')"
    )
    next_day = NOON.replace(hour=0) + A_DAY
    await world.execute(
        "CREATE TABLE two_days PARTITION OF runs FOR VALUES"
        f" FROM ('{next_day.isoformat()}') TO ('{(next_day + 2 * A_DAY).isoformat()}')"
    )
    assert await maintenance.run_once() == Round(days_made=MADE - 3)
    assert {"archive_of_2020", "two_days"} < set(await partitions(world))


async def test_odd_slots_never_fail_a_batch(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    await maintenance.run_once()
    odd = [datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC), NOON]
    for slot_at in odd:
        endpoint = await world.add(f"{slot_at.year}")
        await world.execute(
            "UPDATE endpoints SET next_run_at = $2 WHERE id = $1", endpoint.id, slot_at
        )
    await clock.set(odd[1])
    queue = run_queue(world.database, uuid4, BOX)
    claims = (await queue.claim_due(ClaimRequest("worker", limit=10, lease=seconds(30)))).claims
    assert sorted(claim.slot_at for claim in claims) == sorted(odd)
    report = await queue.finish([FinishedRun(claim, OK, odd[1], odd[1]) for claim in claims])
    assert not report.late
    assert {run["status"] for run in await world.runs()} == {"success"}
    assert [await home_of(world, slot_at) for slot_at in odd] == [
        "runs_default",
        "runs_default",
        day(NOON),
    ]
    await maintenance.run_once()


# --- Retention ------------------------------------------------------------------------------


async def test_whole_days_are_dropped_when_their_time_is_over(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    endpoint = await world.add()
    await maintenance.run_once()
    await record_runs(world, NOON - A_DAY, NOON, NOON + A_DAY, endpoint=endpoint)
    await clock.set(NOON + RETENTION)
    assert (await maintenance.run_once()).days_dropped == 1
    assert await kept_slots(world, endpoint) == [NOON, NOON + A_DAY]
    await clock.set(NOON + RETENTION + A_DAY)
    assert await maintenance.run_once() == Round(days_made=1, days_dropped=1)
    assert await kept_slots(world, endpoint) == [NOON + A_DAY]


async def test_old_rows_of_the_default_partition_are_deleted_but_for_what_runs(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    endpoint = await world.add()
    ancient = datetime(2000, 1, 1, tzinfo=UTC)
    slots = [ancient + number * A_DAY for number in range(20)]
    fresh, future = NOON - RETENTION + A_DAY, datetime(2100, 1, 1, tzinfo=UTC)
    await record_runs(world, *slots, fresh, future, endpoint=endpoint)
    running = ancient - A_DAY
    await record_runs(world, running, endpoint=endpoint, status="running")
    assert (await maintenance.run_once()).rows_deleted == len(slots)
    assert await kept_slots(world, endpoint) == [running, fresh, future]


async def test_more_than_a_batch_is_deleted_in_one_round(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    endpoint = await world.add()
    await world.execute(
        "INSERT INTO late_results (run_id, endpoint_id, tenant_id, epoch, status, received_at)"
        " SELECT gen_random_uuid(), $1, $2, 1, 'success', '2000-01-01Z'"
        " FROM generate_series(1, $3)",
        endpoint.id,
        endpoint.tenant_id,
        2 * module.BATCH + 1,
    )
    assert (await maintenance.run_once()).rows_deleted == 2 * module.BATCH + 1


async def test_a_tenant_may_keep_its_runs_for_a_shorter_time(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    short, usual = await world.add("short", tenant="short"), await world.add("usual")
    await world.execute("UPDATE tenants SET retention_days = 2 WHERE id = $1", short.tenant_id)
    await maintenance.run_once()
    slots = [NOON - A_DAY, NOON, NOON + A_DAY, NOON + 2 * A_DAY, NOON + 3 * A_DAY]
    for endpoint in (short, usual):
        await record_runs(world, *slots, endpoint=endpoint)
    still_running = NOON - seconds(1)
    await record_runs(world, still_running, endpoint=short, status="running")
    await clock.set(NOON + 3 * A_DAY)
    assert (await maintenance.run_once()).rows_deleted == 2
    assert await kept_slots(world, short) == [still_running, *slots[2:]]
    assert await kept_slots(world, usual) == slots


async def test_a_tenant_cannot_keep_its_runs_for_longer_than_everybody(
    world: World, clock: StoppedClock, maintenance: Maintenance
) -> None:
    endpoint = await world.add()
    await world.execute("UPDATE tenants SET retention_days = 365")
    await record_runs(world, NOON - RETENTION - A_DAY, endpoint=endpoint)
    await maintenance.run_once()
    assert await kept_slots(world, endpoint) == []


RECORDS = {
    "analysis_sessions": (
        "(id, tenant_id, job_id, endpoint_id, brain, duration_ms, ended_as, tool_calls, reasoning,"
        " started_at) SELECT gen_random_uuid(), e.tenant_id, e.job_id, e.id, 'rules', 1, 'done',"
        " '[]', ''"
    ),
    "run_attempts": (
        "(run_id, attempt, tenant_id, endpoint_id, slot_at, noted_at)"
        " SELECT gen_random_uuid(), 1, e.tenant_id, e.id, now()"
    ),
    "failed_runs": (
        "(endpoint_id, tenant_id, id, source, status, is_manual, slot_at)"
        " SELECT e.id, e.tenant_id, gen_random_uuid(), 'manual', 'failure', true"
    ),
    "late_results": (
        "(run_id, endpoint_id, tenant_id, epoch, status, received_at)"
        " SELECT gen_random_uuid(), e.id, e.tenant_id, 1, 'success'"
    ),
    "events": "(tenant_id, kind, at) SELECT e.tenant_id, 'run.late'",
    "audit_log": (
        "(tenant_id, actor, action, subject, at) SELECT e.tenant_id, 'me', 'pause', 'probe'"
    ),
}


@pytest.mark.parametrize("table", RECORDS)
async def test_everything_else_that_is_recorded_goes_with_time_too(
    world: World, clock: StoppedClock, maintenance: Maintenance, table: str
) -> None:
    ages = [RETENTION + A_DAY, RETENTION - A_DAY, 3 * A_DAY, A_DAY]
    for tenant in ("usual", "short"):
        endpoint = await world.add(tenant, tenant=tenant)
        for age in ages:
            await world.execute(
                f"INSERT INTO {table} {RECORDS[table]}, $2::timestamptz FROM endpoints e"
                " WHERE e.id = $1",
                endpoint.id,
                NOON - age,
            )
    await world.execute("UPDATE tenants SET retention_days = 2 WHERE id = $1", id_of("short"))
    assert (await maintenance.run_once()).rows_deleted == 1 + 3
    left = await world.rows(f"SELECT tenant_id FROM {table}")
    assert [row["tenant_id"] for row in left].count(id_of("usual")) == 3
    assert [row["tenant_id"] for row in left].count(id_of("short")) == 1


# --- Beside claims, and beside each other ---------------------------------------------------


@asynccontextmanager
async def claiming(world: World) -> AsyncIterator[list[float]]:
    """Claims and finishes without a pause; gives how long each took."""
    queue = run_queue(world.database, uuid4, BOX)
    loop, took, done = asyncio.get_running_loop(), list[float](), asyncio.Event()
    endpoint = await world.add("claimed", min_interval=seconds(1))

    async def claim_forever() -> None:
        while not done.is_set():
            await world.execute(
                "UPDATE endpoints SET next_run_at = cadenza_now() WHERE id = $1", endpoint.id
            )
            begin = loop.time()
            batch = await queue.claim_due(ClaimRequest("worker", limit=10, lease=seconds(30)))
            now = await world.now()
            await queue.finish([FinishedRun(claim, OK, now, now) for claim in batch.claims])
            took.append(loop.time() - begin)

    task = asyncio.create_task(claim_forever())
    await until(lambda: len(took) >= 3 or task.done())
    try:
        yield took
    finally:
        done.set()
        await task


async def one_more(took: list[float]) -> None:
    seen = len(took)
    await until(lambda: len(took) > seen)


def held_up(took: list[float]) -> float:
    """The longest that anything took, beyond what this machine takes for it anyway."""
    return max(took) - 3 * sorted(took)[len(took) // 2]


async def test_days_come_and_go_while_claims_go_on(world: World) -> None:
    maintenance = Maintenance(world.database, RETENTION)
    endpoint = await world.add(baseline=OnDemand())
    for number in range(4):
        await make_old_day(world, number, endpoint)
    made, dropped = list[int](), list[int]()

    async def all_done() -> bool:
        days = await maintenance.run_once()
        made.append(days.days_made)
        dropped.append(days.days_dropped)
        # The rows of today are in the default partition: it was not there before they were.
        return sum(made) == MADE - 1 and sum(dropped) == 4

    async with claiming(world) as took:
        await until(all_done)
        await one_more(took)
    assert held_up(took) < 0.3
    assert await kept_slots(world, endpoint) == []


async def make_old_day(world: World, number: int, endpoint: Endpoint) -> datetime:
    begins = datetime(2020, 1, 1 + number, tzinfo=UTC)
    await world.execute(
        f"CREATE TABLE {day(begins)} PARTITION OF runs FOR VALUES FROM ('{begins.isoformat()}')"
        f" TO ('{(begins + A_DAY).isoformat()}')"
    )
    await record_runs(world, begins + minutes(1), endpoint=endpoint)
    return begins


async def test_a_long_read_of_an_old_day_delays_its_drop_and_no_claim(world: World) -> None:
    maintenance = Maintenance(world.database, RETENTION)
    await maintenance.run_once()
    old = await make_old_day(world, 0, await world.add(baseline=OnDemand()))
    reader = await asyncpg.connect(world.url)
    reading = reader.transaction()
    await reading.start()
    try:
        assert await reader.fetchval(f"SELECT count(*) FROM {day(old)}") == 1
        async with claiming(world) as took:
            for _ in range(3):
                assert (await maintenance.run_once()).days_dropped == 0
            await one_more(took)
        assert held_up(took) < 0.3
        await reading.rollback()
        assert (await maintenance.run_once()).days_dropped == 1
    finally:
        await reader.close()


async def test_of_two_programs_at_once_one_works(
    world: World, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    make_days: Callable[..., Awaitable[int]] = module._make_days

    async def make_days_slowly(*arguments: object) -> int:
        begun.set()
        await go_on.wait()
        return await make_days(*arguments)

    monkeypatch.setattr(module, "_make_days", make_days_slowly)
    first = asyncio.create_task(Maintenance(world.database, RETENTION).run_once())
    await begun.wait()
    assert await Maintenance(world.database, RETENTION).run_once() == Round()
    go_on.set()
    assert await first == Round(days_made=MADE)
    assert await world.value("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0


async def test_a_long_round_is_not_taken_for_a_program_that_fell_silent(
    world: World, clock: StoppedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SESSION, "idle_in_transaction_session_timeout", "2s")
    make_days: Callable[..., Awaitable[int]] = module._make_days

    async def make_days_slowly(connection: Connection, today: date) -> int:
        await connection.execute("SELECT pg_sleep(2.5)")
        return await make_days(connection, today)

    monkeypatch.setattr(module, "_make_days", make_days_slowly)
    database = await open_database(world.url, connections=2)
    assert await Maintenance(database, RETENTION).run_once() == Round(days_made=MADE)
    await database.close()


async def test_many_at_once_make_each_day_once(world: World, clock: StoppedClock) -> None:
    rounds = (Maintenance(world.database, RETENTION).run_once() for _ in range(2))
    partitions = await asyncio.gather(*rounds)
    assert sum(day.days_made for day in partitions) == MADE
