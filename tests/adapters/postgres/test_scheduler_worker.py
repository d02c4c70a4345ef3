"""The scheduler on a real database, with real requests: on time, fair, and with nothing lost."""

import asyncio
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from time import time_ns
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.postgres import claims
from cadenza.adapters.postgres.database import Connection, Database
from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.claims import ClaimRequest
from cadenza.domain import steering
from cadenza.domain.endpoint import Every, OnDemand
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.instants import iso
from cadenza.domain.plan import Source
from tests.adapters.postgres.support import Cable, Request, World, program, until
from tests.factories import interval_hint, minutes, one_shot, seconds
from tests.postgres import BOX, run_queue

AN_HOUR = minutes(60)


def lateness(requests: list[Request]) -> list[float]:
    return [(request.at - request.slot_at).total_seconds() for request in requests]


# --- On time --------------------------------------------------------------------------------


async def test_runs_start_at_their_slots_and_never_early(world: World) -> None:
    probe = await world.add(baseline=Every(seconds(1)))
    await world.add_copies(probe, 19, apart=timedelta(milliseconds=40))
    async with world.worker():
        await world.until_finished(probe, count=4)
    runs = await world.runs(probe)
    slots = [run["slot_at"] for run in runs]
    assert {later - earlier for earlier, later in pairwise(slots)} == {seconds(1)}
    assert all(run["slot_at"] <= run["started_at"] for run in await world.runs())
    late = sorted(lateness(world.targets.requests))
    assert late[0] >= 0
    assert late[len(late) // 2] < 0.25
    assert {run["status"] for run in runs} == {"success"}


async def test_a_nudge_of_an_idle_endpoint_starts_within_a_second(world: World) -> None:
    idle = [await world.add(f"idle{number}", baseline=OnDemand()) for number in range(3)]
    async with world.worker():
        await world.until_finished(await world.add("first"))  # it is up, and has nothing to do
        for endpoint in idle:
            now = await world.now()
            hint = one_shot(now, now + AN_HOUR)
            await world.change(
                endpoint,
                lambda ep, at, cron, hint=hint: steering.suggest_run_at(ep, hint, at, cron),
            )
            (run,) = await world.until_finished(endpoint)
            assert run["source"] == Source.AI_ONESHOT
            assert run["slot_at"] <= run["started_at"] < now + seconds(1)


async def test_a_person_runs_an_endpoint_now(world: World) -> None:
    probe = await world.add(created_at=await world.now() + AN_HOUR)
    async with world.worker():
        await world.until_finished(await world.add("first"))
        now = await world.now()
        await world.change(probe, lambda ep, at, _: steering.request_run_now(ep, at))
        (run,) = await world.until_finished(probe)
    assert (run["source"], run["status"], run["is_manual"]) == ("manual", "success", True)
    assert run["started_at"] < now + seconds(1)
    after = await world.endpoints.get_endpoint(probe.tenant_id, probe.id)
    assert (after.next_run_at, after.last_run_at) == (probe.next_run_at, None)


async def test_a_hint_written_during_a_run_is_seen_at_its_end(world: World) -> None:
    probe = await world.add(baseline=Every(AN_HOUR), url=world.targets.url("probe", hangs=1))
    async with world.worker():
        await until(lambda: world.targets.requests)
        hint = interval_hint(seconds(2), await world.now() + AN_HOUR)
        during = await world.change(
            probe, lambda ep, at, cron: steering.suggest_interval(ep, hint, at, cron)
        )
        assert during.next_run_at == probe.next_run_at
        world.targets.released.set()
        first, second = await world.until_finished(probe, count=2)
    assert (first["source"], second["source"]) == ("baseline-interval", "ai-interval")
    waited = second["slot_at"] - first["slot_at"]
    assert waited >= seconds(2)
    assert waited < AN_HOUR


# --- Fair -----------------------------------------------------------------------------------


async def test_one_tenants_backlog_does_not_hold_up_another(world: World) -> None:
    long_ago = await world.now() - AN_HOUR
    url = world.targets.url("greedy", host="127.0.0.2", takes=0.05)
    greedy = await world.add("greedy", tenant="greedy", url=url, created_at=long_ago)
    await world.add_copies(greedy, 4_999)
    async with world.worker(per_host=200):
        await until(lambda: world.targets.of("greedy"))
        modest = await world.add(
            "modest",
            tenant="modest",
            baseline=Every(seconds(1)),
            created_at=await world.now() + seconds(0.5),
        )
        await world.until_finished(modest, count=2)
        assert len(world.targets.of("greedy")) < 5_000  # the backlog is still there
    # The backlog alone takes 2.5 s: who waited for it would be later than that.
    assert max(lateness(world.targets.of("modest"))) < 2.5
    assert len(world.targets.of("greedy")) > 200  # and is being worked off


async def test_many_idle_tenants_do_not_hide_one_that_is_due(world: World) -> None:
    """Neither from its turn, nor so that a worker sleeps while there is a backlog."""
    idle = await world.add("idle", created_at=await world.now() + AN_HOUR)
    await world.add_tenants_with_copies(idle, 600)
    greedy = await world.add("greedy", tenant="greedy", tenant_id=UUID(int=(1 << 128) - 2))
    await world.add_copies(greedy, 999)
    await world.add("modest", tenant="modest", tenant_id=UUID(int=(1 << 128) - 1))
    queue = run_queue(world.database, uuid4, BOX)
    request = ClaimRequest("worker", limit=100, lease=seconds(30), per_host=1000, per_tenant=1000)
    claimed = [await queue.claim_due(request) for _ in range(4)]
    names = {claim.endpoint_name for batch in claimed for claim in batch.claims}
    assert "modest" in names
    assert all(len(batch.claims) == 100 for batch in claimed)


# --- No id twice ----------------------------------------------------------------------------


class AnswersLost:
    """A database whose first claim takes place, and whose answer to it never arrives."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lost = False

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        async with self._database.transaction() as connection:
            yield connection
        if not self._lost:
            self._lost = True
            raise StoreUnavailable("the line broke")


async def test_an_id_that_a_lost_answer_may_have_used_is_not_given_again(world: World) -> None:
    await world.add_copies(await world.add(), 29)
    database = AnswersLost(world.database)
    queue = run_queue(database, uuid4, BOX)  # type: ignore[arg-type]
    request = ClaimRequest("worker", limit=10, lease=seconds(30))
    with pytest.raises(StoreUnavailable):
        await queue.claim_due(request)
    for _ in range(3):
        await queue.claim_due(request)
    runs = await world.runs()
    assert len(runs) == len({run["id"] for run in runs}) == 30


async def test_ids_that_a_claim_leaves_over_are_given_once(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where an endpoint is found twice, as due and as asked for."""
    monkeypatch.setattr(claims, "SPARE_SECONDS", 60.0)
    probe = await world.add(created_at=await world.now() + AN_HOUR)
    await world.add_copies(probe, 29, apart=timedelta(0))
    made = 0

    def counted() -> UUID:
        nonlocal made
        made += 1
        return uuid4()

    queue = run_queue(world.database, counted, BOX)
    request = ClaimRequest("worker", limit=40, lease=seconds(30))
    some = "id IN (SELECT id FROM endpoints WHERE running_run_id IS NULL LIMIT 6)"
    for _ in range(5):
        due = "next_run_at = cadenza_now(), manual_slot_at = cadenza_now()"
        await world.execute(f"UPDATE endpoints SET {due} WHERE {some}")
        assert len((await queue.claim_due(request)).claims) == 6
    runs = await world.runs()
    assert len(runs) == len({run["id"] for run in runs}) == 30
    assert made == 40 + 4 * 6  # what a claim took is made up for by the next


async def test_an_id_says_when_its_run_was_claimed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "SPARE_SECONDS", 0.2)
    queue = run_queue(world.database, new_id, BOX)
    request = ClaimRequest("worker", limit=10, lease=seconds(30))
    assert not (await queue.claim_due(request)).claims
    await asyncio.sleep(0.5)
    await world.add()
    begin = time_ns() // 1_000_000
    (claim,) = (await queue.claim_due(request)).claims
    assert claim.run_id.int >> 80 >= begin


async def test_a_host_that_hangs_does_not_use_up_the_slots(world: World) -> None:
    url = world.targets.url("hangs", host="127.0.0.2", hangs=1)
    stuck = await world.add("hangs", url=url)
    await world.add_copies(stuck, 59)
    async with world.worker(in_flight=30):
        await until(lambda: len(world.targets.of("hangs")) == 20)
        quick = await world.add("quick", baseline=Every(seconds(1)))
        await world.add_copies(quick, 9)
        await world.until_finished(quick, count=2)
        assert len(world.targets.of("hangs")) == 20
        assert len(world.targets.of("quick")) >= 20


# --- Nothing lost ---------------------------------------------------------------------------


async def test_a_database_that_is_away_for_a_while_costs_no_run(world: World) -> None:
    url = world.targets.url("probe", takes=0.3)
    probe = await world.add(baseline=Every(seconds(1)), url=url)
    await world.add_copies(probe, 19, apart=timedelta(milliseconds=50))
    async with (
        Cable(world.url).plugged() as cable,
        world.worker(cable.url, lease=seconds(10), tick=seconds(1)),
    ):
        await world.until_finished(probe, count=2)
        await until(lambda: any(not request.answered for request in world.targets.requests))
        await cable.cut()
        away = len(world.targets.requests)
        await asyncio.sleep(3)
        assert all(request.answered for request in world.targets.requests)
        await cable.mend()
        await until(lambda: len(world.targets.requests) > away + 40, within=30)
    # A claim whose answer went with the cable has a lease that nobody knows of, until it ends.
    unknown = [run["id"] for run in await world.runs() if run["status"] == "running"]
    if unknown:
        async with world.worker(tick=seconds(1)):
            await until(lambda: all_closed(world, unknown), within=30)
    await everything_is_stored_once(world)


async def all_closed(world: World, run_ids: list[UUID]) -> bool:
    return await world.value(
        "SELECT bool_and(status <> 'running') FROM runs WHERE id = ANY ($1)", run_ids
    )


async def everything_is_stored_once(world: World) -> None:
    keys = Counter(request.key for request in world.targets.requests)
    assert max(keys.values()) == 1
    runs = await world.runs()
    stored = {f"{run['endpoint_id']}:{iso(run['slot_at'])}": run for run in runs}
    assert len(stored) == len(runs)
    assert set(stored) == set(keys)
    assert {run["status"] for run in runs} == {"success"}
    assert await world.value("SELECT count(*) FROM late_results") == 0


# --- The program ----------------------------------------------------------------------------


async def test_sigterm_finishes_what_is_in_flight_and_gives_back_the_rest(
    world: World, tmp_path: Path
) -> None:
    url = world.targets.url("probe", takes=0.5)
    with program(tmp_path / "log", world.url, in_flight_per_host=200) as worker:
        await worker.until_started()  # which takes seconds where the machine is busy
        probe = await world.add(created_at=await world.now() + seconds(1), url=url)
        await world.add_copies(probe, 299, apart=timedelta(milliseconds=40))
        await world.execute("SELECT pg_notify('cadenza_due', '')")
        await until(lambda: len(world.targets.requests) >= 10)
        worker.send(signal.SIGTERM)
        assert await worker.until_ended() == 0, worker.output()
        sent = {request.key for request in world.targets.requests if request.answered}
        assert 10 <= len(sent) == len(world.targets.requests) < 300
        given_back = [line for line in worker.lines() if line["event"] == "run.given_back"]
    runs = await world.runs()
    assert {run["status"] for run in runs} == {"success"}
    assert len(runs) == len(sent)
    assert given_back
    assert await world.value("SELECT count(*) FROM endpoints WHERE lease_until IS NOT NULL") == 0
    waiting = await world.value("SELECT count(*) FROM endpoints WHERE last_finished_at IS NULL")
    assert waiting == 300 - len(sent)


async def test_a_second_signal_stops_at_once_and_stores_what_it_ended(
    world: World, tmp_path: Path
) -> None:
    probe = await world.add(url=world.targets.url("probe", hangs=1))
    with program(tmp_path / "log", world.url) as worker:
        await worker.until_started()
        await until(lambda: world.targets.requests)
        worker.send(signal.SIGTERM)
        await until(lambda: "stopping" in worker.output())
        assert [run["status"] for run in await world.runs(probe)] == ["running"]
        worker.send(signal.SIGTERM)
        assert await worker.until_ended(within=20) == 0, worker.output()
    (run,) = await world.runs(probe)
    assert (run["status"], run["error_kind"]) == ("cancelled", "worker_stopped")
    after = await world.endpoints.get_endpoint(probe.tenant_id, probe.id)
    assert after.failure_count == 0
    assert not after.in_flight
