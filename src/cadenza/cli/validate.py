"""`cadenza validate` and `cadenza schema`: what a file may hold, checked without a server."""

import json
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from cadenza.cli.complete import FileOption, NamedFile, manifest_file
from cadenza.cli.context import CliContext
from cadenza.manifest.files import Manifest, read_manifest
from cadenza.manifest.models import manifest_schema
from cadenza.manifest.problems import Problem

MOST_SHOWN = 200
cli = typer.Typer()


@cli.command()
def schema() -> None:
    """Print the JSON schema of cadenza.yaml, for completion in editors.

    Example: cadenza schema > cadenza.schema.json
    """
    typer.echo(json.dumps(manifest_schema(), indent=2, ensure_ascii=False))


@cli.command()
def validate(
    ctx: typer.Context,
    named: NamedFile = None,
    file: FileOption = None,
    secrets: Annotated[
        bool,
        typer.Option("--secrets", help="Also check that every ${NAME} used in a secret is set."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Check schedule files, without a server. Exits 1 if any is invalid.

    Example: cadenza validate schedules/
    """
    context: CliContext = ctx.obj
    environment = context.environment if secrets else None
    manifest = read_manifest(manifest_file(named, file), context.checks(), environment)
    if as_json:
        typer.echo(json.dumps(_record(manifest), ensure_ascii=False))
    else:
        _show(manifest)
    raise typer.Exit(1 if manifest.problems else 0)


def _record(manifest: Manifest) -> dict[str, Any]:
    return {
        "ok": not manifest.problems,
        "files": manifest.files,
        "jobs": len(manifest.jobs),
        "endpoints": sum(len(job.endpoints) for job in manifest.jobs),
        "schedules": len(manifest.schedules),
        "problems": [_problem_record(problem) for problem in manifest.problems],
        "warnings": [_problem_record(warning) for warning in manifest.warnings],
    }


def _problem_record(problem: Problem) -> dict[str, Any]:
    location = problem.location
    return {
        "file": location.file,
        "line": location.line or None,
        "column": location.column or None,
        "field": problem.field or None,
        "message": problem.text,
    }


def _show(manifest: Manifest) -> None:
    for warning in manifest.warnings[:MOST_SHOWN]:
        typer.echo(f"{warning.location}: warning: {warning.text}", err=True)
    for problem in manifest.problems[:MOST_SHOWN]:
        typer.echo(str(problem), err=True)
    if (more := len(manifest.problems) - MOST_SHOWN) > 0:
        typer.echo(f"and {more} more (--json lists them all)", err=True)
    if count := len(manifest.problems):
        typer.echo(f"{_counted(count, 'problem')}; nothing would be applied.", err=True)
        return
    if sys.stdout.isatty():
        table = Table("job", "endpoints", box=None, pad_edge=False, header_style="bold")
        for job in manifest.jobs[:MOST_SHOWN]:
            table.add_row(job.name, ", ".join(endpoint.name for endpoint in job.endpoints))
        Console().print(table)
    jobs, endpoints = len(manifest.jobs), sum(len(job.endpoints) for job in manifest.jobs)
    schedules = len(manifest.schedules)
    others = f", {_counted(schedules, 'schedule')}" if schedules else ""
    typer.echo(f"Valid: {_counted(jobs, 'job')}, {_counted(endpoints, 'endpoint')}{others}.")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
