"""The master keys: those that a backup takes along, and those that a restored database needs."""

from collections.abc import Sequence
from functools import partial

import typer

from cadenza.adapters.postgres.backup.file import KEYS
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.adapters.secrets.keys import ConfiguredKeys
from cadenza.backups.installation import Installation
from cadenza.domain.errors import InstallationError

IN_BACKUP = f"{KEYS} of the backup"


def master_keys_text(installation: Installation) -> str:
    if installation.master_key is not None:
        return installation.master_key.get_secret_value()
    installation.read_keys(lambda _: None)  # made where there is none, checked where there is
    return installation.key_file.read_text()


def check_keys(
    installation: Installation, needed: Sequence[str], brought: str | None, *, lost_is_fine: bool
) -> None:
    """Before anything is changed: a database whose secrets never open again helps nobody."""
    here = set(_ids_here(installation))
    coming = ConfiguredKeys(brought, IN_BACKUP).ids if brought else ()
    missing = sorted(set(needed) - here - set(coming))
    if missing and not lost_is_fine:
        raise InstallationError(
            f"The secrets of the backup need master keys that are not here (id {missing[0]}…). "
            f"Put them into {installation.keys_are_in}, or give --without-keys: then the secrets "
            "in it cannot be opened, and have to be set again."
        )
    if installation.master_key is not None and set(needed) - here - set(missing):
        raise InstallationError(
            "The backup brings master keys that CADENZA_MASTER_KEY does not have: put them there, "
            "after its first; a setting is not ours to change."
        )


def bring_keys(installation: Installation, needed: Sequence[str], brought: str | None) -> None:
    """Those that are needed and not here, after the ones that are."""
    if brought is None or installation.master_key is not None:
        return
    if set(needed) - set(_ids_here(installation)):
        warn = partial(typer.echo, err=True)
        KeyFile(installation.key_file, warn).take(brought)


def _ids_here(installation: Installation) -> Sequence[str]:
    if installation.master_key is None and not installation.key_file.exists():
        return ()
    return installation.read_keys(partial(typer.echo, err=True)).ids
