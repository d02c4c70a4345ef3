"""`cadenza doctor`: what is wrong with this installation, each with its fix."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Any

import typer

from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.ids import new_id
from cadenza.cli.client import Api
from cadenza.cli.context import Server
from cadenza.cli.errors import CommandError
from cadenza.cli.output import Column, Output
from cadenza.cli.times import Times
from cadenza.doctor.checks import PATIENCE, Check, check_disk, check_keys, check_versions, right
from cadenza.doctor.database import OpenDatabase, check_database
from cadenza.doctor.settings import Settings, check_networks
from cadenza.domain.errors import CadenzaError


@dataclass(frozen=True, slots=True)
class Installation:
    settings: Settings
    check_settings: Callable[[], Iterator[Check]]
    open_database: OpenDatabase
    find_server: Callable[[], Server]


def register(app: typer.Typer, read_installation: Callable[[], Installation]) -> None:
    @app.command()
    def doctor(
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
        wide: Annotated[bool, typer.Option("--wide", help="Show full texts.")] = False,
    ) -> None:
        """Check the installation for problems, and show how to fix each.

        Checks the server, database, clock, disk, networks, workers and settings. Exits 1 if there
        is an error.

        Example: cadenza doctor --json
        """
        checks = list(_checks(read_installation))
        if as_json:
            typer.echo(json.dumps([asdict(check) for check in checks]))
        else:
            _show(checks, wide=wide)
        if any(check.state == "error" for check in checks):
            raise typer.Exit(1)

    del doctor  # registered by its decorator


def _checks(read_installation: Callable[[], Installation]) -> Iterator[Check]:
    try:
        installation = read_installation()
    except CadenzaError as error:
        yield Check("settings", "error", str(error), "correct them; no program can start")
        return
    settings = installation.settings
    server, server_version, keys = _server(installation.find_server())
    yield server
    yield from check_keys(keys, wall_clock())
    yield from check_versions(server_version)
    yield from asyncio.run(check_database(settings, installation.open_database))
    yield check_disk(settings.data_folder)
    yield check_networks(settings)
    yield from installation.check_settings()


def _server(server: Server) -> tuple[Check, str | None, list[dict[str, Any]]]:
    """And the keys that one may see: all of the tenant, or one's own."""
    try:
        api = Api(server, new_id, timeout=PATIENCE)
        me = api.get("/me")
        mine = {"name": "your key", "expires_at": me.get("key_expires_at"), "revoked_at": None}
        keys = api.get("/keys")["items"] if "admin" in me["scopes"] else [mine]
    except CommandError as error:
        return Check("server", "error", str(error), "start one with `cadenza up`"), None, []
    what = f"{server.url}, as {me['user_name']} in {me['tenant_name']}"
    return right("server", what), me.get("server_version"), keys


def _show(checks: list[Check], *, wide: bool) -> None:
    out = Output(Times(wall_clock(), datetime.astimezone), as_json=False, wide=wide)
    columns = [
        Column("", lambda row: row["state"]),
        Column("check", lambda row: row["name"]),
        Column("result", lambda row: row["what"].replace("\n", " "), is_text=True),
    ]
    out.rows([asdict(check) for check in checks], columns, "")
    troubles = [check for check in checks if check.fix]
    for check in troubles:
        typer.echo(f"\n{check.state}: {check.what}\n  fix: {check.fix}")
    if not troubles:
        typer.echo("\nNo problems found.")
