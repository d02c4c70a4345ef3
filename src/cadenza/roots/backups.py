"""`cadenza backup` and `cadenza restore`, with the installation of the settings."""

from functools import partial

import typer

from cadenza.backups import backup, restore
from cadenza.backups.installation import Installation
from cadenza.roots.program import archive_of, database_url, opened_database
from cadenza.roots.secret_box import KEY_FILE, master_keys
from cadenza.roots.settings import read_settings


def _installation() -> Installation:
    settings = read_settings()
    return Installation(
        is_embedded=settings.database_url is None,
        server_folder=settings.data_folder / "postgres",
        wal_archive=archive_of(settings),
        listen_database_url=settings.listen_database_url,
        database_pooler=settings.database_pooler,
        master_key=settings.master_key,
        key_file=settings.data_folder / KEY_FILE,
        read_keys=partial(master_keys, settings),
        database_url=partial(database_url, settings, beside=True),
        open_database=partial(opened_database, settings),
    )


cli = typer.Typer()
backup.register(cli, _installation)
restore.register(cli, _installation)
