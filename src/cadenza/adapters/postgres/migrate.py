"""Migrations: numbered files, forward only, safe when several programs start at once."""

from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from importlib import resources

import asyncpg

from cadenza.adapters.postgres.database import PASSING, Connection, Database
from cadenza.domain.errors import InstallationError

# Any number that nobody else uses: whoever holds this lock migrates, the others wait.
LOCK = 0x0CADE27A
WAIT_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    name: str
    sql: str

    @property
    def digest(self) -> str:
        return sha256(self.sql.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Applied:
    migration: Migration
    applied_at: datetime | None


def migrations() -> list[Migration]:
    folder = resources.files("cadenza.adapters.postgres").joinpath("migrations")
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    return [
        Migration(int(file.name[:4]), file.name[5:-4], file.read_text(encoding="utf-8"))
        for file in sorted(files, key=lambda file: file.name)
    ]


async def migrate(database: Database) -> list[Migration]:
    """Apply what is missing, each file in a transaction of its own; gives back what was new."""
    new: list[Migration] = []
    async with database.connection() as connection:
        if not await _table_exists(connection):
            async with _alone(connection):
                await _make_table(connection)
        for migration in migrations():
            async with _alone(connection):
                known = await _known(connection)
                _check_known(known)
                if migration.number not in known:
                    await _apply(connection, migration)
                    new.append(migration)
    return new


@asynccontextmanager
async def _alone(connection: Connection) -> AsyncGenerator[None]:
    """A transaction while nobody else migrates. The lock ends with it, as it must behind a pooler,
    where the next statement may come from another connection."""
    async with connection.transaction():
        await connection.execute("SELECT pg_advisory_xact_lock($1)", LOCK, timeout=WAIT_SECONDS)
        yield


async def status(database: Database) -> list[Applied]:
    async with database.connection() as connection:
        known = await _known(connection) if await _table_exists(connection) else {}
    _check_known(known)
    return [
        Applied(migration, known[migration.number][1] if migration.number in known else None)
        for migration in migrations()
    ]


async def applied_digests(database: Database) -> dict[int, str]:
    """Everything that was applied, also by a newer version; nothing where there is no schema."""
    async with database.connection() as connection:
        known = await _known(connection) if await _table_exists(connection) else {}
    return {number: digest for number, (digest, _) in known.items()}


def unknown_migrations(applied: Collection[int]) -> list[int]:
    """Those of a newer version."""
    known = {migration.number for migration in migrations()}
    return [number for number in applied if number not in known]


async def _table_exists(connection: Connection) -> bool:
    return await connection.fetchval("SELECT to_regclass('schema_migrations') IS NOT NULL")


async def _make_table(connection: Connection) -> None:
    await connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_migrations ("
        " number integer PRIMARY KEY, name text NOT NULL, digest text NOT NULL,"
        " applied_at timestamptz NOT NULL DEFAULT now())"
    )


async def _known(connection: Connection) -> dict[int, tuple[str, datetime]]:
    rows = await connection.fetch("SELECT number, digest, applied_at FROM schema_migrations")
    return {row["number"]: (row["digest"], row["applied_at"]) for row in rows}


def _check_known(known: dict[int, tuple[str, datetime]]) -> None:
    """A file that was applied must not have changed. Numbers we do not know are a newer version's:
    migrations expand first, so that we still work with them."""
    for migration in migrations():
        if migration.number in known and known[migration.number][0] != migration.digest:
            raise InstallationError(
                f"Migration {migration.number:04} {migration.name} was applied in another form. "
                "Migrations are never edited: restore the file, and add a new one."
            )


async def _apply(connection: Connection, migration: Migration) -> None:
    try:
        await connection.execute(migration.sql, timeout=3600)
    except asyncpg.PostgresError as error:
        if isinstance(error, PASSING):
            raise
        raise InstallationError(
            f"Migration {migration.number:04} {migration.name} could not be applied, and nothing "
            f"of it was: {error}. The user of CADENZA_DATABASE_URL must own the database."
        ) from error
    await connection.execute(
        "INSERT INTO schema_migrations (number, name, digest) VALUES ($1, $2, $3)",
        migration.number,
        migration.name,
        migration.digest,
    )
