"""Migrations: from nothing, several at once, by an older version, and what they make in the end."""

import asyncio
import json
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from cadenza.adapters.postgres import migrate as module
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.migrate import Migration, migrate, migrations, status
from cadenza.domain.errors import InstallationError
from tests.adapters.postgres.dump_schema import SCHEMA, dump_migrated
from tests.adapters.postgres.support import CADENZA, World, environment
from tests.postgres import fresh_database_url

OURS = migrations()
NUMBERS = [migration.number for migration in OURS]


@pytest.fixture
async def url() -> AsyncIterator[str]:
    async with fresh_database_url() as url:
        yield url


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Database]:
    database = await open_database(url, connections=2)
    try:
        yield database
    finally:
        await database.close()


async def ask(database: Database, statement: str) -> object:
    async with database.connection() as connection:
        return await connection.fetchval(statement)


def cadenza(url: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [CADENZA, *arguments], check=False, capture_output=True, text=True, env=environment(url)
    )


def newer(sql: str = "CREATE TABLE of_the_future (id integer)") -> Migration:
    return Migration(NUMBERS[-1] + 1, "future", sql)


async def test_numbers_are_unique_and_without_a_gap() -> None:
    assert list(range(1, len(NUMBERS) + 1)) == NUMBERS


async def test_an_empty_database_gets_everything_in_order(url: str) -> None:
    async with opened(url) as database:
        assert [row.applied_at for row in await status(database)] == [None] * len(NUMBERS)
        assert [migration.number for migration in await migrate(database)] == NUMBERS
        assert await ask(database, "SELECT count(*) FROM endpoints") == 0
        assert all(row.applied_at for row in await status(database))


async def test_a_second_time_there_is_nothing_to_do(url: str) -> None:
    async with opened(url) as database:
        await migrate(database)
        before = await status(database)
        assert await migrate(database) == []
        assert await status(database) == before


async def test_many_at_once_apply_each_one_once(url: str) -> None:
    async def start_one() -> list[Migration]:
        async with opened(url) as database:
            return await migrate(database)

    new = await asyncio.gather(*(start_one() for _ in range(8)))
    assert sorted(migration.number for applied in new for migration in applied) == NUMBERS


async def test_processes_at_once_apply_each_one_once(url: str) -> None:
    done = await asyncio.gather(
        *(asyncio.to_thread(cadenza, url, "migrate", "--json") for _ in range(3))
    )
    assert [process.returncode for process in done] == [0, 0, 0], [
        process.stderr for process in done
    ]
    applied = [name for process in done for name in json.loads(process.stdout)["applied"]]
    assert len(applied) == len(set(applied)) == len(NUMBERS)


async def test_an_applied_migration_that_was_edited_is_refused(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(url) as database:
        await migrate(database)
        edited = [replace(migration, sql=migration.sql + " ") for migration in migrations()]
        monkeypatch.setattr(module, "migrations", lambda: edited)
        with pytest.raises(
            InstallationError, match=r"0001 core was applied in another form.*restore"
        ):
            await migrate(database)
        with pytest.raises(InstallationError, match="0001 core"):
            await status(database)


async def test_a_database_of_a_newer_version_is_accepted(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, "migrations", lambda: [*OURS, newer()])
        assert [migration.name for migration in await migrate(world.database)] == ["future"]
    assert await migrate(world.database) == []
    assert [row.migration.number for row in await status(world.database)] == NUMBERS


async def test_the_previous_version_works_on_a_schema_that_was_expanded(world: World) -> None:
    old = await world.add("old")
    await world.execute("ALTER TABLE endpoints ADD COLUMN colour text NOT NULL DEFAULT 'blue'")
    await world.execute("ALTER TABLE runs ADD COLUMN colour text")
    new = await world.add("new")
    async with world.worker():
        await world.until_finished(old)
        await world.until_finished(new)


async def test_columns_added_under_a_working_worker_do_not_disturb_it(world: World) -> None:
    async with world.worker():
        for number in range(3):
            await world.until_finished(await world.add(f"probe{number}"))
            for table in ("endpoints", "runs", "jobs"):
                await world.execute(f"ALTER TABLE {table} ADD COLUMN colour_{number} text")


async def test_a_migration_that_fails_leaves_nothing_of_itself(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = newer("CREATE TABLE half_made (id integer); SELECT 1 / 0")
    with monkeypatch.context() as patch:
        patch.setattr(module, "migrations", lambda: [*OURS, broken])
        async with opened(url) as database:
            with pytest.raises(
                InstallationError, match=r"future could not be applied.*division by"
            ):
                await migrate(database)
            assert await ask(database, "SELECT to_regclass('half_made')") is None
    async with opened(url) as database:
        assert await migrate(database) == []  # those before it stay


async def test_no_lock_is_left_behind(url: str) -> None:
    async with opened(url) as database:
        await migrate(database)
        assert await ask(database, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == 0


async def test_a_role_that_may_only_work_needs_no_right_to_migrate(world: World) -> None:
    role = f"worker_{world.url.rpartition('test_')[2][:8]}"
    async with world.database.connection() as connection:
        await connection.execute(f"CREATE ROLE {role}; GRANT SELECT ON schema_migrations TO {role}")
        await connection.execute("REVOKE CREATE ON SCHEMA public FROM public")
    try:
        async with opened(f"{world.url}&role={role}") as database:
            assert await migrate(database) == []
    finally:
        await world.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")


def test_the_command_tells_what_is_missing_and_what_it_did(url: str) -> None:
    before = cadenza(url, "migrate", "--status")
    assert (before.returncode, before.stderr) == (0, "")
    assert "core" in before.stdout
    assert "not yet" in before.stdout  # and it stays so: asking changes nothing
    done = cadenza(url, "migrate")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Applied 0001 core." in done.stdout
    first = json.loads(cadenza(url, "migrate", "--status", "--json").stdout)[0]
    assert (first["number"], first["name"]) == ("0001", "core")
    assert first["applied_at"].endswith("Z")


async def test_the_schema_file_is_what_the_migrations_make() -> None:
    made = await dump_migrated()
    assert made == SCHEMA.read_text(), "run: python -m tests.adapters.postgres.dump_schema"
    assert "CREATE TABLE public.endpoints" in made
