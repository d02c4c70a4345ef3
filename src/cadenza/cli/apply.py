"""`cadenza apply`: a file or a folder of schedules, in one transaction."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.cli.api_errors import ApiError
from cadenza.cli.client import Api
from cadenza.cli.commands import add
from cadenza.cli.context import CliContext
from cadenza.cli.difference_view import show_difference, summary
from cadenza.cli.errors import CommandError
from cadenza.cli.manifest_places import with_names
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import plain

STDIN = Path("/dev/stdin")
SECONDS = 120.0
SHOWN = 50


def apply(
    api: Api,
    out: Output,
    context: CliContext,
    file: Annotated[
        Path,
        typer.Option(
            "--file",
            "-f",
            readable=False,
            help="A file, a folder of *.yaml and *.yml, or - (stdin).",
        ),
    ] = Path("cadenza.yaml"),
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would change.")
    ] = False,
    prune: Annotated[bool, typer.Option("--prune", help="Archive what the file lacks.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Apply a file of schedules: show the difference, ask, change everything in one transaction.

    Example: cadenza apply -f schedules/ --prune
    """
    wanted = _read(out, context, file)
    with out.working("Comparing …"):
        planned = _put(api, wanted, dry_run=True, prune=prune)
    _show(out, planned)
    if not planned["changes"]:
        out.done(planned, f"Nothing to change: {summary(planned, done=False)}.")
        return
    if dry_run:
        out.done(planned, f"A dry run: {summary(planned, done=False)}. Nothing was changed.")
        return
    _ask(planned, yes=yes)
    with out.working("Applying …"):
        applied = _put(api, wanted, dry_run=False, prune=prune)
    out.done(applied, f"Applied: {summary(applied, done=True)}.")


def _read(out: Output, context: CliContext, file: Path) -> dict[str, Any]:
    # They load pydantic, which the other commands do without.
    from cadenza.manifest.files import read_manifest  # noqa: PLC0415
    from cadenza.manifest.sending import to_send  # noqa: PLC0415

    path = STDIN if str(file) == "-" else file
    manifest = read_manifest(path, context.checks(), context.environment)
    for each in manifest.warnings[:SHOWN]:
        out.note(f"{each.place}: warning: {each.text}")
    if manifest.problems:
        for each in manifest.problems[:SHOWN]:
            out.note(str(each))
        more = len(manifest.problems) - SHOWN
        rest = f" ({more} more are not shown)" if more > 0 else ""
        raise CommandError(f"Nothing was changed: the file has problems{rest}.")
    return to_send(manifest.jobs)


def _put(api: Api, wanted: dict[str, Any], *, dry_run: bool, prune: bool) -> Any:
    query = {"dry_run": dry_run, "prune": prune}
    try:
        return api.put("/manifest", wanted, query, timeout=SECONDS)
    except ApiError as error:
        raise with_names(error, wanted) from error


def _show(out: Output, planned: dict[str, Any]) -> None:
    if not out.as_json:
        show_difference(planned["changes"])
    for each in planned["warnings"]:
        out.note(f"Warning: {plain(each['field'])}: {plain(each['text'])}")


def _ask(planned: dict[str, Any], *, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(
            f"Nothing was changed ({summary(planned, done=False)}): there is no terminal to ask "
            "at. Give --yes to apply, or --dry-run to only look."
        )
    if not typer.confirm("Apply these changes?", err=True):
        raise CommandError("Nothing was changed.")


def register(app: typer.Typer) -> None:
    add(app, "apply", apply, is_read_in_logs=True)
