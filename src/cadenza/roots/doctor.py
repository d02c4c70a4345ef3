"""`cadenza doctor`: what is wrong with this installation, each with its fix."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

import typer

from cadenza.adapters.postgres.database import shown_url
from cadenza.adapters.postgres.embedded.running import running_url
from cadenza.adapters.postgres.migrate import status
from cadenza.adapters.postgres.queries import query
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.ids import new_id
from cadenza.cli.client import Api
from cadenza.cli.errors import CommandError
from cadenza.cli.output import Column, Output
from cadenza.cli.times import Times
from cadenza.domain.errors import CadenzaError
from cadenza.roots.cli_context import find_server
from cadenza.roots.doctor_checks import (
    Check,
    check_disk,
    check_networks,
    check_settings,
    check_versions,
    right,
)
from cadenza.roots.program import opened_database
from cadenza.roots.settings import Settings, read_settings

PATIENCE = 5.0
MOST_DRIFT = 2.0  # seconds between two clocks
NEEDED = ("scheduler", "planner")
START = "start everything with `cadenza up`, or a worker with `cadenza scheduler`"
cli = typer.Typer()


@cli.command()
def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    wide: Annotated[bool, typer.Option("--wide", help="With nothing cut.")] = False,
) -> None:
    """Look for what is wrong: server, database, clock, disk, networks, workers, settings.

    Each is shown with its fix. Ends with 1 where something is wrong.

    Example: cadenza doctor --json
    """
    checks = list(_checks())
    if as_json:
        typer.echo(json.dumps([asdict(check) for check in checks]))
    else:
        _show(checks, wide=wide)
    if any(check.state == "wrong" for check in checks):
        raise typer.Exit(1)


def _checks() -> Iterator[Check]:
    try:
        settings = read_settings()
    except CadenzaError as error:
        yield Check("settings", "wrong", str(error), "mend them; nothing starts like this")
        return
    server, server_version = _server()
    yield server
    yield from check_versions(server_version)
    yield from asyncio.run(_database(settings))
    yield check_disk(settings.data_folder)
    yield check_networks(settings)
    yield from check_settings(settings)


def _server() -> tuple[Check, str | None]:
    server = find_server(None, None)
    try:
        api = Api(server, new_id, timeout=PATIENCE)
        me, document = api.get("/me"), api.get("/openapi.json")
    except CommandError as error:
        return Check("server", "wrong", str(error), "cadenza up starts one here"), None
    what = f"{server.url} answers; the key is that of {me['user_name']} ({me['tenant_name']})"
    return right("server", what), str(document["info"]["version"])


async def _database(settings: Settings) -> list[Check]:
    url = settings.database_url
    found = url.get_secret_value() if url else running_url(settings.data_folder / "postgres")
    if found is None:
        what = f"none runs in {settings.data_folder}"
        fix = "cadenza up starts it, or set CADENZA_DATABASE_URL"
        return [Check("database", "wrong", what, fix)]
    try:
        async with asyncio.timeout(PATIENCE), opened_database(settings, found) as database:
            server_version = await database.fetchval("SHOW server_version")
            missing = [step for step in await status(database) if step.applied_at is None]
            drift = (wall_clock() - await _time_of(database)).total_seconds()
            alive = await PostgresWorkers(database).alive()
    except (CadenzaError, TimeoutError) as error:
        what = str(error) or f"{shown_url(found)} does not answer within {PATIENCE:g} s"
        return [Check("database", "wrong", what, "start it, or mend CADENZA_DATABASE_URL")]
    return [
        _schema(f"PostgreSQL {server_version} at {shown_url(found)}", len(missing)),
        _clock(drift),
        *_workers(alive),
    ]


async def _time_of(database: Any) -> datetime:
    return await database.fetchval(query("database_time"))


def _schema(what: str, missing: int) -> Check:
    if missing:
        text = f"{what}: {missing} migrations are missing"
        return Check("database", "wrong", text, "run `cadenza migrate`")
    return right("database", f"{what}, its schema is that of this version")


def _clock(drift: float) -> Check:
    what = f"this machine and the database differ by {abs(drift):.1f} s"
    if abs(drift) <= MOST_DRIFT:
        return right("clock", what)
    fix = "set both by NTP; slots go by the clock of the database"
    return Check("clock", "odd", what, fix)


def _workers(alive: Mapping[str, int]) -> Iterator[Check]:
    for kind in NEEDED:
        if not alive.get(kind):
            state = "wrong" if kind == "scheduler" else "odd"
            yield Check("workers", state, f"no {kind} has been seen of late", START)
    if alive:
        counted = ", ".join(f"{count} {kind}" for kind, count in sorted(alive.items()))
        yield right("workers", counted)


def _show(checks: list[Check], *, wide: bool) -> None:
    out = Output(Times(wall_clock(), datetime.astimezone), as_json=False, wide=wide)
    columns = [
        Column("", lambda row: row["state"]),
        Column("what", lambda row: row["name"]),
        Column("is", lambda row: row["what"].replace("\n", " "), is_text=True),
    ]
    out.rows([asdict(check) for check in checks], columns, "")
    troubles = [check for check in checks if check.fix]
    for check in troubles:
        typer.echo(f"\n{check.state}: {check.what}\n  fix: {check.fix}")
    if not troubles:
        typer.echo("\nNothing is wrong.")
