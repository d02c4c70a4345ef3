"""Connections: a budget of them, and errors that say what to do and never a password."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg
import pytest

from cadenza.adapters.postgres import database as module
from cadenza.adapters.postgres.database import Database, open_database, shown_url
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.embedded import server as server_module
from cadenza.domain.errors import InstallationError, StoreUnavailable
from cadenza.roots.settings import read_settings
from tests.adapters.postgres.support import Cable, until
from tests.ports import free_port
from tests.postgres import FAST, emptied_database, migrated_database, server_url, url_of

SECRET = "hunter2"


@asynccontextmanager
async def opened(
    url: str, connections: int = 2, *, pooler: bool = False
) -> AsyncIterator[Database]:
    database = await open_database(url, connections=connections, pooler=pooler)
    try:
        yield database
    finally:
        await database.close()


async def ask(database: Database, statement: str = "SELECT 1") -> object:
    async with database.connection() as connection:
        return await connection.fetchval(statement)


async def refusal(url: str, connections: int = 2) -> str:
    with pytest.raises(InstallationError) as refused:
        await open_database(url, connections=connections)
    assert not isinstance(refused.value, StoreUnavailable)
    return str(refused.value)


def with_password(url: str, password: str) -> str:
    parts = urlsplit(url)
    return url.replace(f":{parts.password}@", f":{password}@")


# --- At the door ----------------------------------------------------------------------------


async def test_a_wrong_password_is_named_but_not_told() -> None:
    message = await refusal(with_password(server_url(), SECRET))
    assert "password authentication failed" in message
    assert "CADENZA_DATABASE_URL" in message
    assert SECRET not in message


async def test_a_database_that_does_not_exist_is_named() -> None:
    message = await refusal(url_of("nowhere"))
    assert 'database "nowhere" does not exist' in message
    assert urlsplit(server_url()).password not in message


async def test_an_option_that_the_server_does_not_know_is_named() -> None:
    message = await refusal(f"{server_url()}&colour=blue")
    assert 'unrecognized configuration parameter "colour"' in message


async def test_where_nothing_listens_trying_again_may_help() -> None:
    url = f"postgresql://me:{SECRET}@127.0.0.1:{free_port()}/cadenza"
    with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:\d+/cadenza does not answer") as away:
        await open_database(url, connections=2)
    assert SECRET not in str(away.value)


async def test_a_host_that_has_no_address_is_named() -> None:
    url = f"postgresql://me:{SECRET}@nowhere.invalid/cadenza"
    with pytest.raises(StoreUnavailable, match=r"nowhere\.invalid/cadenza does not answer"):
        await open_database(url, connections=2)


GARBAGE = (
    "hunter2",
    "localhost:5432 hunter2",
    "host=localhost password=hunter2",
    "mysql://me:hunter2@localhost/cadenza",
    "postgresql://me:hunter2@localhost:port/cadenza",
    "postgresql://me:hunter2/@localhost/cadenza",
    "postgresql://me:/hunter2@localhost/cadenza",
    "postgresql://me:#hunter2@localhost/cadenza",
    "postgresql://me:hunter2#@localhost/cadenza",
    "postgresql://me:?hunter2@localhost/cadenza",
    "postgresql://[hunter2",
    "postgresql://localhost/cadenza?hunter2",
    "postgresql://me:hunter2@localhost/cadenza?sslmode=perhaps",
)


@pytest.mark.parametrize("url", GARBAGE)
async def test_an_address_that_cannot_be_read_is_told_with_the_right_form(url: str) -> None:
    message = await refusal(url)
    assert "postgresql://user:password@host:5432/database" in message
    assert SECRET not in message


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("postgresql://me:hunter2@db.example:5433/cadenza?sslmode=require", "db.example:5433"),
        ("postgres://me:hunter@2@db.example/cadenza", "db.example/cadenza"),
        ("postgresql:///cadenza?password=hunter2", "localhost/cadenza"),
        ("postgresql://me:12/hunter2@db.example/cadenza", "cannot be read"),
        ("password=hunter2", "cannot be read"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, text: str) -> None:
    assert text in shown_url(url)
    assert "hunter" not in shown_url(url)


async def test_a_server_that_is_too_old_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "OLDEST_SERVER", 990000)
    message = await refusal(server_url())
    assert "needs PostgreSQL 14 or later; this server is 1" in message


# --- The budget -----------------------------------------------------------------------------


async def test_a_server_with_too_few_connections_says_which_numbers_to_change() -> None:
    message = await refusal(server_url(), connections=98)
    assert "allows 97 connections, this program alone wants 98" in message
    assert "max_connections" in message
    assert "CADENZA_CONNECTIONS" in message
    async with opened(server_url(), connections=97):
        pass


async def test_a_pooler_shares_out_connections_by_itself() -> None:
    async with opened(server_url(), connections=500, pooler=True) as database:
        assert await ask(database) == 1


async def test_no_connection_left_passes_and_is_told_with_what_to_do() -> None:
    async with limited_role(0) as url:
        with pytest.raises(StoreUnavailable) as refused:
            await open_database(url, connections=2)
    assert "has no connection left for this program, which wants 2" in str(refused.value)
    assert "CADENZA_CONNECTIONS" in str(refused.value)


@asynccontextmanager
async def limited_role(connections: int) -> AsyncIterator[str]:
    owner = await asyncpg.connect(server_url())
    await owner.execute(f"CREATE ROLE few LOGIN PASSWORD 'few' CONNECTION LIMIT {connections}")
    try:
        yield with_password(server_url(), "few").replace("//cadenza:", "//few:")
    finally:
        await owner.execute("DROP ROLE few")
        await owner.close()


async def test_what_was_refused_leaves_no_connection_behind() -> None:
    async with migrated_database() as database:
        url = url_of(str(await ask(database, "SELECT current_database()")))
        before = await ask(database, OURS)
        await refusal(url, connections=99)
        await until(lambda: same(database, before))


OURS = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"


async def same(database: Database, before: object) -> bool:
    return await ask(database, OURS) == before


async def test_a_program_never_has_more_connections_than_its_budget() -> None:
    async with migrated_database(connections=3) as database:
        counts = await asyncio.gather(
            *(ask(database, f"{OURS} AND pg_sleep(0.01) IS NOT NULL") for _ in range(20))
        )
        assert max(counts) <= 3


# --- Away and back --------------------------------------------------------------------------


async def test_a_server_that_stops_is_unavailable_and_works_again_when_it_is_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setattr(server_module, "free_port", lambda: port)
    server = EmbeddedPostgres(tmp_path / "postgres", settings=FAST)
    url = await asyncio.to_thread(server.start)
    try:
        async with opened(url) as database:
            sleeping = asyncio.create_task(ask(database, "SELECT pg_sleep(60)"))
            await until(lambda: is_sleeping(database))
            await asyncio.to_thread(server.stop)
            for attempt in (sleeping, ask(database), ask(database)):
                with pytest.raises(StoreUnavailable, match=f":{port}/cadenza does not answer"):
                    await attempt
            assert await asyncio.to_thread(server.start) == url
            assert await until(lambda: answers(database)) == 1
    finally:
        await asyncio.to_thread(server.stop)


async def is_sleeping(database: Database) -> object:
    return await ask(database, "SELECT 1 FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(60)'")


async def answers(database: Database) -> object:
    try:
        return await ask(database)
    except StoreUnavailable:
        return None


async def test_a_cut_cable_is_unavailable_and_works_again_when_it_is_mended() -> None:
    async with Cable(server_url()).plugged() as cable, opened(cable.url) as database:
        assert await ask(database) == 1
        sleeping = asyncio.create_task(ask(database, "SELECT pg_sleep(60)"))
        await until(lambda: is_sleeping(database))
        await cable.cut()
        for attempt in (sleeping, ask(database)):
            with pytest.raises(StoreUnavailable, match="does not answer"):
                await attempt
        await cable.mend()
        assert await until(lambda: answers(database)) == 1


async def test_a_transaction_is_whole_or_nothing_when_the_server_goes() -> None:
    async with migrated_database() as database:
        name = await ask(database, "SELECT current_database()")
        async with Cable(url_of(str(name))).plugged() as cable, opened(cable.url) as other:
            with pytest.raises(StoreUnavailable):
                await add_tenant_and_then(other, cable.cut)
            assert await ask(database, "SELECT count(*) FROM tenants") == 0
            await cable.mend()


async def add_tenant_and_then(database: Database, step: Callable[[], Awaitable[None]]) -> None:
    async with database.transaction() as connection:
        await connection.execute("INSERT INTO tenants (id, name) VALUES (gen_random_uuid(), '')")
        await step()


@pytest.mark.parametrize("pooler", [False, True])
async def test_who_falls_silent_within_a_transaction_loses_its_locks(
    monkeypatch: pytest.MonkeyPatch, pooler: bool
) -> None:
    monkeypatch.setattr(module, "LONGEST_SILENCE", "100ms")
    monkeypatch.setitem(module.SESSION, "idle_in_transaction_session_timeout", "100ms")
    async with migrated_database() as database:
        name = await ask(database, "SELECT current_database()")
        async with opened(url_of(str(name)), pooler=pooler) as silent:
            with pytest.raises(StoreUnavailable):
                await add_tenant_and_then(silent, lambda: lock_at_leisure(database))
        assert await ask(database, "SELECT count(*) FROM tenants") == 0


async def lock_at_leisure(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("LOCK TABLE tenants", timeout=10)


async def test_closing_does_not_wait_for_a_server_that_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "CLOSE_SECONDS", 0.1)
    async with Cable(server_url()).plugged() as cable:
        database = await open_database(cable.url, connections=2)
        cable.hold()
        await asyncio.wait_for(database.close(), timeout=10)


async def test_a_lock_that_is_not_to_be_had_passes_by_itself() -> None:
    async with migrated_database() as database:
        async with database.transaction() as holder:
            await holder.execute("LOCK TABLE tenants")
            with pytest.raises(StoreUnavailable, match="lock timeout"):
                await lock_impatiently(database)
        assert await ask(database) == 1


async def lock_impatiently(database: Database) -> None:
    async with database.transaction() as connection:
        await connection.execute("SET LOCAL lock_timeout = '10ms'")
        await connection.execute("LOCK TABLE tenants")


async def test_a_statement_that_can_never_work_is_not_tried_for_ever() -> None:
    async with migrated_database() as database:
        with pytest.raises(asyncpg.UndefinedTableError):
            await ask(database, "SELECT 1 FROM nothing")
        async with database.connection() as connection:
            with pytest.raises(asyncpg.DataError, match="invalid input for query argument"):
                await connection.fetchval("SELECT $1::integer", 1 << 40)


# --- Settings -------------------------------------------------------------------------------


def test_every_bad_setting_is_named_in_one_message(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"CONNECTIONS": "1", "LEASE_SECONDS": "soon", "TICK_SECONDS": "0"}.items():
        monkeypatch.setenv(f"CADENZA_{name}", value)
    monkeypatch.setenv("CADENZA_DATABASE_URL", f"postgresql://me:{SECRET}@localhost/cadenza")
    with pytest.raises(InstallationError) as refused:
        read_settings()
    message = str(refused.value)
    for setting in (
        "CADENZA_CONNECTIONS=1",
        "CADENZA_LEASE_SECONDS=soon",
        "CADENZA_TICK_SECONDS=0",
    ):
        assert setting in message
    assert SECRET not in message


def test_a_setting_that_is_empty_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CADENZA_DATABASE_URL", "")
    monkeypatch.setenv("CADENZA_CONNECTIONS", "")
    settings = read_settings()
    assert (settings.database_url, settings.connections) == (None, 8)


# --- Connections that wait for the next who asks --------------------------------------------


async def _backend(database: Database) -> int:
    async with database.connection() as connection:
        return await connection.fetchval("SELECT pg_backend_pid()")


async def test_more_tasks_than_connections_take_turns() -> None:
    async with emptied_database(connections=2) as database:

        async def ask() -> int:
            async with database.connection() as connection:
                return await connection.fetchval("SELECT pg_backend_pid() FROM pg_sleep(0.01)")

        used = await asyncio.gather(*(ask() for _ in range(20)))
    assert len(set(used)) == 2


async def test_a_connection_is_used_again_but_not_after_trouble_or_a_long_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with emptied_database(connections=1) as database:
        first = await _backend(database)
        assert await _backend(database) == first
        with pytest.raises(asyncpg.SyntaxOrAccessError):
            async with database.connection() as connection:
                await connection.execute("SELEKT 1")
        assert await _backend(database) == first  # it was rolled back, and is as good as before
        monkeypatch.setattr(module, "IDLE_SECONDS", -1.0)
        assert await _backend(database) != first


async def test_one_that_is_cancelled_gives_its_connection_back() -> None:
    async with emptied_database(connections=1) as database:

        async def sleep() -> None:
            async with database.connection() as connection:
                await connection.execute("SELECT pg_sleep(60)")

        for _ in range(3):
            task = asyncio.create_task(sleep())
            await asyncio.sleep(0.05)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        async with asyncio.timeout(60):
            assert await _backend(database) > 0


async def test_a_connection_that_the_server_ended_is_replaced() -> None:
    async with emptied_database(connections=2) as database:
        ended = await _backend(database)
        async with database.connection() as one, database.connection() as other:
            mine = await one.fetchval("SELECT pg_backend_pid()")
            asks = other if mine == ended else one
            await asks.execute("SELECT pg_terminate_backend($1)", ended)
        await asyncio.sleep(0.1)
        used = [await _backend(database) for _ in range(4)]
        assert ended not in used


async def test_a_session_that_the_server_ended_is_told_in_the_servers_words() -> None:
    """As it does with one that has asked nothing in a transaction for too long."""
    async with opened(server_url()) as database, opened(server_url()) as other:
        with pytest.raises(StoreUnavailable) as ended:  # noqa: PT012 - it ends within
            async with database.transaction() as connection:
                await connection.execute("SET LOCAL idle_in_transaction_session_timeout = '50ms'")
                pid = await connection.fetchval("SELECT pg_backend_pid()")
                alive = "SELECT count(*) FROM pg_stat_activity WHERE pid = $1"
                while await other.fetchval(alive, pid):  # noqa: ASYNC110 - the server ends it
                    await asyncio.sleep(0.01)
                await connection.fetchval("SELECT 1")
    assert "terminate()" not in str(ended.value)
