"""`cadenza settings`: what the programs here would work with, and where each value came from."""

import json
import os
from typing import Annotated, Any

import typer
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cadenza.adapters.http.addresses import OPEN_NETWORKS
from cadenza.roots.settings import Settings, read_settings, variables_of

cli = typer.Typer()


@cli.command()
def settings(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show every setting, its value and where it comes from.

    Secrets are masked; a value that is not valid ends it with all that are wrong.

    Example: cadenza settings --json
    """
    effective = read_settings()
    rows = [_row(name, getattr(effective, name)) for name in Settings.model_fields]
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("variable", "value", "from", box=None, pad_edge=False, header_style="bold")
    for row in rows:
        value = "" if row["value"] is None else str(row["value"])
        if "with_up" in row:
            value = f"none ({row['with_up']} under `cadenza up`)"
        style = "" if row["from"] == "default" else "bold"
        table.add_row(row["variable"], Text(value, overflow="fold"), row["from"], style=style)
    Console(highlight=False).print(table)


def _row(name: str, value: object) -> dict[str, Any]:
    if isinstance(value, SecretStr):
        value = "***"
    elif value is not None and not isinstance(value, bool | int | float):
        value = str(value)
    variables = variables_of(name)
    in_force = {variable.upper() for variable, value in os.environ.items() if value}
    origin = "default" if in_force.isdisjoint(variables) else "environment"
    row = {"variable": variables[0], "value": value, "from": origin}
    if name == "allowed_networks" and not value:
        return {**row, "with_up": OPEN_NETWORKS}
    return row
