"""Before something is lost: a question on a terminal, `--yes` elsewhere, `--dry-run` to look."""

import sys
from typing import Annotated

import typer

from cadenza.cli.errors import CommandError
from cadenza.cli.terminal_text import plain_lines

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation prompt.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop.")]


def ask(question: str, *, yes: bool) -> None:
    """CommandError where the answer is no, or nobody is there to be asked."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(
            f"{plain_lines(question)} This needs confirmation, and there is no terminal to ask on. "
            "Nothing was changed. Use --yes to confirm."
        )
    if not typer.confirm(plain_lines(question), err=True):
        raise CommandError("Nothing was changed.")
