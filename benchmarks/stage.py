"""What every benchmark stands on: a real PostgreSQL, a target, endpoints, and real workers."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.machine import NOISY_ABOVE, foreign_share, load_now
from benchmarks.target import RunningTarget, running_target
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.keys import ConfiguredKeys

BOX = AesGcmBox(ConfiguredKeys("0796834ae778ad5495ef50031f6730d038f9df25066e2c0cd9c65732b154a6d1"))
DUE = "cadenza_now() - interval '1 second'"
SERVER = {"shared_buffers": "512MB", "max_wal_size": "4GB", "checkpoint_timeout": "30min"}


@dataclass(slots=True)
class Stage:
    url: str
    database: Database
    target: RunningTarget

    async def execute(self, statement: str, *values: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement, *values, timeout=600)

    async def value(self, statement: str, *values: Any) -> Any:
        async with self.database.connection() as connection:
            return await connection.fetchval(statement, *values, timeout=600)

    async def json(self, statement: str, *values: Any) -> dict[str, Any]:
        return json.loads(await self.value(statement, *values))

    async def finished(self, count: int, *, within: float, every: float = 0.02) -> bool:
        """Wait until so many runs have ended. To count thousands is work, too: not too often."""

        async def enough() -> bool:
            return await self.value("SELECT count(*) FROM runs WHERE status <> 'running'") >= count

        return await until(enough, within=within, every=every)

    async def postmaster(self) -> int:
        """The process id of the server; its backends descend from it."""
        return await self.value(
            r"SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::integer"
        )

    async def empty(self) -> None:
        await self.execute("TRUNCATE tenants CASCADE")
        await self.execute("TRUNCATE runs, failed_runs, run_counts, run_attempts, late_results")
        self.target.reset()

    async def add_endpoints(
        self, count: int, *, interval: timedelta, first_at: str, tenants: int = 20
    ) -> None:
        """Set-based; `first_at` is an SQL expression over the number n of the endpoint."""
        await self.execute(
            "INSERT INTO tenants (id, name) SELECT md5('t' || n)::uuid, 't' || n"
            " FROM generate_series(0, $1::int - 1) AS n",
            tenants,
        )
        await self.execute(
            "INSERT INTO jobs (id, tenant_id, name) SELECT id, id, name FROM tenants"
        )
        target = json.dumps(
            {"kind": "http", "method": "GET", "headers": {}, "body": None, "timeout_ms": 30000}
        )
        await self.execute(
            "INSERT INTO endpoints (id, tenant_id, job_id, name, created_at, target, host,"
            " baseline_interval_ms, next_run_at, next_source)"
            " SELECT md5('e' || n)::uuid, md5('t' || n % $2)::uuid, md5('t' || n % $2)::uuid,"
            " 'e' || n, cadenza_now(), $3::jsonb || jsonb_build_object('url', $5::text || n),"
            f" '127.0.0.1', $4, {first_at}, 'baseline-interval'"
            " FROM generate_series(0, $1::int - 1) AS n",
            count,
            tenants,
            target,
            interval // timedelta(milliseconds=1),
            f"{self.target.url}/probe/",
        )
        await self.execute("VACUUM ANALYZE endpoints")


@asynccontextmanager
async def stage() -> AsyncGenerator[Stage]:
    with (
        tempfile.TemporaryDirectory(prefix="cadenza-bench-") as folder,
        running_target() as target,
        EmbeddedPostgres(Path(folder) / "postgres", settings=SERVER) as url,
    ):
        database = await open_database(url, connections=4)
        try:
            await migrate(database)
            await Maintenance(database, timedelta(days=30)).run_once()
            yield Stage(url, database, target)
        finally:
            await database.close()


@contextmanager
def workers(
    url: str,
    count: int,
    *,
    kind: str = "scheduler",
    guarded: bool = True,
    module: str | None = None,
    **settings: object,
) -> Generator[list[subprocess.Popen[bytes]]]:
    """Real programs, such as `cadenza scheduler`, with limits wide enough for one host."""
    wide = {
        "IN_FLIGHT": 400,
        "IN_FLIGHT_PER_TENANT": 400,
        "IN_FLIGHT_PER_HOST": 400,
        "ALLOWED_NETWORKS": "loopback",
        "MASTER_KEY": "0796834ae778ad5495ef50031f6730d038f9df25066e2c0cd9c65732b154a6d1",
    }
    environment = {
        **os.environ,
        "CADENZA_DATABASE_URL": url,
        **{f"CADENZA_{name}": str(value) for name, value in {**wide, **settings}.items()},
    }
    program = ["cadenza.roots.main", kind] if guarded else ["benchmarks.unguarded"]
    command = [sys.executable, "-m", *([module] if module else program)]
    started = [
        subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) for _ in range(count)
    ]
    try:
        yield started
    finally:
        for worker in started:
            worker.send_signal(signal.SIGTERM)
        for worker in started:
            worker.wait(timeout=60)


def arguments(about: str) -> Namespace:
    return parser_of(about).parse_args()


def parser_of(about: str) -> ArgumentParser:
    parser = ArgumentParser(description=about)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--quick", action="store_true", help="a small run, to see that it works")
    return parser


def measured(result: dict[str, Any], began: Any) -> dict[str, Any]:
    """The result, with a word on whether the machine was ours."""
    share = foreign_share(began, load_now())
    return {**result, "foreign_cpu": round(share, 3), "noisy": share > NOISY_ABOVE}


def report(name: str, result: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps(result))
        return
    print(name)
    for key, value in result.items():
        print(f"  {key:24} {value}")


async def until(condition: Any, *, within: float, every: float = 0.1) -> bool:
    """Poll until something is true, or the time is over."""
    deadline = asyncio.get_running_loop().time() + within
    while not await condition():
        if asyncio.get_running_loop().time() > deadline:
            return False
        await asyncio.sleep(every)
    return True


async def connected(here: Stage, number: int) -> None:
    """Until so many workers listen for what is due."""

    async def listening() -> bool:
        listeners = "SELECT count(*) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'"
        return await here.value(listeners) >= number

    assert await until(listening, within=60), "the workers did not start"


async def lost_and_duplicates(here: Stage) -> dict[str, int]:
    """Runs that did not end well, and requests that came twice."""
    lost = await here.value("SELECT count(*) FROM runs WHERE status <> 'success'")
    return {"duplicates": here.target.duplicates, "lost": lost}
