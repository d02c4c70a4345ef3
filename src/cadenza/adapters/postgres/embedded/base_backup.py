"""A base backup of the server that runs: what a way back to an instant begins with."""

import asyncio
import re
import shutil
from pathlib import Path

import asyncpg

from cadenza.adapters.postgres.backup.tools import copy_cluster, tools_for
from cadenza.adapters.postgres.embedded.archive import BaseBackup, WalArchive
from cadenza.domain.errors import InstallationError

FIRST_PIECE = re.compile(r"^START WAL LOCATION: \S+ \(file ([0-9A-F]{24})\)", re.MULTILINE)
ARCHIVED_WITHIN = 60.0
STEP = 0.2


async def take_base_backup(archive: WalArchive, name: str, url: str, password: Path) -> BaseBackup:
    folder = archive.bases / name
    connection = await asyncpg.connect(url)
    try:
        await _check_archives(connection, archive)
        folder.mkdir(mode=0o700)
        major = int(await connection.fetchval("SHOW server_version_num")) // 10000
        data, heard = folder / "data", _unheard
        await asyncio.to_thread(copy_cluster, tools_for(major), url, data, heard)
        shutil.copy2(password, folder / "password")
        made_at = await connection.fetchval("SELECT clock_timestamp()")
        await _await_archived(connection)
        base = BaseBackup(folder, made_at, _first_piece(data))
        archive.add(base)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    finally:
        await connection.close()
    return base


async def _check_archives(
    connection: "asyncpg.Connection[asyncpg.Record]", archive: WalArchive
) -> None:
    mode = await connection.fetchval("SHOW archive_mode")
    command = await connection.fetchval("SHOW archive_command")
    if mode != "on" or command != archive.settings["archive_command"]:
        raise InstallationError(
            f"The database that runs does not keep its log in {archive.folder}: start Cadenza "
            "again with CADENZA_WAL_ARCHIVE."
        )


async def _await_archived(connection: "asyncpg.Connection[asyncpg.Record]") -> None:
    """Else nobody would notice an archive that nothing can be written to."""
    piece = await connection.fetchval("SELECT pg_walfile_name(pg_switch_wal() - 1)")
    for _ in range(int(ARCHIVED_WITHIN / STEP)):
        row = await connection.fetchrow("SELECT * FROM pg_stat_archiver")
        if row is not None and (row["last_archived_wal"] or "") >= piece:
            return
        await asyncio.sleep(STEP)
    raise InstallationError(
        "The log does not come into the archive: look at server.log in the data folder, at the "
        "room on that disk, and whether the user of the database may write there."
    )


def _first_piece(data: Path) -> str:
    match = FIRST_PIECE.search((data / "backup_label").read_text())
    if match is None:
        raise InstallationError("pg_basebackup has left no backup_label: no base backup was made.")
    return match[1]


def _unheard(_line: str) -> None: ...
