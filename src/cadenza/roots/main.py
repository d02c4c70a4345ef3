"""The `cadenza` command."""

from importlib.metadata import version
from typing import Annotated

import typer

from cadenza.roots.sim.command import sim

app = typer.Typer(
    name="cadenza",
    help="An adaptive scheduler: a baseline, hints that bend it for a while, and your limits.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command()(sim)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cadenza {version('cadenza')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """An adaptive scheduler: a baseline, hints that bend it for a while, and your limits."""


def main() -> None:
    app()
