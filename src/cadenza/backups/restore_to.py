"""`cadenza restore --to`: the embedded database as it was at an instant."""

import asyncio
from datetime import datetime
from typing import Any

import typer

from cadenza.adapters.postgres.embedded.archive import BaseBackup, WalArchive
from cadenza.adapters.postgres.embedded.rewinding import check_free, rewind
from cadenza.adapters.postgres.migrate import applied_digests, migrate, unknown_migrations
from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.system.clock import wall_clock
from cadenza.backups.base_backup import embedded_archive
from cadenza.backups.installation import Installation
from cadenza.backups.keys import check_keys
from cadenza.cli.asking import ask
from cadenza.cli.errors import CommandError
from cadenza.cli.terminal_text import json_text
from cadenza.cli.times import Times
from cadenza.domain.errors import InstallationError
from cadenza.domain.instants import iso, stamp


def restore_to(
    installation: Installation,
    text: str,
    *,
    yes: bool,
    dry_run: bool,
    without_keys: bool,
    as_json: bool,
) -> None:
    archive, until = embedded_archive(installation), _instant(text)
    folder = installation.server_folder.absolute()
    base = _base_before(archive, until)
    check_free(folder)
    result: dict[str, Any] = {"to": iso(until), "base": str(base.folder), "dry_run": dry_run}
    if dry_run:
        intent = f"The database would be that of {iso(until)}, from the base backup of"
        typer.echo(json_text(result) if as_json else f"{intent} {iso(base.made_at)}.")
        return
    ask(
        f"Bring the database back to {iso(until)}? The current data is kept in another folder.",
        yes=yes,
    )

    def check(url: str) -> None:
        asyncio.run(_check(installation, url, lost_is_fine=without_keys))

    aside = rewind(folder, archive, base, until, stamp(wall_clock()), check)
    if as_json:
        typer.echo(json_text({**result, "kept_as": None if aside is None else str(aside)}))
        return
    typer.echo(f"The database is that of {iso(until)}.")
    if aside is not None:
        typer.echo(
            f"What was there is kept in {aside}; delete that folder when you no longer need it."
        )
    typer.echo("After starting, make a new base backup: cadenza backup --base")


def _instant(text: str) -> datetime:
    now = wall_clock()
    read = Times(now, datetime.astimezone).ago("--to", text)
    assert read is not None
    until = datetime.fromisoformat(read)
    if until > now:
        raise CommandError(f"{iso(until)} is in the future.")
    return until


def _base_before(archive: WalArchive, until: datetime) -> BaseBackup:
    bases = archive.base_backups()
    if not bases:
        raise CommandError(
            f"There is no base backup in {archive.folder}: make one with `cadenza backup --base`; "
            "from then on there is a way back."
        )
    before = [base for base in bases if base.made_at <= until]
    if not before:
        first = iso(bases[0].made_at)
        raise CommandError(
            f"{iso(until)} is before the first base backup, of {first}, so it cannot be restored."
        )
    return before[-1]


async def _check(installation: Installation, url: str, *, lost_is_fine: bool) -> None:
    """Before it takes the old one's place; and it is brought to this version's schema."""
    async with installation.open_database(url) as database:
        if newer := unknown_migrations(await applied_digests(database)):
            raise InstallationError(
                f"At that instant the database was of a newer Cadenza (migration {max(newer):04} "
                "is not known here): install that version or a later one. Nothing was changed."
            )
        await migrate(database)
        box = AesGcmBox(installation.read_keys(lambda _: None))
        needed = sorted(await SealedValues(database, box).count_by_key())
        check_keys(installation, needed, None, lost_is_fine=lost_is_fine)
