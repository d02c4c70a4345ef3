"""`cadenza export`: everything that is there, as a file for `apply`."""

from pathlib import Path
from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import add
from cadenza.cli.errors import CommandError
from cadenza.cli.output import Output


def export(
    api: Api,
    out: Output,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here instead of to stdout.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
) -> None:
    """Write all jobs and endpoints as YAML; applying it changes nothing. Secrets are not in it.

    Example: cadenza export -o cadenza.yaml
    """
    from cadenza.manifest.yaml_writing import documents_to_yaml  # noqa: PLC0415

    jobs = api.get("/manifest")["jobs"]
    text = documents_to_yaml(jobs)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_file(output, text, force=force)
    count = sum(len(job.get("endpoints", ())) for job in jobs)
    record = {"file": str(output), "jobs": len(jobs), "endpoints": count}
    out.done(record, f"Wrote {len(jobs)} jobs with {count} endpoints to {output}.")


def write_file(output: Path, text: str, *, force: bool) -> None:
    """Over a file that is there only by force."""
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise CommandError(f"{output} exists: give another --output, or --force.") from error
    except OSError as error:
        raise CommandError(f"{output} cannot be written: {error.strerror}.") from error


def register(app: typer.Typer) -> None:
    add(app, "export", export, is_read_in_logs=True)
