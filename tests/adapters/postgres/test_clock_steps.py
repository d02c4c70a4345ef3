"""A real database whose clock steps back by 90 s: real workers go on by it within seconds."""

import json
from collections import Counter
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain.endpoint import CronLine, Endpoint, Every
from cadenza.domain.instants import TICK
from tests.adapters.postgres.support import Program, World, program, until
from tests.factories import seconds
from tests.postgres import run_queue

STEP = timedelta(seconds=90)
STEPPED_CLOCK = (
    "CREATE OR REPLACE FUNCTION cadenza_now() RETURNS timestamptz"
    " LANGUAGE sql VOLATILE PARALLEL RESTRICTED AS"
    " $$SELECT clock_timestamp() - interval '90 s'$$"
)


@pytest.fixture
async def worker(world: World, tmp_path: Path) -> AsyncIterator[Program]:
    with program(tmp_path / "worker.log", world.url) as running:
        await running.until_started()
        yield running


async def step_back(world: World) -> datetime:
    """What time it is then."""
    await world.execute(STEPPED_CLOCK)
    return await world.now()


async def begun_since(world: World, at: datetime, *endpoints: Endpoint) -> dict[Any, list[Any]]:
    """Runs that ended and were started by the stepped clock, by endpoint, in their order."""
    rows = await world.rows(
        "SELECT * FROM runs WHERE started_at BETWEEN $1 AND $1 + interval '60 s'"
        " AND endpoint_id = ANY ($2) AND finished_at IS NOT NULL ORDER BY started_at",
        at,
        [endpoint.id for endpoint in endpoints],
    )
    return {one.id: [row for row in rows if row["endpoint_id"] == one.id] for one in endpoints}


async def until_each_ran(
    world: World, at: datetime, *endpoints: Endpoint, count: int = 2
) -> dict[Any, list[Any]]:
    async def ran() -> dict[Any, list[Any]] | None:
        runs = await begun_since(world, at, *endpoints)
        return runs if min(map(len, runs.values())) >= count else None

    return await until(ran, within=45)  # half of what it takes until time has caught up


async def test_endpoints_run_again_within_seconds_with_slots_that_increase(
    world: World, worker: Program
) -> None:
    quick = [await world.add(f"quick{n}", baseline=Every(seconds(1 + n % 2))) for n in range(6)]
    cron = await world.add("cron", baseline=CronLine("0 0 1 1 *"))  # not while this runs
    await world.execute(  # as if it had run at the minute that has just begun
        "UPDATE endpoints SET last_slot_at = date_trunc('minute', cadenza_now()),"
        " last_run_at = date_trunc('minute', cadenza_now()) WHERE id = $1",
        cron.id,
    )
    for endpoint in quick:
        await world.until_finished(endpoint, count=3)
    kept = (await world.endpoints.get_endpoint(cron.tenant_id, cron.id)).last_slot_at
    at = await step_back(world)
    for runs in (await until_each_ran(world, at, *quick)).values():
        assert all(at <= run["slot_at"] <= run["started_at"] for run in runs)
        assert all(one["slot_at"] < other["slot_at"] for one, other in pairwise(runs))
    times_sent = Counter(request.key for request in world.targets.requests)
    assert max(times_sent.values()) == 1
    after = await world.endpoints.get_endpoint(cron.tenant_id, cron.id)
    assert after.last_slot_at == kept
    assert after.next_run_at is not None
    assert kept is not None
    assert after.next_run_at > kept
    (told, *_) = await events(world)
    assert told["endpoints"] >= 1
    assert 5 < told["ahead_by_seconds"] < 91
    warnings = [line for line in worker.lines() if "clock stepped back" in line["event"]]
    assert warnings[0]["level"] == "warning"


async def events(world: World) -> list[dict[str, Any]]:
    rows = await world.rows(
        "SELECT data::text FROM events WHERE kind = 'endpoint.clock_stepped' ORDER BY id"
    )
    return [json.loads(row["data"]) for row in rows]


async def test_what_was_in_flight_at_the_step_goes_on_when_it_has_ended(
    world: World, worker: Program
) -> None:
    url = world.targets.url("slow", hangs=1)
    slow = await world.add("slow", baseline=Every(seconds(2)), url=url)
    await until(lambda: world.targets.of("slow"))
    at = await step_back(world)
    quick = await world.add("quick", baseline=Every(seconds(1)))
    await until_each_ran(world, at, quick, count=1)
    world.targets.released.set()
    (runs,) = (await until_each_ran(world, at, slow)).values()
    assert all(at <= run["slot_at"] <= run["started_at"] for run in runs)
    first, *_ = await world.rows(
        "SELECT * FROM runs WHERE endpoint_id = $1 AND slot_at > $2",
        slow.id,
        at + seconds(60),
    )
    assert (first["status"], first["attempt"]) == ("success", 1)


async def test_a_step_while_no_worker_was_there_is_found_at_the_next_start(
    world: World, tmp_path: Path
) -> None:
    endpoint = await world.add(baseline=Every(seconds(1)))
    async with world.worker():
        await world.until_finished(endpoint, count=2)
    at = await step_back(world)
    with program(tmp_path / "next.log", world.url):
        await until_each_ran(world, at, endpoint)


async def test_a_worker_lost_at_the_step_is_followed_after_its_lease(
    world: World, tmp_path: Path
) -> None:
    url = world.targets.url("lost", hangs=1)
    endpoint = await world.add("lost", baseline=Every(seconds(2)), url=url)
    with program(tmp_path / "lost.log", world.url):
        await until(lambda: world.targets.of("lost"))  # and it is killed
    at = await step_back(world)
    with program(tmp_path / "next.log", world.url, lease_seconds=5):
        await until(lambda: len(world.targets.of("lost")) == 2, within=30)
        world.targets.released.set()
        await until_each_ran(world, at, endpoint)
    first, second, *_ = world.targets.of("lost")
    assert first.key == second.key


async def test_a_slot_that_has_a_run_already_stops_nobodys_claims(world: World) -> None:
    taken, asked = await world.add("taken"), await world.add("asked")
    async with world.worker():
        for endpoint in (taken, asked):
            await world.until_finished(endpoint)
    (of_taken,), (of_asked,) = await world.runs(taken), await world.runs(asked)
    await world.execute(
        "UPDATE endpoints SET next_run_at = $2::timestamptz, plan = jsonb_set(plan::jsonb,"
        " '{next_run_at}', to_jsonb($2::timestamptz))::json WHERE id = $1",
        taken.id,
        of_taken["slot_at"],
    )
    await world.execute(
        "UPDATE endpoints SET manual_slot_at = $2 WHERE id = $1", asked.id, of_asked["slot_at"]
    )
    well = await world.add("well")
    request = ClaimRequest("worker", limit=10, lease=seconds(30), ahead=seconds(0.25))
    claims = (await run_queue(world.database).claim_due(request)).claims
    slots = {claim.endpoint_id: claim.slot_at for claim in claims}
    assert slots == {
        taken.id: of_taken["slot_at"] + TICK,
        asked.id: of_asked["slot_at"] + TICK,
        well.id: well.next_run_at,
    }
    stored = await world.endpoints.get_endpoint(taken.tenant_id, taken.id)
    assert stored.next_run_at == of_taken["slot_at"] + TICK
