"""`cadenza migrate`: bring the database to the schema of this version."""

import asyncio
import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from cadenza.adapters.postgres import migrate as migrations
from cadenza.domain.instants import iso_or_none
from cadenza.roots.program import database_url, opened_database
from cadenza.roots.settings import Settings, read_settings

cli = typer.Typer()


@cli.command()
def migrate(
    status: Annotated[
        bool, typer.Option("--status", help="Show applied migrations, and stop.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Migrate the database schema. Safe while programs are running.

    Example: cadenza migrate --status
    """
    settings = read_settings()
    with database_url(settings, beside=True) as url:
        asyncio.run(_migrate(settings, url, only_show=status, as_json=as_json))


async def _migrate(settings: Settings, url: str, *, only_show: bool, as_json: bool) -> None:
    async with opened_database(settings, url) as database:
        if only_show:
            _show(await migrations.status(database), as_json=as_json)
            return
        new = await migrations.migrate(database)
    names = [f"{migration.number:04} {migration.name}" for migration in new]
    if as_json:
        typer.echo(json.dumps({"applied": names}))
    else:
        typer.echo("\n".join(f"Applied {name}." for name in names) or "Nothing to do.")


def _show(steps: list[migrations.Applied], *, as_json: bool) -> None:
    rows = [
        (f"{step.migration.number:04}", step.migration.name, iso_or_none(step.applied_at))
        for step in steps
    ]
    if as_json:
        keys = ("number", "name", "applied_at")
        typer.echo(json.dumps([dict(zip(keys, row, strict=True)) for row in rows]))
        return
    table = Table("number", "name", "applied", box=None, pad_edge=False, header_style="bold")
    for number, name, applied_at in rows:
        table.add_row(number, name, applied_at or "not yet")
    Console().print(table)
