"""A real PostgreSQL for tests: one server a test process, one fresh database a test."""

import atexit
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID, uuid4

import asyncpg

from cadenza.adapters.postgres.claims import PostgresClaims
from cadenza.adapters.postgres.clock import Asking
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.keys import ConfiguredKeys
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.quotas import Quotas
from cadenza.domain.endpoint import MAX_SPREAD
from cadenza.domain.quota import Limits
from tests.direct import Direct
from tests.factories import CRON

# A test database may lose everything when the machine does.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
TEMPLATE = "cadenza_template"
SHARED = "cadenza_shared"
MASTER_KEY = "0796834ae778ad5495ef50031f6730d038f9df25066e2c0cd9c65732b154a6d1"
BOX = AesGcmBox(ConfiguredKeys(MASTER_KEY))


GOING_CLOCK = (
    "CREATE OR REPLACE FUNCTION cadenza_now() RETURNS timestamptz"
    " LANGUAGE sql VOLATILE PARALLEL RESTRICTED AS 'SELECT clock_timestamp()'"
)


def run_queue(
    database: Database,
    new_id: Callable[[], UUID] = uuid4,
    box: SecretBox = BOX,
    spread: timedelta = MAX_SPREAD,
    asking: Asking = lambda: lambda _: None,
) -> ClaimedRuns:
    """What a scheduler works off."""
    claims = PostgresClaims(database, new_id, box, asking)
    return ClaimedRuns(claims, PostgresStore(database, box, spread), CRON)


def direct(database: Database, box: SecretBox = BOX, spread: timedelta = MAX_SPREAD) -> Direct:
    return Direct(PostgresStore(database, box, spread), CRON)


def quotas(
    database: Database, tokens_per_month: int | None = None, money_per_month: float | None = None
) -> Quotas:
    return Quotas(PostgresStore(database, BOX), uuid4, Limits(tokens_per_month, money_per_month))


@cache
def server_url() -> str:
    """Start the server of this test process, to be stopped when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="cadenza-test-")
    server = EmbeddedPostgres(Path(folder.name) / "postgres", settings=FAST)
    url = server.start()

    def stop() -> None:
        server.stop()
        folder.cleanup()

    atexit.register(stop)
    return url


def url_of(database: str) -> str:
    return urlunsplit(urlsplit(server_url())._replace(path=f"/{database}"))


@asynccontextmanager
async def fresh_database_url() -> AsyncIterator[str]:
    """An empty database of its own."""
    name = f"test_{uuid4().hex}"
    await _on_server(f"CREATE DATABASE {name}")
    try:
        yield url_of(name)
    finally:
        await _on_server(f"DROP DATABASE {name} WITH (FORCE)")


@asynccontextmanager
async def migrated_database_url() -> AsyncIterator[str]:
    """A database of its own with the schema in it, copied from a template."""
    await _make_template()
    name = f"test_{uuid4().hex}"
    await _on_server(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE}")
    try:
        yield url_of(name)
    finally:
        await _on_server(f"DROP DATABASE {name} WITH (FORCE)")


@asynccontextmanager
async def migrated_database(connections: int = 5) -> AsyncIterator[Database]:
    async with migrated_database_url() as url:
        database = await open_database(url, connections=connections)
        try:
            yield database
        finally:
            await database.close()


@asynccontextmanager
async def emptied_database(connections: int = 5) -> AsyncIterator[Database]:
    """The database that the tests of this process share, with nothing in it."""
    await _make_template()
    if SHARED not in _made:
        await _on_server(f"CREATE DATABASE {SHARED} TEMPLATE {TEMPLATE}")
        _made.append(SHARED)
    database = await open_database(url_of(SHARED), connections=connections)
    try:
        async with database.connection() as connection:
            await connection.execute(
                "TRUNCATE tenants, runs, failed_runs, run_counts, run_attempts, late_results,"
                " idempotency_keys, workers CASCADE"
            )
            await connection.execute(GOING_CLOCK)  # a test before may have stopped it
        yield database
    finally:
        await database.close()


class StoppedClock:
    """Makes the clock of a test's database stand still until the test moves it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def in_database(cls, database: Database, start: datetime) -> "StoppedClock":
        async with database.connection() as connection:
            await connection.execute(
                "CREATE TABLE IF NOT EXISTS stopped_clock (at timestamptz NOT NULL)"
            )
            await connection.execute("TRUNCATE stopped_clock")
            await connection.execute("INSERT INTO stopped_clock VALUES ($1)", start)
            await connection.execute(
                "CREATE OR REPLACE FUNCTION cadenza_now() RETURNS timestamptz"
                " LANGUAGE sql VOLATILE AS 'SELECT at FROM stopped_clock'"
            )
        return cls(database)

    async def now(self) -> datetime:
        async with self._database.connection() as connection:
            return await connection.fetchval("SELECT at FROM stopped_clock")

    async def set(self, instant: datetime) -> None:
        async with self._database.connection() as connection:
            await connection.execute("UPDATE stopped_clock SET at = $1", instant)


_made: list[str] = []


async def _make_template() -> None:
    if _made:
        return
    await _on_server(f"CREATE DATABASE {TEMPLATE}")
    database = await open_database(url_of(TEMPLATE), connections=1)
    await migrate(database)
    await database.close()
    _made.append(TEMPLATE)


async def _on_server(statement: str) -> None:
    connection = await asyncpg.connect(server_url())
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
