"""`cadenza backup --base`: what a way back to an instant begins with, in the archive of the log."""

import asyncio
from typing import Any

import typer

from cadenza.adapters.postgres.embedded.archive import WalArchive
from cadenza.adapters.postgres.embedded.base_backup import take_base_backup
from cadenza.adapters.system.clock import wall_clock
from cadenza.backups.installation import Installation
from cadenza.cli.errors import CommandError
from cadenza.cli.terminal_text import json_text
from cadenza.domain.instants import iso, stamp


def embedded_archive(installation: Installation) -> WalArchive:
    if not installation.is_embedded:
        raise CommandError(
            "This is for the embedded database. Yours is in CADENZA_DATABASE_URL: keep its log "
            "with its own tools (docs/how-to/back-up.md)."
        )
    if installation.wal_archive is None:
        raise CommandError(
            "CADENZA_WAL_ARCHIVE is not set: the embedded database keeps no log to go back by. "
            "Name a folder there, and start Cadenza again."
        )
    return installation.wal_archive


def make_base_backup(installation: Installation, keep: int | None, *, as_json: bool) -> None:
    archive = embedded_archive(installation)
    with installation.database_url() as url:
        password = installation.server_folder / "password"
        name = stamp(wall_clock())
        base = asyncio.run(take_base_backup(archive, name, url, password))
    gone = archive.keep(keep) if keep is not None else 0
    made_at = iso(base.made_at)
    if as_json:
        about: dict[str, Any] = {"folder": str(base.folder), "made_at": made_at, "removed": gone}
        typer.echo(json_text(about))
        return
    typer.echo(f"{base.folder}: from {made_at} on the database can be brought back to any instant.")
    if gone:
        typer.echo(f"{gone} older ones are removed, with the log that only they needed.")
