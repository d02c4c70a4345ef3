"""`cadenza backup`: everything that is stored, in one file, while programs run."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from cadenza.adapters.postgres.backup.file import FORMAT, About, add_about, new_dump, written
from cadenza.adapters.postgres.backup.tools import dump, tools_for
from cadenza.adapters.postgres.migrate import applied_digests
from cadenza.adapters.postgres.secrets import SealedValues
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.system.clock import wall_clock
from cadenza.backups.base_backup import make_base_backup
from cadenza.backups.installation import Installation
from cadenza.backups.keys import master_keys_text
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.progress import TableProgress
from cadenza.cli.terminal_text import counted, json_text
from cadenza.domain.errors import InstallationError
from cadenza.domain.instants import iso

COUNTED = ("tenants", "jobs", "endpoints", "runs")


def register(app: typer.Typer, read_installation: Callable[[], Installation]) -> None:
    @app.command()
    def backup(
        file: Annotated[
            Path | None, typer.Argument(help="The file to write. It must not exist yet.")
        ] = None,
        with_key: Annotated[
            bool,
            typer.Option(
                "--with-key", help="Include the master keys. Anyone with the file can read secrets."
            ),
        ] = False,
        base: Annotated[
            bool,
            typer.Option(
                "--base", help="Write a base backup to CADENZA_WAL_ARCHIVE, for `restore --to`."
            ),
        ] = False,
        keep: Annotated[
            int | None, typer.Option(min=1, help="With --base: keep only this many base backups.")
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Back up the database to a file. Safe while programs are running.

        One consistent moment is in it. Secrets stay encrypted: without the master keys (--with-key,
        or a copy of your own) they cannot be opened again.

        Example: cadenza backup cadenza.backup --with-key
        """
        installation = read_installation()
        if (file is None) is not base or (keep is not None and not base) or (base and with_key):
            raise usage("Give a file to write, or --base.")
        if file is None:
            make_base_backup(installation, keep, as_json=as_json)
            return
        if file.exists():
            raise CommandError(f"{file} already exists. Choose another file, or move it.")
        if not file.absolute().parent.is_dir():
            raise CommandError(f"There is no folder {file.absolute().parent}. Create it first.")
        keys_text = master_keys_text(installation) if with_key else None
        with installation.database_url() as url:
            about = asyncio.run(_written(installation, url, file, keys_text, show=not as_json))
        if as_json:
            size = file.stat().st_size
            typer.echo(json_text({"file": str(file), "bytes": size, **asdict(about)}))
        else:
            _print_result(installation, file, about)

    del backup  # registered by its decorator


async def _written(
    installation: Installation, url: str, file: Path, keys: str | None, *, show: bool
) -> About:
    address = await installation.session_url(url)
    about = await _about(installation, address, has_keys=keys is not None)
    tools = tools_for(about.postgres)
    about = replace(about, tools=tools.major)
    try:
        with written(file) as archive:
            with TableProgress("table", show=show) as progress, new_dump(archive) as into:
                await asyncio.to_thread(dump, tools, address, into, progress.heard)
            add_about(archive, about, keys)
    except OSError as error:
        raise InstallationError(
            f"{file} could not be written: {error.strerror or error}. "
            "The incomplete file was removed."
        ) from error
    return about


async def _about(installation: Installation, url: str, *, has_keys: bool) -> About:
    async with installation.open_database(url) as database:
        applied = await applied_digests(database)
        if not applied:
            raise InstallationError("The database is empty: there is nothing to back up.")
        server = int(await database.fetchval("SHOW server_version_num")) // 10000
        box = AesGcmBox(installation.read_keys(lambda _: None))
        key_ids = await SealedValues(database, box).count_by_key()
        counts = {
            table: await database.fetchval(f"SELECT count(*) FROM {table}")  # noqa: S608 - ours
            for table in COUNTED
        }
    return About(
        format=FORMAT,
        cadenza=version("cadenza"),
        made_at=iso(wall_clock()),
        postgres=server,
        tools=server,
        migrations=applied,
        key_ids=sorted(key_ids),
        has_keys=has_keys,
        counts=counts,
    )


def _print_result(installation: Installation, file: Path, about: About) -> None:
    size = file.stat().st_size / 1024**2
    amounts = ", ".join(counted(count, table[:-1]) for table, count in about.counts.items())
    typer.echo(f"{file}: {size:.1f} MB, of {about.made_at:.19}Z: {amounts}.")
    if about.has_keys:
        typer.echo("It contains the master keys: protect it like the secrets themselves.")
    elif about.key_ids:
        typer.echo(
            f"Its secrets need the master keys in {installation.keys_are_in}, which are not in it: "
            "keep a copy."
        )
