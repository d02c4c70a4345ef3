"""`cadenza secrets`: the master keys, and the secrets that they encrypt."""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.secrets import Resealed, SealedValues
from cadenza.adapters.secrets.box import AesGcmBox
from cadenza.adapters.secrets.key_file import KeyFile
from cadenza.adapters.secrets.keys import GivenKeys
from cadenza.roots.database import database_url, opened_database
from cadenza.roots.settings import Settings, read_settings

KEY_FILE = "master.key"
SHOWN = 20
AS_JSON = Annotated[bool, typer.Option("--json", help="Print JSON.")]

group = typer.Typer(
    name="secrets", help="The master keys, and the secrets they encrypt.", no_args_is_help=True
)


def master_keys(settings: Settings, warn: Callable[[str], None]) -> GivenKeys | KeyFile:
    """From the setting; where it is not set from a file, which is made at the first start."""
    if settings.master_key is not None:
        return GivenKeys(settings.master_key.get_secret_value())
    return KeyFile(settings.data_folder / KEY_FILE, warn)


def secret_box(settings: Settings, warn: Callable[[str], None]) -> AesGcmBox:
    return AesGcmBox(master_keys(settings, warn))


# --- Rotate ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holdings:
    """The master keys at hand, the first one writing, and how many values need which."""

    ids: Sequence[str]
    counts: dict[str, int]

    @property
    def missing(self) -> dict[str, int]:
        return {key: count for key, count in self.counts.items() if key not in self.ids}

    @property
    def removable(self) -> list[str]:
        return [key for key in self.ids[1:] if not self.counts.get(key)]


@dataclass(frozen=True, slots=True)
class Rotated:
    where: str
    made_key: bool
    holdings: Holdings
    done: Resealed = field(default_factory=Resealed)

    @property
    def complete(self) -> bool:
        return not self.done.held and not self.done.unreadable and not self.holdings.missing


async def rotate_secrets(
    values: SealedValues,
    keys: GivenKeys | KeyFile,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Rotated:
    """Finish what an earlier rotation, or a new first key, left to do; else begin with a new key.

    Keys of a setting are the operator's to make: there the first one is taken as it is.
    """
    async with values.rotating():
        made_key = False
        done = await _reseal(values, keys, on_progress)
        if not done.values and not done.held and isinstance(keys, KeyFile):
            keys.add_key()
            made_key = True
            done = await _reseal(values, keys, on_progress)
        holdings = Holdings(keys.ids, await values.count_by_key())
    return Rotated(keys.where, made_key, holdings, done)


async def _reseal(
    values: SealedValues, keys: GivenKeys | KeyFile, on_progress: Callable[[int, int], None]
) -> Resealed:
    counts = await values.count_by_key()
    total = sum(counts.values()) - counts.get(keys.ids[0], 0)
    return await values.reseal(lambda done: on_progress(done, total))


@group.command()
def rotate(as_json: AS_JSON = False) -> None:
    """Encrypt every secret anew, with a new master key; safe while programs run.

    With a key file, a new key is put first in it. With CADENZA_MASTER_KEY, put the new key first
    yourself, keep the old one after it, and restart the programs before you run this. It can be
    stopped at any time: run it again to go on. Old keys that nothing needs any more are listed.

    Example: cadenza secrets rotate --json
    """
    settings = read_settings()
    keys = master_keys(settings, _say)
    with database_url(settings) as url:
        done = asyncio.run(_rotate(settings, url, keys, quiet=as_json))
    if as_json:
        typer.echo(json.dumps(_record(done)))
    else:
        _tell(done, isinstance(keys, KeyFile))
    if not done.complete:
        raise typer.Exit(1)


async def _rotate(
    settings: Settings, url: str, keys: GivenKeys | KeyFile, *, quiet: bool
) -> Rotated:
    async with opened_database(settings, url) as database:
        await migrate(database)
        values = SealedValues(database, AesGcmBox(keys))
        return await rotate_secrets(values, keys, _silence if quiet else _progress)


def _record(done: Rotated) -> dict[str, Any]:
    return {
        "key_id": done.holdings.ids[0],
        "made_key": done.made_key,
        "encrypted": done.done.values,
        "held": done.done.held,
        "unreadable": [
            {"row_id": str(each.row_id), "column": each.column, "why": each.why}
            for each in done.done.unreadable
        ],
        **_holdings_record(done.holdings),
    }


def _tell(done: Rotated, from_file: bool) -> None:
    first = done.holdings.ids[0]
    if done.made_key:
        typer.echo(f"Made the key {first}, the first one in {done.where} now. Keep a copy of it.")
    elif not done.done.values and not from_file:
        typer.echo(
            f"Every secret is under the first key in {done.where} already. For another one, put a "
            "new key (`openssl rand -base64 32`) and a comma before it."
        )
    elif from_file:
        typer.echo(f"Went on with the key {first}; no new one was made. Run it again for that.")
    typer.echo(f"Encrypted {done.done.values} values with the key {first}.")
    _tell_unreadable(done.done)
    for key in done.holdings.removable:
        typer.echo(
            f"The key {key} is needed by nothing in the database any more. It can be removed from "
            f"{done.where} once no backup is left that was made before."
        )


def _tell_unreadable(done: Resealed) -> None:
    if done.held:
        _say(f"{done.held} rows were in use each time. Run it again.")
    if done.unreadable:
        _say(f"{len(done.unreadable)} values could not be read and stay as they are:")
    for each in done.unreadable[:SHOWN]:
        _say(f"  {each.row_id}: {each.why}")
    if len(done.unreadable) > SHOWN:
        _say(f"  and {len(done.unreadable) - SHOWN} more (--json lists them all)")


# --- Status ---------------------------------------------------------------------------------


@group.command()
def status(as_json: AS_JSON = False) -> None:
    """Show the master keys by their ids, how many values need each, and which are missing.

    Example: cadenza secrets status
    """
    settings = read_settings()
    keys = master_keys(settings, _say)
    with database_url(settings) as url:
        holdings = asyncio.run(_holdings(settings, url, keys))
    if as_json:
        typer.echo(json.dumps(_holdings_record(holdings)))
    else:
        _show(holdings, keys.where)
    if holdings.missing:
        raise typer.Exit(1)


async def _holdings(settings: Settings, url: str, keys: GivenKeys | KeyFile) -> Holdings:
    async with opened_database(settings, url) as database:
        await migrate(database)
        counts = await SealedValues(database, AesGcmBox(keys)).count_by_key()
        return Holdings(keys.ids, counts)


def _holdings_record(holdings: Holdings) -> dict[str, Any]:
    return {
        "keys": [
            {"id": key, "writes": place == 0, "values": holdings.counts.get(key, 0)}
            for place, key in enumerate(holdings.ids)
        ],
        "removable": holdings.removable,
        "missing": holdings.missing,
    }


def _show(holdings: Holdings, where: str) -> None:
    table = Table("key", "values", "")
    for place, key in enumerate(holdings.ids):
        use = "encrypts" if place == 0 else "can be removed" if key in holdings.removable else ""
        table.add_row(key, str(holdings.counts.get(key, 0)), use)
    for key, count in holdings.missing.items():
        table.add_row(key, str(count), "missing")
    Console().print(table)
    if holdings.missing:
        _say(
            f"Secrets under a missing key cannot be used. Put the key into {where}, after the "
            "first one, or enter those secrets again."
        )


# --- Words ----------------------------------------------------------------------------------


def _say(message: str) -> None:
    typer.echo(message, err=True)


def _progress(done: int, total: int) -> None:
    _say(f"{done} of {total} values encrypted …")


def _silence(_done: int, _total: int) -> None:
    pass


def register(app: typer.Typer) -> None:
    app.add_typer(group)
