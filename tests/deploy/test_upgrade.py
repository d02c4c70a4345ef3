"""The version before goes on while the new one migrates, and works beside it."""

import asyncio
import signal
import subprocess
from collections import Counter
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

import asyncpg
from aiohttp import ClientSession

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate, migrations
from cadenza.domain.endpoint import Every
from tests.adapters.postgres.support import (
    CADENZA,
    Program,
    Targets,
    World,
    environment,
    program,
    until,
)
from tests.deploy.previous import command, unpacked_previous
from tests.factories import seconds
from tests.ports import free_port
from tests.postgres import BOX, MASTER_KEY, direct, fresh_database_url

ENDPOINTS = 40
INTERVAL = seconds(1)
SETTINGS = {"master_key": MASTER_KEY, "lease_seconds": 5, "tick_seconds": 0.5, "in_flight": 15}


async def test_the_version_before_works_on_beside_this_one(tmp_path: Path) -> None:
    source = await asyncio.to_thread(unpacked_previous, tmp_path / "previous")
    async with fresh_database_url() as url, Targets().serving() as targets:
        before = await asyncio.to_thread(migrated_by_previous, source, url)
        with ExitStack() as stack:

            def started(
                kind: str, name: str, *, old: bool, options: tuple[str, ...] = ()
            ) -> Program:
                words = command(kind, *options) if old else (CADENZA, kind, *options)
                settings = {**SETTINGS, "worker_name": name}
                with_path = {"PYTHONPATH": str(source)} if old else {}
                log = tmp_path / f"{name}.log"
                return stack.enter_context(
                    program(log, url, command=words, extra=with_path, **settings)
                )

            port = free_port()
            old = started("scheduler", "old", old=True)
            old_api = started("api", "old-api", old=True, options=("--port", str(port)))
            old_planner = started("planner", "old-planner", old=True)
            await old.until_started()
            await until(lambda: answers(port), within=60)

            database = await open_database(url, connections=4)
            try:
                new_steps = await migrate(database)
                assert len(new_steps) + before == len(migrations())
                await Maintenance(database, seconds(86400 * 30)).run_once()
                world = World(url, database, targets, direct(database, BOX, seconds(0)))
                probe = await world.add(
                    baseline=Every(INTERVAL), url=targets.url("probe", takes=0.2)
                )
                await world.add_copies(probe, ENDPOINTS - 1, apart=INTERVAL / ENDPOINTS)
                await world.until_finished(probe, count=2)  # by the old one alone

                new = started("scheduler", "new", old=False)
                new_planner = started("planner", "new-planner", old=False)
                await new.until_started()
                await until(lambda: both_hold(world), within=30)
                await world.until_finished(probe, count=8, within=40)
                assert await answers(port)
                old.send(signal.SIGTERM)
                assert await old.until_ended() == 0
                began = await world.now()
                await until(lambda: all_ran_since(world, began), within=30)
                new.send(signal.SIGTERM)
                assert await new.until_ended() == 0

                nothing_was_lost_or_refused(await world.runs())
                assert await world.value("SELECT count(*) FROM late_results") == 0
                for each in (old, old_api, old_planner, new, new_planner):
                    assert "Traceback" not in each.output(), each.output()
            finally:
                await database.close()


def migrated_by_previous(source: Path, url: str) -> int:
    env = {**environment(url, master_key=MASTER_KEY), "PYTHONPATH": str(source)}
    where = [command()[0], "-c", "import cadenza; print(cadenza.__file__)"]
    found = subprocess.run(where, env=env, check=True, capture_output=True, text=True).stdout
    assert found.startswith(str(source))  # and not what is installed here
    subprocess.run(command("migrate"), env=env, check=True, capture_output=True)
    return len(list((source / "cadenza/adapters/postgres/migrations").glob("*.sql")))


async def answers(port: int) -> bool:
    try:
        async with (
            ClientSession() as session,
            session.get(f"http://127.0.0.1:{port}/healthz") as answer,
        ):
            return answer.status == 200
    except OSError:
        return False


async def both_hold(world: World) -> bool:
    names = await world.rows("SELECT DISTINCT leased_by FROM endpoints WHERE lease_until > now()")
    return {"old", "new"} <= {row["leased_by"] for row in names}


async def all_ran_since(world: World, began: object) -> bool:
    statement = "SELECT count(DISTINCT endpoint_id) FROM runs WHERE slot_at > $1 AND status = $2"
    return await world.value(statement, began, "success") == ENDPOINTS


def nothing_was_lost_or_refused(runs: list[asyncpg.Record]) -> None:
    assert Counter(run["status"] for run in runs) == {"success": len(runs)}
    assert all(run["attempt"] == 1 for run in runs)
    by_endpoint: dict[object, list[asyncpg.Record]] = {}
    for run in runs:
        by_endpoint.setdefault(run["endpoint_id"], []).append(run)
    assert len(by_endpoint) == ENDPOINTS
    for mine in by_endpoint.values():
        assert len({run["slot_at"] for run in mine}) == len(mine)
        for earlier, later in pairwise(mine):
            apart = later["slot_at"] - earlier["slot_at"]
            assert apart // INTERVAL - 1 <= earlier["skipped_slots"]
