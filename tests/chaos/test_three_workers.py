"""Three real workers over one database: one is killed, one loses its network, one is stopped.

Whatever happens to them, every slot has one run, nothing starts early, and every endpoint goes on.
"""

import signal
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest

from cadenza.domain.endpoint import Every
from cadenza.domain.instants import iso
from tests.adapters.postgres.support import Cable, Program, World, new_world, program, until
from tests.factories import seconds

pytestmark = pytest.mark.chaos

ENDPOINTS = 200
INTERVAL = seconds(2)
LEASE = seconds(3)
TAKEOVER = LEASE + seconds(5)
TAKES = 0.3  # so that at any time some thirty requests are under way


@dataclass(slots=True)
class Three:
    world: World
    cable: Cable  # of the second
    first: Program
    second: Program
    third: Program

    async def leased(self, worker: Program) -> set[UUID]:
        """The runs that it holds, or held when it was last heard of."""
        rows = await self.world.rows(
            "SELECT running_run_id FROM endpoints WHERE leased_by = $1 AND lease_until IS NOT NULL",
            worker.name,
        )
        return {row["running_run_id"] for row in rows}

    async def loses(self, worker: Program) -> tuple[datetime, set[UUID]]:
        """What it held when it was last heard of, just now; others bring that to its end."""
        lost = await self.world.now(), await self.leased(worker)

        async def all_closed() -> bool:
            return not await self.leased(worker) and await self.world.value(
                "SELECT bool_and(status <> 'running') FROM runs WHERE id = ANY ($1)", lost[1]
            )

        await until(all_closed, within=20)
        return lost


@pytest.fixture
async def three(tmp_path: Path) -> AsyncIterator[Three]:
    async with new_world() as world, Cable(world.url).plugged() as cable:
        with ExitStack() as stack:
            workers = [
                stack.enter_context(
                    program(
                        tmp_path / f"{name}.log",
                        url,
                        worker_name=name,
                        lease_seconds=LEASE.total_seconds(),
                        tick_seconds=1,
                        in_flight_per_host=200,
                        in_flight_per_tenant=200,
                    )
                )
                for name, url in (("first", world.url), ("second", cable.url), ("third", world.url))
            ]
            for worker in workers:
                await worker.until_started()
            yield Three(world, cable, *workers)


async def test_every_slot_has_one_run_whatever_happens_to_the_workers(three: Three) -> None:
    world = three.world
    url = world.targets.url("probe", takes=TAKES)
    probe = await world.add(baseline=Every(INTERVAL), url=url)
    await world.add_copies(probe, ENDPOINTS - 1, apart=INTERVAL / ENDPOINTS)
    for worker in (three.first, three.second, three.third):
        await until(lambda worker=worker: three.leased(worker))
    await world.until_finished(probe, count=2)

    killed = await kill_first(three)
    cut_off = await cut_off_second_for_a_while(three)
    stopped = await stop_third_for_a_while(three)
    begin = await world.now()
    await until(lambda: all_ran_since(world, begin), within=20)
    for worker in (three.second, three.third):
        worker.send(signal.SIGTERM)
    for worker in (three.second, three.third):
        assert await worker.until_ended() == 0, worker.output()
        assert "Traceback" not in worker.output()

    runs = await world.runs()
    nothing_is_left_open(runs)
    assert await world.value("SELECT count(*) FROM endpoints WHERE lease_until IS NOT NULL") == 0
    nothing_began_early(world, runs)
    what_was_sent_is_recorded(world, runs)
    every_endpoint_went_on(runs)
    await lost_runs_were_taken_over(world, *killed, within=TAKEOVER)
    # What has silently gone keeps its locks for 5 s, and a renewal that waited for one comes then.
    await lost_runs_were_taken_over(world, *cut_off, within=TAKEOVER + LEASE)
    await lost_runs_were_taken_over(world, *stopped, within=TAKEOVER + LEASE)
    await late_results_changed_nothing(world)


# --- What happens to them -------------------------------------------------------------------

Lost = tuple[datetime, set[UUID]]


async def kill_first(three: Three) -> Lost:
    await until(lambda: three.leased(three.first))
    three.first.send(signal.SIGKILL)
    await three.first.until_ended()
    return await three.loses(three.first)


async def cut_off_second_for_a_while(three: Three) -> Lost:
    """Its requests end while it cannot tell; when it can, others have taken them over."""
    await until(lambda: three.leased(three.second))
    three.cable.hold()
    lost = await three.loses(three.second)
    three.cable.let_go()
    await until(lambda: three.world.value("SELECT count(*) FROM late_results"))
    return lost


async def stop_third_for_a_while(three: Three) -> Lost:
    await until(lambda: three.leased(three.third))
    three.third.send(signal.SIGSTOP)
    lost = await three.loses(three.third)
    three.third.send(signal.SIGCONT)
    await until(lambda: three.leased(three.third))  # it is back at work
    return lost


async def all_ran_since(world: World, begin: datetime) -> bool:
    ran = await world.value(
        "SELECT count(DISTINCT endpoint_id) FROM runs WHERE slot_at > $1 AND status = 'success'",
        begin,
    )
    return ran == ENDPOINTS


# --- What must hold -------------------------------------------------------------------------

Runs = list[asyncpg.Record]


def nothing_is_left_open(runs: Runs) -> None:
    assert Counter(run["status"] for run in runs) == {"success": len(runs)}


def nothing_began_early(world: World, runs: Runs) -> None:
    """By the database's clock, which is that of this machine."""
    assert all(run["slot_at"] <= run["started_at"] for run in runs)
    assert all(request.slot_at <= request.at for request in world.targets.requests)


def what_was_sent_is_recorded(world: World, runs: Runs) -> None:
    """One run for a slot, under one key; and more than one request only where one was lost."""
    attempts = {f"{run['endpoint_id']}:{iso(run['slot_at'])}": run["attempt"] for run in runs}
    assert len(attempts) == len(runs)
    sent = Counter(request.key for request in world.targets.requests)
    assert set(sent) == set(attempts)
    assert all(count <= attempts[key] for key, count in sent.items())
    assert any(count > 1 for count in sent.values())  # or nothing of this was tried


def every_endpoint_went_on(runs: Runs) -> None:
    """No slot between two runs is missing without being declared on the one before."""
    by_endpoint = defaultdict[UUID, Runs](list)
    for run in runs:
        by_endpoint[run["endpoint_id"]].append(run)
    assert len(by_endpoint) == ENDPOINTS
    for requests in by_endpoint.values():
        for earlier, later in pairwise(requests):
            apart = later["slot_at"] - earlier["slot_at"]
            assert apart >= INTERVAL
            assert apart < TAKEOVER + LEASE + 2 * INTERVAL + seconds(TAKES)
            assert apart // INTERVAL - 1 <= earlier["skipped_slots"]


async def lost_runs_were_taken_over(
    world: World, at: datetime, run_ids: set[UUID], *, within: timedelta
) -> None:
    """All but those that ended just then."""
    assert run_ids
    rows = await world.rows(
        "SELECT min(noted_at) FILTER (WHERE noted_at > $2) - $2 AS after"
        " FROM runs LEFT JOIN run_attempts ON run_attempts.run_id = runs.id"
        " WHERE runs.id = ANY ($1) GROUP BY runs.id",
        run_ids,
        at,
    )
    assert len(rows) == len(run_ids)
    taken_over = [row["after"] for row in rows if row["after"] is not None]
    assert len(taken_over) >= len(run_ids) / 2
    assert max(taken_over) < within


async def late_results_changed_nothing(world: World) -> None:
    late = await world.rows(
        "SELECT late.epoch AS late_epoch, runs.* FROM late_results AS late"
        " JOIN runs ON runs.id = late.run_id"
    )
    assert len(late) == await world.value("SELECT count(*) FROM late_results") > 0
    for run in late:
        assert run["late_epoch"] < run["epoch"]
        assert run["attempt"] > 1
    assert await world.value("SELECT sum(failure_count) FROM endpoints") == 0
    noted = await world.value("SELECT count(*) FROM run_attempts")
    assert noted == await world.value("SELECT sum(attempt - 1) FROM runs")
