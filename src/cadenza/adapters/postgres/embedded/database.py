"""The first connection: proof that the server takes them, and the database itself."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import asyncpg

from cadenza.adapters.postgres.embedded.cluster import USER
from cadenza.adapters.postgres.embedded.trouble import server_trouble
from cadenza.domain.errors import InstallationError


def ensure_database(folder: Path, port: int, password: str, database: str) -> None:
    # In a thread of its own: the caller's may have a running loop.
    with ThreadPoolExecutor(1) as thread:
        try:
            thread.submit(asyncio.run, _create_if_missing(port, password, database)).result()
        except asyncpg.InvalidPasswordError as error:
            raise InstallationError(
                f"The password in {folder / 'password'} is not the one that the database has. "
                "Restore the file, or delete it: the next start then sets a new password."
            ) from error
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
            what = f"PostgreSQL runs, but the database {database} could not be opened"
            raise server_trouble(what, folder, str(error)) from error


async def _create_if_missing(port: int, password: str, database: str) -> None:
    connection = await asyncpg.connect(
        host="127.0.0.1", port=port, user=USER, password=password, database="postgres", ssl=False
    )
    try:
        known = "SELECT 1 FROM pg_database WHERE datname = $1"
        if await connection.fetchval(known, database) is None:
            # A name cannot be a parameter; the constructor has checked it.
            await connection.execute(f'CREATE DATABASE "{database}"')
    finally:
        await connection.close()
