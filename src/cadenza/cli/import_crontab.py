"""`cadenza import crontab`: a crontab as a file for `apply`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from cadenza.domain.errors import InstallationError, InvalidInput
from cadenza.manifest.checking import Checks
from cadenza.manifest.crontab.convert import Converted, convert
from cadenza.manifest.crontab.report import to_file
from cadenza.manifest.text_files import Unreadable, read_text

STDIN = Path("/dev/stdin")


def register(app: typer.Typer, checks: Callable[[], Checks]) -> None:
    group = typer.Typer(
        name="import", help="Bring schedules over from elsewhere.", no_args_is_help=True
    )

    @group.callback()
    def root() -> None:
        """Bring schedules over from elsewhere."""

    @group.command()
    def crontab(
        file: Annotated[
            Path, typer.Argument(readable=False, help="A crontab; - reads it from stdin.")
        ],
        output: Annotated[
            Path | None, typer.Option("--output", "-o", help="Write here instead of to stdout.")
        ] = None,
        system: Annotated[
            bool, typer.Option("--system", help="Lines name a user, as in /etc/crontab.")
        ] = False,
        timezone: Annotated[
            str | None, typer.Option(help="The zone of the machine, like Europe/Paris.")
        ] = None,
        force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
        as_json: Annotated[
            bool, typer.Option("--json", help="Print the file and the notes as JSON.")
        ] = False,
    ) -> None:
        """Turn a crontab into a file for apply; what cannot be taken over is said on stderr.

        Example: crontab -l | cadenza import crontab - --timezone Europe/Paris -o cadenza.yaml
        """
        given = checks()
        converted = convert(_read(file), given, system=system, timezone=_known(timezone, given))
        _put(converted, output, force=force, as_json=as_json)
        for note in () if as_json else converted.notes:
            typer.echo(str(note), err=True)
        raise typer.Exit(0 if converted.documents else 1)

    del root, crontab  # registered by their decorators
    app.add_typer(group)


def _read(file: Path) -> str:
    try:
        return read_text(STDIN if str(file) == "-" else file)[0]
    except Unreadable as error:
        raise InstallationError(str(error)) from error


def _known(timezone: str | None, checks: Checks) -> str | None:
    """Told once, not for every line."""
    try:
        checks.cron.next_after("@daily", timezone or "UTC", checks.now)
    except InvalidInput as error:
        raise InvalidInput("--timezone", error.value, error.fix) from error
    return timezone


def _put(converted: Converted, output: Path | None, *, force: bool, as_json: bool) -> None:
    text, count = to_file(converted), len(converted.documents)
    if output is not None:
        _write(output, text, force=force)
    if as_json:
        notes = [{"line": each.line or None, "message": each.text} for each in converted.notes]
        typer.echo(json.dumps({"jobs": count, "notes": notes, "file": text}, ensure_ascii=False))
    elif output is None:
        typer.echo(text, nl=False)
    else:
        said = f"{count} jobs" if count != 1 else "1 job"
        typer.echo(f"Wrote {said} to {output}. Next: cadenza validate -f {output}")


def _write(output: Path, text: str, *, force: bool) -> None:
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise InstallationError(f"{output} exists: give another --output, or --force") from error
    except OSError as error:
        raise InstallationError(f"{output} cannot be written: {error.strerror}") from error
