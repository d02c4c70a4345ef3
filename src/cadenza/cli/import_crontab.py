"""`cadenza import crontab`: a crontab as a file for `apply`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from cadenza.cli.apply import write_file
from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import group
from cadenza.cli.complete import Force, OutputFile
from cadenza.cli.context import CliContext
from cadenza.cli.lookup import MOST_LOOKED_AT
from cadenza.domain.definition import check_name
from cadenza.domain.errors import CadenzaError, InstallationError, InvalidInput
from cadenza.manifest.checking import Checks
from cadenza.manifest.crontab.convert import Converted, convert, to_file
from cadenza.manifest.text_loading import Unreadable, or_stdin, read_text

PATIENCE = 2.0  # seconds
cli = group("import", "Import schedules from a crontab.")


@cli.command()
def crontab(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(readable=False, help="A crontab file, or - for stdin.")],
    output: OutputFile = None,
    system: Annotated[
        bool, typer.Option("--system", help="Expect a user column, as in /etc/crontab.")
    ] = False,
    timezone: Annotated[
        str | None, typer.Option(help="The crontab's time zone, such as Europe/Paris.")
    ] = None,
    job: Annotated[
        str | None,
        typer.Option("--job", help="Put all lines into one job of this name, new or existing."),
    ] = None,
    force: Force = False,
    yes: Yes = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the file and the notes as JSON.")
    ] = False,
) -> None:
    """Convert a crontab to a schedule file. Differences are reported on stderr.

    Jobs are named after what their commands do. Where the server has a job of such a name, you are
    asked first: applying the file would add to it.

    Example: crontab -l | cadenza import crontab - --timezone Europe/Paris -o cadenza.yaml
    """
    context: CliContext = ctx.obj
    checks = context.checks()
    _check_timezone(timezone, checks)
    try:
        text, _ = read_text(or_stdin(file))
    except Unreadable as error:
        raise InstallationError(str(error)) from error
    if job is not None:
        check_name("--job", job)
    converted = convert(text, checks, system=system, timezone=timezone, job=job)
    if job is None:
        _ask_about_present(context, [document["name"] for document in converted.documents], yes)
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


def _ask_about_present(context: CliContext, names: list[str], yes: bool) -> None:
    """Nothing is asked where there is no server to be asked about."""
    server = context.find_server(None, None)
    if server.key is None or not names:
        return
    try:
        jobs = Api(server, context.new_id, timeout=PATIENCE).pages("/jobs", MOST_LOOKED_AT)
        present = {job["name"] for job in jobs}.intersection(names)
    except CadenzaError:
        return  # it is not needed for a file
    if present:
        jobs = ", ".join(sorted(present))
        question = (
            f"These jobs already exist: {jobs}. Add to them? Use --job to choose another name."
        )
        ask(question, yes=yes)


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
