"""A backup under load, restored elsewhere: what ran is there once, and it goes on."""

import asyncio
import json
import signal
import stat
import subprocess
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from random import Random  # noqa: TID251 - with a seed
from typing import Any

import asyncpg

from cadenza.adapters.postgres.backup.file import (
    About,
    about_of,
    add_about,
    check_whole,
    new_dump,
    opened,
    written,
)
from cadenza.adapters.postgres.backup.target import url_with
from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.signing.standard_webhooks import new_signing_secret
from cadenza.domain.endpoint import Every
from cadenza.domain.errors import InstallationError
from cadenza.domain.signing import SigningKey
from tests.adapters.postgres.support import CADENZA, World, environment, new_world, program, until
from tests.deploy.pgbouncer import pgbouncer
from tests.factories import id_of, seconds
from tests.ports import free_port
from tests.postgres import BOX, MASTER_KEY, fresh_database_url

INTERVAL = seconds(1)
ENDPOINTS = 30
LEASE = 3.0
UNFINISHED = "%\\_restored\\_%"
WORKER = {"master_key": MASTER_KEY, "lease_seconds": LEASE, "tick_seconds": 0.5}


def cadenza(
    *words: object, url: str | None, folder: Path, **settings: object
) -> subprocess.CompletedProcess[str]:
    env = environment(url or "", **{"data_folder": folder, **settings})
    if url is None:
        del env["CADENZA_DATABASE_URL"]
    return subprocess.run(
        [CADENZA, *map(str, words)], env=env, cwd=folder, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=120, check=False,
    )  # fmt: skip


async def ran(*words: object, **where: Any) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(cadenza, *words, **where)


@asynccontextmanager
async def restored_world(world: World, url: str) -> AsyncIterator[World]:
    database = await open_database(url, connections=4)
    try:
        yield World(url, database, world.targets, world.endpoints)
    finally:
        await database.close()


async def test_a_backup_under_load_goes_on_elsewhere_with_no_slot_lost_or_doubled(
    tmp_path: Path,
) -> None:
    file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
    async with new_world() as world, fresh_database_url() as elsewhere:
        probe = await world.add(baseline=Every(INTERVAL), url=world.targets.url("probe", takes=0.2))
        await world.add_copies(probe, ENDPOINTS - 1, apart=INTERVAL / ENDPOINTS)
        with program(tmp_path / "before.log", world.url, **WORKER) as scheduler:
            await scheduler.until_started()
            await world.until_finished(probe, count=3)
            done = await ran("backup", file, url=world.url, folder=tmp_path, **keyed)
            assert done.returncode == 0, done.stderr
            taken_at = await world.now()
            await world.until_finished(probe, count=6)  # nothing waited for it
            refused = await ran("restore", file, "--yes", url=world.url, folder=tmp_path, **keyed)
            assert refused.returncode == 1
            assert "Stop them first" in refused.stderr
        assert stat.S_IMODE(file.stat().st_mode) == 0o600

        restored = await ran("restore", file, "--json", url=elsewhere, folder=tmp_path, **keyed)
        assert restored.returncode == 0, restored.stderr
        assert json.loads(restored.stdout)["backup"]["counts"]["endpoints"] == ENDPOINTS
        async with restored_world(world, elsewhere) as there:
            open_then = await there.value("SELECT count(*) FROM runs WHERE status = 'running'")
            began = await there.now()
            with program(tmp_path / "after.log", elsewhere, **WORKER) as scheduler:
                await scheduler.until_started()
                await until(lambda: all_ran_since(there, began), within=40)
                scheduler.send(signal.SIGTERM)
                assert await scheduler.until_ended() == 0
            runs = await there.runs()
            every_slot_has_one_run_or_is_declared(runs, taken_at)
            assert Counter(run["status"] for run in runs)["running"] == 0
            attempts = sum(run["attempt"] - 1 for run in runs)
            assert attempts == await there.value("SELECT count(*) FROM run_attempts")
            assert attempts <= open_then
            verify = "SELECT count(*) FROM ledger"
            assert await there.value(verify) == await world.value(verify)


async def all_ran_since(world: World, began: Any) -> bool:
    statement = "SELECT count(DISTINCT endpoint_id) FROM runs WHERE slot_at > $1 AND status = $2"
    return await world.value(statement, began, "success") == ENDPOINTS


def every_slot_has_one_run_or_is_declared(runs: list[asyncpg.Record], taken_at: Any) -> None:
    by_endpoint: dict[Any, list[asyncpg.Record]] = {}
    for run in runs:
        by_endpoint.setdefault(run["endpoint_id"], []).append(run)
    assert len(by_endpoint) == ENDPOINTS
    assert len({(run["endpoint_id"], run["slot_at"]) for run in runs}) == len(runs)
    for mine in by_endpoint.values():
        assert mine[0]["slot_at"] < taken_at < mine[-1]["slot_at"]
        for earlier, later in pairwise(mine):
            apart = later["slot_at"] - earlier["slot_at"]
            assert apart >= INTERVAL
            assert apart // INTERVAL - 1 <= earlier["skipped_slots"]


async def test_a_database_that_is_not_empty_is_kept_and_only_replaced_when_asked(
    tmp_path: Path,
) -> None:
    file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
    async with new_world() as world:
        await world.add("first")
        assert (await ran("backup", file, url=world.url, folder=tmp_path, **keyed)).returncode == 0
        await world.add("second")
        await world.database.close()
        where = {"url": world.url, "folder": tmp_path, **keyed}

        refused = await ran("restore", file, **where)
        assert refused.returncode == 1
        assert "not empty" in refused.stderr
        assert "--yes" in refused.stderr
        looked = await ran("restore", file, "--dry-run", **where)
        assert looked.returncode == 0
        assert "would become" in looked.stdout
        assert await names_in(world.url) == {"first", "second"}

        done = await ran("restore", file, "--yes", "--json", **where)
        assert done.returncode == 0, done.stderr
        kept = json.loads(done.stdout)["kept_as"]
        try:
            assert await names_in(world.url) == {"first"}
            assert await names_in(url_with(world.url, kept)) == {"first", "second"}
        finally:
            await drop_database(world.url, kept)
        again = await ran("restore", file, "--yes", "--drop-old", "--json", **where)
        assert json.loads(again.stdout)["kept_as"] is None
        assert await databases_like(world.url, "%\\_before\\_%") == []
        assert await databases_like(world.url, UNFINISHED) == []


async def test_what_is_no_whole_backup_or_of_a_newer_version_changes_nothing(
    tmp_path: Path,
) -> None:
    file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
    async with new_world() as world, fresh_database_url() as elsewhere:
        await world.add("first")
        assert (await ran("backup", file, url=world.url, folder=tmp_path, **keyed)).returncode == 0
        newer = tmp_path / "newer.backup"
        await world.execute(
            "INSERT INTO schema_migrations (number, name, digest) VALUES (9999, 'later', 'x')"
        )
        assert (await ran("backup", newer, url=world.url, folder=tmp_path, **keyed)).returncode == 0
        again = await ran("backup", file, url=world.url, folder=tmp_path, **keyed)
        assert again.returncode == 1
        assert "already exists" in again.stderr
        where = {"url": elsewhere, "folder": tmp_path, **keyed}
        for spoilt, told in (
            (cut(file), "no whole backup"),
            (changed(file), "no whole backup"),
            (newer, "schema is newer"),
            (tmp_path / "nowhere", "cannot be read"),
        ):
            refused = await ran("restore", spoilt, "--yes", **where)
            assert refused.returncode == 1
            assert told in refused.stderr
            assert "Traceback" not in refused.stderr
        connection = await asyncpg.connect(elsewhere)
        assert await connection.fetchval("SELECT to_regclass('endpoints')") is None
        await connection.close()


def cut(file: Path) -> Path:
    other = file.with_name("cut.backup")
    other.write_bytes(file.read_bytes()[:-2000])
    return other


def changed(file: Path) -> Path:
    """One byte in the middle of the dump."""
    other, whole = file.with_name("changed.backup"), bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    other.write_bytes(whole)
    return other


async def test_a_restore_that_is_killed_changes_nothing_and_the_next_one_clears_up(
    tmp_path: Path,
) -> None:
    file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
    async with new_world() as world:
        await world.add("first")
        await world.execute("CREATE TABLE large AS SELECT n FROM generate_series(1, 300000) n")
        assert (await ran("backup", file, url=world.url, folder=tmp_path, **keyed)).returncode == 0
        await world.add("second")
        await world.database.close()
        env = environment(world.url, data_folder=tmp_path, **keyed)
        command = [CADENZA, "restore", str(file), "--yes"]
        restore = await asyncio.create_subprocess_exec(*command, env=env)
        (name,) = await until(lambda: databases_like(world.url, UNFINISHED), within=60)
        restore.kill()
        await restore.wait()
        assert await names_in(world.url) == {"first", "second"}
        await until(lambda: nobody_in(world.url, name), within=30)
        again = await ran(
            "restore", file, "--yes", "--drop-old", url=world.url, folder=tmp_path, **keyed
        )
        assert again.returncode == 0, again.stderr
        assert await names_in(world.url) == {"first"}
        assert await databases_like(world.url, UNFINISHED) == []


async def nobody_in(url: str, database: str) -> bool:
    connection = await asyncpg.connect(url_with(url, "postgres"))
    try:
        statement = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1"
        return await connection.fetchval(statement, database) == 0
    finally:
        await connection.close()


async def test_where_no_database_answers_it_says_so(tmp_path: Path) -> None:
    async with new_world() as world:
        file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
        assert (await ran("backup", file, url=world.url, folder=tmp_path, **keyed)).returncode == 0
        nowhere = url_with(world.url, "no_such_database")
        nobody = f"postgresql://somebody:hunter2@127.0.0.1:{free_port()}/cadenza"
        for url in (nowhere, nobody):
            for words in (("backup", tmp_path / "other"), ("restore", file, "--yes")):
                refused = await ran(*words, url=url, folder=tmp_path, **keyed)
                assert refused.returncode == 1
                assert refused.stderr.startswith("The database at 127.0.0.1")
                assert "Traceback" not in refused.stderr
                assert "hunter2" not in refused.stderr


def test_whatever_is_changed_in_a_file_it_is_refused_in_words(tmp_path: Path) -> None:
    """Or what it says is as it was: nothing else comes out of it."""
    file, chance = tmp_path / "whole.backup", Random(20_261_118)
    about = About(1, "0.1.0", "2026-01-01T00:00:00Z", 16, 16, {1: "digest"}, ["key"], True, {})
    with written(file) as archive:
        with new_dump(archive) as dump:
            dump.write(chance.randbytes(500))
        add_about(archive, about, keys="a master key")
    whole, refused = file.read_bytes(), 0
    for _ in range(2000):
        changed = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        file.write_bytes(changed[: len(changed) - chance.choice((0, 0, 0, 1, 50))])
        try:
            with opened(file) as archive:
                read = about_of(archive, file)
                check_whole(archive, file)
                assert read == about
        except InstallationError:
            refused += 1
    assert refused > 1000


async def test_without_its_master_keys_it_is_refused_and_with_them_secrets_open(
    tmp_path: Path,
) -> None:
    bare, keyed = tmp_path / "bare.backup", tmp_path / "keyed.backup"
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / "master.key").write_text(f"{MASTER_KEY}\n")
    async with new_world() as world, fresh_database_url() as elsewhere:
        await world.add("first")
        await sealed_secret(world)
        for file, options in ((bare, ()), (keyed, ("--with-key",))):
            done = await ran("backup", file, *options, url=world.url, folder=here)
            assert done.returncode == 0, done.stderr
        assert MASTER_KEY not in bare.read_bytes().decode("latin1")

        refused = await ran("restore", bare, url=elsewhere, folder=there)
        assert refused.returncode == 1
        assert "master keys that are not here" in refused.stderr
        done = await ran("restore", keyed, url=elsewhere, folder=there)
        assert done.returncode == 0, done.stderr
        assert stat.S_IMODE((there / "master.key").stat().st_mode) == 0o600
        assert MASTER_KEY in (there / "master.key").read_text()
        held = await ran("secrets", "status", "--json", url=elsewhere, folder=there)
        assert held.returncode == 0, held.stdout + held.stderr


async def sealed_secret(world: World) -> None:
    async with PostgresStore(world.database, BOX).transaction() as tx:
        now = await tx.time()
        await tx.insert_signing_key(
            SigningKey(id_of("key"), id_of("tenant"), new_signing_secret(), now - timedelta(days=1))
        )


async def test_behind_a_pooler_it_asks_for_the_server_itself(tmp_path: Path) -> None:
    file, keyed = tmp_path / "cadenza.backup", {"master_key": MASTER_KEY}
    async with new_world() as world, pgbouncer(world.url) as pooled:
        refused = await ran("backup", file, url=pooled, folder=tmp_path, **keyed)
        assert refused.returncode == 1
        assert "CADENZA_LISTEN_DATABASE_URL" in refused.stderr
        done = await ran(
            "backup", file, url=pooled, folder=tmp_path, listen_database_url=world.url, **keyed
        )
        assert done.returncode == 0, done.stderr


async def names_in(url: str) -> set[str]:
    connection = await asyncpg.connect(url)
    try:
        return {row["name"] for row in await connection.fetch("SELECT name FROM endpoints")}
    finally:
        await connection.close()


async def databases_like(url: str, pattern: str) -> list[str]:
    connection = await asyncpg.connect(url_with(url, "postgres"))
    try:
        statement = "SELECT datname FROM pg_database WHERE datname LIKE $1"
        return [row["datname"] for row in await connection.fetch(statement, pattern)]
    finally:
        await connection.close()


async def drop_database(url: str, name: str) -> None:
    connection = await asyncpg.connect(url_with(url, "postgres"))
    try:
        await connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        await connection.close()
