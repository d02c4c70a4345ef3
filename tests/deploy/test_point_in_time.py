"""A base backup and the log that followed it: the moment before a mistake comes back."""

import asyncio
import os
import shutil
import subprocess
from contextlib import AsyncExitStack
from datetime import datetime
from pathlib import Path

from cadenza.adapters.postgres.database import open_database
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.embedded.installation import choose_installation
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.domain.endpoint import Every
from tests.adapters.postgres.support import Targets, World, program, until
from tests.chaos.server import small_folder
from tests.factories import seconds
from tests.postgres import BOX, MASTER_KEY, direct

WORKER = {"master_key": MASTER_KEY, "lease_seconds": 3, "tick_seconds": 0.5}
RECOVERY = """
restore_command = 'cp {archive}/%f %p'
recovery_target_time = '{until}'
recovery_target_action = 'promote'
archive_mode = 'off'
"""


async def test_the_moment_before_a_mistake_comes_back_and_goes_on(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        folder, _ = stack.enter_context(small_folder(wanted=False))
        archive, here, there = folder / "archive", folder / "here", folder / "there"
        for path in (archive, there):
            path.mkdir(mode=0o700)
        copy = f"test ! -f {archive}/%f && cp %p {archive}/%f"
        settings = {"fsync": "off", "archive_mode": "on", "archive_command": copy}
        server = EmbeddedPostgres(here, settings=settings)
        url = await asyncio.to_thread(server.start)
        stack.push_async_callback(asyncio.to_thread, server.stop)
        own_as(here / "data", archive, there)
        targets = await stack.enter_async_context(Targets().serving())
        world = await opened(stack, url, targets)
        await migrate(world.database)
        await Maintenance(world.database, seconds(86400 * 30)).run_once()
        probe = await world.add(baseline=Every(seconds(1)))
        with program(tmp_path / "before.log", url, **WORKER) as scheduler:
            await scheduler.until_started()
            await world.until_finished(probe, count=2)
            await world.execute("SELECT pg_reload_conf()")
            await asyncio.to_thread(base_backup, here, there, url)
            await world.until_finished(probe, count=5)
        right_then = await world.now()
        runs_then = await world.value("SELECT count(*) FROM runs")
        await world.execute("UPDATE endpoints SET name = 'a mistake'")
        await world.execute("SELECT pg_switch_wal()")
        await until(lambda: is_archived(world), within=30)
        await asyncio.to_thread(server.stop)

        recover(there, archive, right_then)
        restored = EmbeddedPostgres(there, settings={"fsync": "off"})
        again = await asyncio.to_thread(restored.start)
        stack.push_async_callback(asyncio.to_thread, restored.stop)
        back = await opened(stack, again, targets)
        await until(lambda: back.value("SELECT NOT pg_is_in_recovery()"), within=30)
        assert await back.value("SELECT name FROM endpoints") == "probe"
        assert await back.value("SELECT count(*) FROM runs") == runs_then
        with program(tmp_path / "after.log", again, **WORKER) as scheduler:
            await scheduler.until_started()
            await back.until_finished(probe, count=runs_then + 2, within=30)
        slots = [run["slot_at"] for run in await back.runs()]
        assert len(slots) == len(set(slots))


async def opened(stack: AsyncExitStack, url: str, targets: Targets) -> World:
    database = await open_database(url, connections=4)
    stack.push_async_callback(database.close)
    return World(url, database, targets, direct(database, BOX, seconds(0)))


def own_as(data: Path, *folders: Path) -> None:
    """They belong to whom the server runs as; and a copy may be made of it."""
    owner = data.stat()
    for folder in folders:
        os.chown(folder, owner.st_uid, owner.st_gid)
    with (data / "pg_hba.conf").open("a") as access:
        access.write("host replication all 127.0.0.1/32 scram-sha-256\n")


def base_backup(here: Path, there: Path, url: str) -> None:
    owner = (here / "data").stat()
    shutil.copy2(here / "password", there / "password")
    account = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    pid = (here / "data/postmaster.pid").read_text().split()[0]
    programs = Path(f"/proc/{pid}/exe").readlink().parent
    if not (programs / "pg_basebackup").exists():  # a copy for another user has the server alone
        programs = choose_installation(None, None).binaries
    command = [str(programs / "pg_basebackup"), "-D", str(there / "data"), "-c", "fast", "-d", url]
    subprocess.run(command, check=True, capture_output=True, cwd="/", **account)


def recover(there: Path, archive: Path, until_at: datetime) -> None:
    owner = (there / "data").stat()
    with (there / "data/postgresql.auto.conf").open("a") as settings:
        settings.write(RECOVERY.format(archive=archive, until=until_at.isoformat()))
    signal_file = there / "data/recovery.signal"
    signal_file.touch()
    os.chown(signal_file, owner.st_uid, owner.st_gid)


async def is_archived(world: World) -> bool:
    """The piece of the log that the mistake is in."""
    return await world.value(
        "SELECT last_archived_wal >= pg_walfile_name(pg_current_wal_lsn() - 1)"
        " FROM pg_stat_archiver"
    )
