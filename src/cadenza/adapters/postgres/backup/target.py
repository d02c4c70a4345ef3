"""The database that a backup is restored into: what is in it, and how another takes its place."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

import asyncpg

from cadenza.adapters.postgres.database import connect
from cadenza.domain.errors import InstallationError

# Databases that every server has: one cannot be renamed from inside.
MAINTENANCE = ("postgres", "template1")
LONGEST_NAME = 63
FORM = (
    "SELECT format('ENCODING %L LC_COLLATE %L LC_CTYPE %L', pg_encoding_to_char(encoding),"
    " datcollate, datctype) FROM pg_database WHERE datname = $1"
)

UNFINISHED = (
    "SELECT datname FROM pg_database WHERE starts_with(datname, $1)"
    " AND substr(datname, length($1) + 1) ~ '^[0-9]{14}$'"
)


@dataclass(frozen=True, slots=True)
class Target:
    major: int
    tables: int
    programs: int  # of Cadenza that are connected


def database_of(url: str) -> str:
    return urlsplit(url).path.lstrip("/") or (urlsplit(url).username or MAINTENANCE[0])


def url_with(url: str, database: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{database}"))


def _outside(url: str) -> str:
    return url_with(url, MAINTENANCE[database_of(url) == MAINTENANCE[0]])


async def look_at(url: str) -> Target:
    async with _connected(url) as connection:
        version = await connection.fetchval("SHOW server_version_num")
        tables = await connection.fetchval(
            "SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'p')"
            " AND relnamespace = to_regnamespace('public')"
        )
        programs = await connection.fetchval(
            "SELECT count(DISTINCT client_port) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'cadenza'"
        )
    return Target(int(version) // 10000, tables, programs)


async def make_beside(url: str, name: str) -> None:
    """An empty database that sorts as the other does; nobody's is changed by that."""
    async with _connected(_outside(url)) as connection:
        form: str = await connection.fetchval(FORM, database_of(url))
        try:
            create = f'CREATE DATABASE "{_checked(name)}" TEMPLATE template0 {form}'
            await connection.execute(create)
        except asyncpg.InsufficientPrivilegeError as error:
            raise InstallationError(
                "The user of CADENZA_DATABASE_URL may not make databases, which a restore over a "
                "database that is not empty needs. Let it (ALTER ROLE … CREATEDB), or name an "
                "empty database."
            ) from error


async def drop_unfinished(url: str, prefix: str) -> None:
    """What a restore has left that was killed; one that somebody is connected to stays."""
    async with _connected(_outside(url)) as connection:
        left = await connection.fetch(UNFINISHED, prefix)
        for row in left:
            with suppress(asyncpg.ObjectInUseError, asyncpg.InsufficientPrivilegeError):
                await connection.execute(f'DROP DATABASE IF EXISTS "{_checked(row["datname"])}"')


async def drop(url: str, name: str) -> None:
    async with _connected(_outside(url)) as connection:
        await connection.execute(f'DROP DATABASE IF EXISTS "{_checked(name)}" WITH (FORCE)')


async def swap(url: str, new: str, kept_as: str) -> None:
    """The new one under the name of the old; the old one stays, under another name."""
    old = database_of(url)
    async with _connected(_outside(url)) as connection:
        try:
            async with connection.transaction():  # both or none
                for before, after in ((old, kept_as), (new, old)):
                    rename = f'ALTER DATABASE "{_checked(before)}" RENAME TO "{_checked(after)}"'
                    await connection.execute(rename)
        except asyncpg.ObjectInUseError as error:
            raise InstallationError(
                f"Somebody is connected to the database {old}, so that it cannot be replaced: "
                "stop them, and restore again. Nothing was changed."
            ) from error


def _checked(name: str) -> str:
    if '"' in name or "\0" in name or not 0 < len(name.encode()) <= LONGEST_NAME:
        raise InstallationError(f"{name!r} cannot be the name of a database.")
    return name


@asynccontextmanager
async def _connected(url: str) -> AsyncGenerator["asyncpg.Connection[asyncpg.Record]"]:
    connection = await connect(url)
    try:
        yield connection
    finally:
        await connection.close()
