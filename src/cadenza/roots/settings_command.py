"""`cadenza settings`: what the programs here would work with, and where each value came from."""

import json
import os
from typing import Annotated, Any

import typer
from pydantic import SecretStr
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cadenza.roots.settings import PREFIX, Settings, read_settings

MASK = "***"


def settings(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show every setting: its value, and where that came from.

    Secrets are masked; a value that is not valid ends it with all that are wrong.

    Example: cadenza settings --json
    """
    rows = _rows(read_settings())
    if as_json:
        typer.echo(json.dumps(rows))
        return
    table = Table("variable", "value", "from", box=None, pad_edge=False, header_style="bold")
    for each in rows:
        value = "" if each["value"] is None else str(each["value"])
        style = "" if each["from"] == "default" else "bold"
        table.add_row(each["variable"], Text(value, overflow="fold"), each["from"], style=style)
    Console(highlight=False).print(table)


def _rows(effective: Settings) -> list[dict[str, Any]]:
    given = {name.upper() for name, value in os.environ.items() if value}
    return [
        {
            "variable": f"{PREFIX}{name.upper()}",
            "value": _shown(getattr(effective, name)),
            "from": "environment" if f"{PREFIX}{name.upper()}" in given else "default",
        }
        for name in Settings.model_fields
    ]


def _shown(value: object) -> object:
    if isinstance(value, SecretStr):
        return MASK
    return value if isinstance(value, bool | int | float) or value is None else str(value)


def register(app: typer.Typer) -> None:
    app.command()(settings)
