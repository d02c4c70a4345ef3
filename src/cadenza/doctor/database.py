"""What can be wrong with the database, and what has been seen there of workers and receivers."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from cadenza.adapters.postgres.database import Database, shown_url
from cadenza.adapters.postgres.embedded.running import running_url
from cadenza.adapters.postgres.migrate import status
from cadenza.adapters.postgres.notification_reads import PostgresNotificationReads
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.adapters.system.clock import wall_clock
from cadenza.doctor.checks import PATIENCE, Check, right
from cadenza.doctor.connection import check_connection
from cadenza.doctor.settings import Settings
from cadenza.domain.errors import CadenzaError

OpenDatabase = Callable[[str], AbstractAsyncContextManager[Database]]
MOST_DRIFT = 2.0  # seconds between two clocks
NEEDED = ("scheduler", "planner", "notifier")
START = "start everything with `cadenza up`, or a worker with `cadenza scheduler`"


async def check_database(settings: Settings, open_database: OpenDatabase) -> list[Check]:
    url = settings.database_url
    address = url.get_secret_value() if url else running_url(settings.data_folder / "postgres")
    if address is None:
        what = f"no database is running in {settings.data_folder}"
        fix = "start it with `cadenza up`, or set CADENZA_DATABASE_URL"
        return [Check("database", "error", what, fix)]
    try:
        async with asyncio.timeout(PATIENCE), open_database(address) as database:
            server_version = await database.fetchval("SHOW server_version")
            missing = [step for step in await status(database) if step.applied_at is None]
            drift = (wall_clock() - await _time_of(database)).total_seconds()
            alive = await PostgresWorkers(database).alive()
            around = await check_connection(settings, database, address)
            reads = PostgresNotificationReads(database)
            failing = () if missing else await reads.failing_receivers()
    except (CadenzaError, TimeoutError) as error:
        what = str(error) or f"{shown_url(address)} does not answer within {PATIENCE:g} s"
        return [Check("database", "error", what, "start it, or correct CADENZA_DATABASE_URL")]
    return [
        _schema(f"PostgreSQL {server_version}", shown_url(address), len(missing)),
        _clock(drift),
        *around,
        *_workers(alive),
        *(_receiver(*receiver) for receiver in failing),
    ]


async def _time_of(database: Database) -> datetime:
    return await database.fetchval(query("database_time"))


def _schema(what: str, address: str, missing: int) -> Check:
    if missing:
        text = f"{what}, {missing} migrations to apply, at {address}"
        return Check("database", "error", text, "run `cadenza migrate`")
    return right("database", f"{what}, schema up to date, at {address}")


def _clock(drift: float) -> Check:
    what = f"{abs(drift):.1f} s between this machine and the database"
    if abs(drift) <= MOST_DRIFT:
        return right("clock", what)
    fix = "synchronise both with NTP; runs follow the clock of the database"
    return Check("clock", "warning", what, fix)


def _workers(alive: Mapping[str, int]) -> Iterator[Check]:
    for kind in NEEDED:
        if not alive.get(kind):
            state = "error" if kind == "scheduler" else "warning"
            yield Check("workers", state, f"no {kind} is running", START)
    if alive:
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(alive.items()))
        yield right("workers", counted)


def _receiver(what: str, tenant: str, name: str, error: str | None) -> Check:
    text = f"the {what} {name} of {tenant} is failing: {error or 'it was disabled'}"
    fix = "test it with `cadenza notify test` or `cadenza webhooks test`"
    return Check("notifications", "warning", text, fix)
