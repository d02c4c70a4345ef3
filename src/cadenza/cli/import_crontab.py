"""`cadenza import crontab`: a crontab as a file for `apply`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from cadenza.cli.apply import write_file
from cadenza.cli.commands import group
from cadenza.cli.complete import Force, OutputFile
from cadenza.cli.context import CliContext
from cadenza.domain.errors import InstallationError, InvalidInput
from cadenza.manifest.checking import Checks
from cadenza.manifest.crontab.convert import Converted, convert, to_file
from cadenza.manifest.text_loading import Unreadable, or_stdin, read_text

cli = group("import", "Bring schedules over from elsewhere.")


@cli.command()
def crontab(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(readable=False, help="A crontab; - reads it from stdin.")],
    output: OutputFile = None,
    system: Annotated[
        bool, typer.Option("--system", help="Lines name a user, as in /etc/crontab.")
    ] = False,
    timezone: Annotated[
        str | None, typer.Option(help="The zone of the machine, like Europe/Paris.")
    ] = None,
    force: Force = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the file and the notes as JSON.")
    ] = False,
) -> None:
    """Turn a crontab into a file for apply; what cannot be taken over is noted on stderr.

    Example: crontab -l | cadenza import crontab - --timezone Europe/Paris -o cadenza.yaml
    """
    context: CliContext = ctx.obj
    checks = context.checks()
    _check_timezone(timezone, checks)
    try:
        text, _ = read_text(or_stdin(file))
    except Unreadable as error:
        raise InstallationError(str(error)) from error
    converted = convert(text, checks, system=system, timezone=timezone)
    _put(converted, output, force=force, as_json=as_json)
    for note in () if as_json else converted.notes:
        typer.echo(str(note), err=True)
    raise typer.Exit(0 if converted.documents else 1)


def _check_timezone(timezone: str | None, checks: Checks) -> None:
    """Here, so that a wrong one is one error and not one for every line."""
    try:
        checks.cron.next_after("@daily", timezone or "UTC", checks.now)
    except InvalidInput as error:
        raise InvalidInput("--timezone", error.value, error.fix) from error


def _put(converted: Converted, output: Path | None, *, force: bool, as_json: bool) -> None:
    text, count = to_file(converted), len(converted.documents)
    if output is not None:
        write_file(output, text, force=force)
    if as_json:
        notes = [{"line": note.line or None, "message": note.text} for note in converted.notes]
        typer.echo(json.dumps({"jobs": count, "notes": notes, "file": text}, ensure_ascii=False))
    elif output is None:
        typer.echo(text, nl=False)
    else:
        jobs = f"{count} jobs" if count != 1 else "1 job"
        typer.echo(f"Wrote {jobs} to {output}. Next: cadenza validate -f {output}")
