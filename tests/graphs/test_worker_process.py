"""`cadenza graph-worker` as a process of its own: killed at each step, and without its database."""

import asyncio
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import asyncpg
import pytest

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.embedded import server as server_module
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.application.slots import slot_job
from cadenza.domain.access import Tenant
from cadenza.domain.billing import Account
from cadenza.domain.grant import EXECUTE_ANY, Grant
from cadenza.domain.schedule import Schedule, ScheduleDefinition
from tests.adapters.graphs.harness import PROJECT, gone, parent_of
from tests.adapters.postgres.support import (
    CADENZA,
    Cable,
    Program,
    Targets,
    World,
    new_world,
    program,
    until,
)
from tests.ports import free_port
from tests.postgres import BOX, FAST, direct

NEW_YEAR = "0 3 1 1 *"
PATIENCE = 60  # seconds; only a failing test needs them
SETTINGS = {
    "lease_seconds": 3,
    "tick_seconds": 0.5,
    "graph_files": "",
    "graph_functions": "behaviour:touch,behaviour:tells,behaviour:waits_for",
    "graph_paths": str(PROJECT),
}
COMMAND = (CADENZA, "graph-worker")


class Graphs:
    """Workers that come and go, and schedules of one grant."""

    def __init__(self, world: World, grant: Grant, folder: Path, stack: ExitStack) -> None:
        self.world = world
        self._grant = grant
        self._folder = folder
        self._stack = stack
        self._count = 0

    async def worker(self, url: str | None = None, **settings: object) -> Program:
        self._count += 1
        name = f"worker-{self._count}"
        log = self._folder / f"{name}.log"
        settings = {"worker_name": name, **SETTINGS, **settings}
        started = self._stack.enter_context(
            program(log, url or self.world.url, command=COMMAND, **settings)
        )
        await until(lambda: "graph-worker started" in started.output(), within=PATIENCE)
        return started

    async def schedule(self, name: str, values: dict[str, Any]) -> UUID:
        """With a slot that is due now."""
        store = PostgresStore(self.world.database, BOX)
        definition = ScheduleDefinition(f"python:behaviour:{name}", NEW_YEAR, input=values)
        async with store.transaction() as tx:
            now = await tx.time()
            grant = self._grant
            schedule = Schedule(
                uuid4(), grant.tenant_id, grant.user_id, grant.id, definition, now, now
            )
            await tx.insert_schedule(schedule)
            await tx.add_jobs([slot_job(schedule, now)])
            await self.world.execute("SELECT pg_notify('cadenza_slots', '')")
        return schedule.id

    async def runs(self, schedule_id: UUID) -> list[asyncpg.Record]:
        """The oldest slot first."""
        return await self.world.rows(
            "SELECT * FROM schedule_runs WHERE schedule_id = $1 ORDER BY slot_at", schedule_id
        )

    async def ended(self, schedule_id: UUID) -> asyncpg.Record:
        """The run, when it has; and the chain goes on with one slot ahead."""

        async def first() -> asyncpg.Record | None:
            run, *_ = await self.runs(schedule_id)
            return run if run["finished_at"] else None

        run = await until(first, within=PATIENCE)
        _, following = await self.runs(schedule_id)
        assert following["status"] == "scheduled"
        return run


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


@pytest.fixture
async def graphs(tmp_path: Path) -> AsyncIterator[Graphs]:
    async with new_world() as world:
        grant = await _furnish(world)
        with ExitStack() as stack:
            yield Graphs(world, grant, tmp_path, stack)


async def _furnish(world: World) -> Grant:
    tenant_id, store = uuid4(), PostgresStore(world.database, BOX)
    async with store.transaction() as tx:
        now = await tx.time()
        await tx.insert_tenant(Tenant(tenant_id, "tenant", now))
        account = Account(uuid4(), tenant_id, "main", 0, now)
        await tx.insert_account(account)
        await tx.add_entry(account, 1_000_000, "start", "start")
        grant = Grant(uuid4(), tenant_id, uuid4(), account.id, (EXECUTE_ANY,), now)
        await tx.insert_grant(grant)
    return grant


def _pids(path: Path) -> list[int]:
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


async def test_killed_before_the_start_is_stored_it_leaves_the_slot_to_another(
    graphs: Graphs, tmp_path: Path
) -> None:
    path = tmp_path / "pids"
    worker = await graphs.worker()
    async with _held_up(graphs.world):  # the start cannot be stored
        schedule = await graphs.schedule("touch", {"path": str(path)})
        await until(lambda: _is_claimed(graphs, schedule), within=PATIENCE)
        worker.send(signal.SIGKILL)
        await worker.until_ended()
    await graphs.worker()
    run = await graphs.ended(schedule)
    assert (run["status"], run["attempt"]) == ("success", 2)
    assert len(_pids(path)) == 1


@asynccontextmanager
async def _held_up(world: World) -> AsyncIterator[None]:
    async with world.database.transaction() as connection:
        await connection.execute("LOCK TABLE grant_uses IN ACCESS EXCLUSIVE MODE")
        yield


async def _is_claimed(graphs: Graphs, schedule_id: UUID) -> bool:
    run, *_ = await graphs.runs(schedule_id)
    assert run["started_at"] is None
    return run["status"] == "running"


@pytest.mark.parametrize(
    "graph", ["waits_for", "tells"], ids=["before an event", "within a stream"]
)
async def test_killed_after_the_start_it_is_lost_and_never_started_again(
    graphs: Graphs, tmp_path: Path, graph: str
) -> None:
    path = tmp_path / "pids"
    worker = await graphs.worker()
    schedule = await graphs.schedule(graph, {"path": str(path), "sign": "/nowhere"})
    (child,) = await until(lambda: _pids(path), within=PATIENCE)
    server = parent_of(child)
    worker.send(signal.SIGKILL)
    await gone(child, server)
    await graphs.worker()
    run = await graphs.ended(schedule)
    assert (run["status"], run["error_code"], run["attempt"]) == ("error", "worker_lost", 1)
    assert _pids(path) == [child]


async def test_two_workers_start_every_slot_once(graphs: Graphs, tmp_path: Path) -> None:
    """A race, a retry of the same job, and a restart of one of them between slots."""
    first, _ = await graphs.worker(), await graphs.worker()
    sign = tmp_path / "sign"
    sign.touch()
    paths = [tmp_path / f"pids-{number}" for number in range(20)]
    schedules = [
        await graphs.schedule("waits_for", {"path": str(path), "sign": str(sign)}) for path in paths
    ]
    await _enqueue_again(graphs, schedules)
    first.send(signal.SIGTERM)
    await graphs.worker()
    for schedule in schedules:
        run = await graphs.ended(schedule)
        assert run["status"] == "success", run
    assert [len(_pids(path)) for path in paths] == [1] * len(paths)


async def _enqueue_again(graphs: Graphs, schedules: list[UUID]) -> None:
    """The same slots, as a producer that tries again would."""
    await graphs.world.execute(
        "INSERT INTO schedule_runs (schedule_id, slot_at, tenant_id, user_id)"
        " SELECT schedule_id, slot_at, tenant_id, user_id FROM schedule_runs"
        " WHERE schedule_id = ANY ($1) ON CONFLICT DO NOTHING",
        schedules,
    )


async def test_a_database_that_is_away_under_runs_loses_and_doubles_nothing(
    graphs: Graphs, tmp_path: Path, stack: AsyncExitStack
) -> None:
    """Every connection is cut, and for a while none is to be had."""
    cable = await stack.enter_async_context(Cable(graphs.world.url).plugged())
    await graphs.worker(cable.url)
    await _live_through(graphs, tmp_path, cable.cut, cable.mend)


async def test_a_database_that_restarts_under_runs_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setattr(server_module, "free_port", lambda: port)
    server = EmbeddedPostgres(tmp_path / "postgres", settings=FAST)
    url = await asyncio.to_thread(server.start)
    try:
        database = await open_database(url, connections=3)
        await migrate(database)
        world = World(url, database, Targets(), direct(database, BOX))
        with ExitStack() as workers:
            graphs = Graphs(world, await _furnish(world), tmp_path, workers)
            await graphs.worker()
            await _live_through(
                graphs,
                tmp_path,
                lambda: asyncio.to_thread(server.stop),
                lambda: asyncio.to_thread(server.start),
            )
        await database.close()
    finally:
        await asyncio.to_thread(server.stop)


async def _live_through(
    graphs: Graphs,
    tmp_path: Path,
    away: Callable[[], Awaitable[object]],
    back: Callable[[], Awaitable[object]],
) -> None:
    """Five runs end while the database is away; each is recorded once, and the next slot runs."""
    sign = tmp_path / "sign"
    paths = [tmp_path / f"pids-{number}" for number in range(5)]
    values = [{"path": str(path), "sign": str(sign)} for path in paths]
    schedules = [await graphs.schedule("waits_for", value) for value in values]
    await until(lambda: all(map(_pids, paths)), within=PATIENCE)
    await away()
    sign.touch()  # they end while nobody can be told
    for path in paths:
        await gone(*_pids(path))
    await back()
    for schedule in schedules:
        run = await graphs.ended(schedule)
        assert (run["status"], run["attempt"]) == ("success", 1), run
    later = tmp_path / "pids-later"
    again = await graphs.schedule("waits_for", {"path": str(later), "sign": str(sign)})
    assert (await graphs.ended(again))["status"] == "success"
    assert [len(_pids(path)) for path in (*paths, later)] == [1] * 6
