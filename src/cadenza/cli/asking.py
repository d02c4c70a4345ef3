"""Before something is lost: a question on a terminal, `--yes` elsewhere, `--dry-run` to look."""

import sys
from typing import Annotated

import typer

from cadenza.cli.errors import CommandError
from cadenza.cli.terminal_text import plain_lines

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")]


def ask(question: str, *, yes: bool) -> None:
    """CommandError where the answer is no, or nobody is there to be asked."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(
            f"Nothing was changed: there is no terminal to ask at. {plain_lines(question)} "
            "Give --yes to do it."
        )
    if not typer.confirm(plain_lines(question), err=True):
        raise CommandError("Nothing was changed.")
