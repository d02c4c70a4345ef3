"""`cadenza secrets`: the master keys, and the secrets that they encrypt."""

import json
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Protocol, TypeVar

import typer
from rich.console import Console
from rich.table import Table

from cadenza.application.ports.sealed_values import Resealed
from cadenza.application.secret_rotation import (
    Holdings,
    Rotated,
    Secrets,
    holdings,
    rotate_secrets,
)
from cadenza.cli.commands import group

MOST_UNREADABLE = 20
T = TypeVar("T")
_warn = partial(typer.echo, err=True)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


class WithSecrets(Protocol):
    """Opens the installation's secrets for as long as they are used."""

    def __call__(
        self, use: Callable[[Secrets], Awaitable[T]], warn: Callable[[str], None]
    ) -> T: ...


def register(app: typer.Typer, with_secrets: WithSecrets) -> None:
    commands = group("secrets", "Show and rotate the master keys that encrypt secrets.")

    @commands.command()
    def rotate(as_json: AsJson = False) -> None:
        """Re-encrypt all secrets with a new master key. Safe while programs are running.

        With a key file, a new key is put first in it. With CADENZA_MASTER_KEY, put the new key
        first yourself, keep the old one after it, and restart the programs before you run this. It
        can be stopped at any time: run it again to go on. Old keys that nothing needs any more are
        listed.

        Example: cadenza secrets rotate --json
        """

        def show_progress(done: int, total: int) -> None:
            if not as_json:
                _warn(f"{done} of {total} values encrypted …")

        rotated = with_secrets(lambda secrets: rotate_secrets(secrets, show_progress), _warn)
        if as_json:
            typer.echo(json.dumps(_rotation_record(rotated)))
        else:
            _show_rotation(rotated)
        if not rotated.complete:
            raise typer.Exit(1)

    @commands.command()
    def status(as_json: AsJson = False) -> None:
        """Show the master keys, how many secrets use each, and which are missing.

        Example: cadenza secrets status
        """
        held = with_secrets(holdings, _warn)
        if as_json:
            typer.echo(json.dumps(_holdings_record(held)))
        else:
            _show_holdings(held)
        if held.missing:
            raise typer.Exit(1)

    del rotate, status  # registered by their decorators
    app.add_typer(commands)


def _rotation_record(rotated: Rotated) -> dict[str, Any]:
    return {
        "key_id": rotated.holdings.ids[0],
        "made_key": rotated.made_key,
        "encrypted": rotated.done.values,
        "held": rotated.done.held,
        "unreadable": [
            {"row_id": str(value.row_id), "column": value.column, "why": value.why}
            for value in rotated.done.unreadable
        ],
        **_holdings_record(rotated.holdings),
    }


def _show_rotation(rotated: Rotated) -> None:
    first, where = rotated.holdings.ids[0], rotated.holdings.where
    if rotated.made_key:
        typer.echo(f"Made the key {first}, the first one in {where} now. Keep a copy of it.")
    elif rotated.makes_keys:
        typer.echo(
            f"Continued with the key {first}; no new key was made. Run it again to make one."
        )
    elif not rotated.done.values:
        typer.echo(
            f"Every secret is under the first key in {where} already. For another one, put a "
            "new key (`openssl rand -base64 32`) and a comma before it."
        )
    typer.echo(f"Encrypted {rotated.done.values} values with the key {first}.")
    _warn_of_unreadable(rotated.done)
    for key in rotated.holdings.removable:
        typer.echo(
            f"The key {key} is no longer used in the database. You can remove it from "
            f"{where} once you no longer need older backups."
        )


def _warn_of_unreadable(done: Resealed) -> None:
    if done.held:
        _warn(f"{done.held} rows were in use each time. Run it again.")
    if done.unreadable:
        _warn(f"{len(done.unreadable)} values could not be read and stay as they are:")
    for value in done.unreadable[:MOST_UNREADABLE]:
        _warn(f"  {value.row_id}: {value.why}")
    if (more := len(done.unreadable) - MOST_UNREADABLE) > 0:
        _warn(f"  and {more} more (--json lists them all)")


def _holdings_record(held: Holdings) -> dict[str, Any]:
    return {
        "keys": [
            {"id": key, "writes": number == 0, "values": held.counts.get(key, 0)}
            for number, key in enumerate(held.ids)
        ],
        "removable": held.removable,
        "missing": held.missing,
    }


def _show_holdings(held: Holdings) -> None:
    table = Table("key", "values", "", box=None, pad_edge=False, header_style="bold")
    for number, key in enumerate(held.ids):
        use = "encrypts" if number == 0 else "can be removed" if key in held.removable else ""
        table.add_row(key, str(held.counts.get(key, 0)), use)
    for key, count in held.missing.items():
        table.add_row(key, str(count), "missing")
    Console().print(table)
    if held.missing:
        _warn(
            f"Secrets under a missing key cannot be used. Put the key into {held.where}, after the "
            "first one, or enter those secrets again."
        )
