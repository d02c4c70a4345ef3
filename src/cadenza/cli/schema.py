"""`cadenza schema`: the shape of a file, for editors."""

import json

import typer

from cadenza.manifest.models import manifest_schema


def schema() -> None:
    """Print the JSON schema of cadenza.yaml; with it an editor completes and checks as you type.

    Example: cadenza schema > cadenza.schema.json
    """
    typer.echo(json.dumps(manifest_schema(), indent=2, ensure_ascii=False))


def register(app: typer.Typer) -> None:
    app.command()(schema)
