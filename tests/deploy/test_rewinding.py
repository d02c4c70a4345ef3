"""The embedded database with its log kept: a real server, brought back to the instant before a
mistake, and refused in plain words where no way leads."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.migrate import migrate
from cadenza.roots.program import database_url
from cadenza.roots.settings import Settings
from tests.adapters.postgres.support import CADENZA, environment, until
from tests.chaos.server import small_folder
from tests.deploy.test_backup import ran
from tests.postgres import MASTER_KEY


@dataclass(frozen=True)
class Home:
    """An installation with an embedded database, and where that keeps its log."""

    folder: Path
    archive: Path

    @asynccontextmanager
    async def up(self) -> AsyncGenerator["asyncpg.Connection[asyncpg.Record]"]:
        """The server as `cadenza up` starts it."""
        opened = database_url(Settings(data_folder=self.folder, wal_archive=self.archive))
        url = await asyncio.to_thread(opened.__enter__)
        try:
            database = await open_database(url, connections=2)
            await migrate(database)
            await database.close()
            connection = await asyncpg.connect(url)
            try:
                yield connection
            finally:
                await connection.close()
        finally:
            await asyncio.to_thread(opened.__exit__, None, None, None)

    async def cadenza(self, *words: object, **settings: Any) -> Any:
        known = {"url": None, "folder": self.folder, "wal_archive": self.archive}
        return await ran(*words, **{**known, "master_key": MASTER_KEY, **settings})

    async def done(self, *words: object) -> dict[str, Any]:
        done = await self.cadenza(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    async def refused(self, why: str, *words: object, **settings: Any) -> None:
        done = await self.cadenza(*words, **settings)
        assert done.returncode != 0, done.stdout
        assert why in " ".join(done.stderr.split()), done.stderr


@pytest.fixture
async def home() -> AsyncIterator[Home]:
    with small_folder(wanted=False) as (folder, _):
        (folder / "home").mkdir(mode=0o700)
        yield Home(folder / "home", folder / "the archive's 100%")


async def add(connection: "asyncpg.Connection[asyncpg.Record]", name: str) -> datetime:
    """A row; gives an instant at which it is there, and nothing later is."""
    await connection.execute("INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), $1)", name)
    return await connection.fetchval("SELECT clock_timestamp()")


async def names(connection: "asyncpg.Connection[asyncpg.Record]") -> list[str]:
    return [row["name"] for row in await connection.fetch("SELECT name FROM tenants ORDER BY 1")]


async def test_rows_that_were_destroyed_are_there_again_as_of_that_instant(home: Home) -> None:
    async with home.up() as connection:
        await add(connection, "before the base")
        base = await home.done("backup", "--base")
        right_then = await add(connection, "before the mistake")
        await connection.execute("DELETE FROM tenants")
        await home.refused("already in use", "restore", "--to", right_then.isoformat(), "--yes")
    assert (await home.done("restore", "--to", right_then.isoformat(), "--dry-run"))["dry_run"]
    await home.refused("--yes", "restore", "--to", right_then.isoformat())
    restored = await home.done("restore", "--to", right_then.isoformat(), "--yes")
    assert restored["base"] == base["folder"]
    assert (Path(restored["kept_as"]) / "PG_VERSION").exists()
    assert not list((home.folder / "postgres").glob("restoring_*"))
    # It goes on from there, keeps its log, and can be brought back once more.
    async with home.up() as connection:
        assert await names(connection) == ["before the base", "before the mistake"]
        since = await add(connection, "since")
        await connection.execute("DELETE FROM tenants")
    await home.done("restore", "--to", since.isoformat(), "--yes")
    async with home.up() as connection:
        assert await names(connection) == ["before the base", "before the mistake", "since"]
        kept = await home.done("backup", "--base", "--keep", "1")
        assert kept["removed"] == 1
        last = await add(connection, "last")
        await connection.execute("DELETE FROM tenants")
    assert [path.name for path in (home.archive / "base").iterdir()] == [Path(kept["folder"]).name]
    await home.done("restore", "--to", last.isoformat(), "--yes")
    async with home.up() as connection:
        assert "last" in await names(connection)


async def test_without_the_data_folder_the_archive_alone_is_enough(home: Home) -> None:
    async with home.up() as connection:
        await home.done("backup", "--base")
        right_then = await add(connection, "saved")
        await add(connection, "too late")
    (home.folder / "postgres").rename(home.folder / "lost")
    restored = await home.done("restore", "--to", right_then.isoformat(), "--yes")
    assert restored["kept_as"] is None
    async with home.up() as connection:
        assert await names(connection) == ["saved"]


async def test_where_no_way_leads_it_says_why_and_changes_nothing(home: Home) -> None:
    now = datetime.now().astimezone()  # noqa: TID251 - the command compares with the real clock
    to = ("restore", "--yes", "--to")
    await home.refused("no base backup", *to, now.isoformat())
    async with home.up() as connection:
        await home.done("backup", "--base")
        last = await add(connection, "here")
    before, ahead = now - timedelta(days=1), now + timedelta(days=1)
    await home.refused("before the first base backup", *to, before.isoformat())
    await home.refused("is in the future", *to, ahead.isoformat())
    await home.refused("does not reach beyond", *to, (last + timedelta(milliseconds=5)).isoformat())
    await home.refused("embedded database", *to, "1m", url="postgresql://h/d")
    await home.refused("embedded database", "backup", "--base", url="postgresql://h/d")
    await home.refused("is not a time", *to, "yesterday-ish")
    await home.refused("Give a backup file", "restore", "some.backup", "--to", "1m")
    await home.refused("Give a file to write", "backup")
    async with home.up() as connection:
        assert await names(connection) == ["here"]
    assert not list((home.folder / "postgres").glob("*before*"))


async def test_a_restore_that_is_killed_leaves_everything_as_it_was(home: Home) -> None:
    async with home.up() as connection:
        await home.done("backup", "--base")
        right_then = await add(connection, "then")
        await add(connection, "later")
    folder = home.folder / "postgres"
    env = environment("", data_folder=home.folder, wal_archive=home.archive, master_key=MASTER_KEY)
    del env["CADENZA_DATABASE_URL"]
    command = [CADENZA, "restore", "--to", right_then.isoformat(), "--yes"]
    restore = await asyncio.create_subprocess_exec(*command, env=env)
    await until(lambda: list(folder.glob("restoring_*/data/postmaster.pid")), within=60)
    restore.kill()
    await restore.wait()
    async with home.up() as connection:
        assert await names(connection) == ["later", "then"]
    assert not list(folder.glob("restoring_*"))
    await home.done("restore", "--to", right_then.isoformat(), "--yes")
    async with home.up() as connection:
        assert await names(connection) == ["then"]


async def test_a_restore_that_is_killed_between_two_renames_does_not_begin_with_nothing(
    home: Home,
) -> None:
    async with home.up() as connection:
        await add(connection, "here")
    folder = home.folder / "postgres"
    (folder / "restoring_20260301120000").mkdir()
    (folder / "data").rename(folder / "data_before_20260301120000")
    async with home.up() as connection:
        assert await names(connection) == ["here"]
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"data"}


async def test_a_server_that_keeps_no_log_gets_no_base_backup(home: Home) -> None:
    opened = database_url(Settings(data_folder=home.folder))
    await asyncio.to_thread(opened.__enter__)
    try:
        await home.refused("does not keep its log", "backup", "--base")
    finally:
        await asyncio.to_thread(opened.__exit__, None, None, None)
