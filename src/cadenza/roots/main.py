"""The `cadenza` command."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from cadenza.domain.errors import CadenzaError
from cadenza.roots import api, files, migrate, scheduler, secrets
from cadenza.roots.demo import command as demo
from cadenza.roots.sim import command as sim
from cadenza.roots.up import command as up

app = typer.Typer(
    name="cadenza",
    help="An adaptive scheduler: a baseline, hints that bend it for a while, and your limits.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for each in (up, demo, sim, scheduler, api, migrate, secrets, files):
    each.register(app)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"cadenza {version('cadenza')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """An adaptive scheduler: a baseline, hints that bend it for a while, and your limits."""


def main() -> None:
    """What goes wrong on purpose is told in one message, never as a stack trace."""
    try:
        app()
    except CadenzaError as error:
        typer.echo(str(error), err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
