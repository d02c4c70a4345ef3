"""The `cadenza` command."""

import sys
from errno import EDQUOT, EFBIG, ENOSPC
from os import devnull
from pathlib import Path
from typing import Annotated

import typer

from cadenza.cli.lazy import LazyGroup
from cadenza.domain.errors import CadenzaError
from cadenza.roots.cli_context import cli_context
from cadenza.roots.commands import COMMANDS

NO_ROOM = (ENOSPC, EDQUOT, EFBIG)


class Cadenza(LazyGroup):
    later = COMMANDS


app = typer.Typer(
    name="cadenza",
    cls=Cadenza,
    help="Run HTTP endpoints, commands and AI graphs on schedules that adapt within your limits.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"obj": cli_context()},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415 - it takes long to load

        typer.echo(f"cadenza {version('cadenza')}")
        raise typer.Exit


@app.callback()
def root(
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Run HTTP endpoints, commands and AI graphs on schedules that adapt within your limits."""


def main() -> None:
    """What goes wrong on purpose is told in one message, never as a stack trace."""
    sys.stdout = sys.stdout or Path(devnull).open("w")  # noqa: SIM115 - it was closed (`>&-`)
    for stream in (sys.stdout, sys.stderr):  # one that cannot draw a character is shown an escape
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
    try:
        app()
    except CadenzaError as error:
        typer.echo(str(error), err=True)
        sys.exit(exit_code(error))
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        typer.echo(
            f"{error.filename or 'The output'} cannot be written: {error.strerror}", err=True
        )
        sys.exit(1)


def exit_code(error: CadenzaError) -> int:
    return getattr(error, "exit_code", 1)


if __name__ == "__main__":
    main()
