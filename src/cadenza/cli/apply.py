"""`cadenza apply` and `cadenza export`: schedules from files to the server, and back."""

import re
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import FileOption, Force, NamedFile, OutputFile, manifest_file
from cadenza.cli.context import CliContext
from cadenza.cli.difference_view import show_difference, summary
from cadenza.cli.errors import ApiError, CommandError
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import plain

SECONDS = 120.0
MOST_PROBLEMS = 50
_PATH = re.compile(r"jobs\[(\d+)\](?:\.endpoints\[(\d+)\])?|schedules\[(\d+)\]")
cli = typer.Typer()


@command(cli, "apply", is_read_in_logs=True)
def apply(
    api: Api,
    out: Output,
    context: CliContext,
    named: NamedFile = None,
    file: FileOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the changes, and stop.")] = False,
    prune: Annotated[
        bool, typer.Option("--prune", help="Archive or delete what is not in the file.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Skip the confirmation prompt.")] = False,
) -> None:
    """Apply schedule files: show the changes, confirm, apply in one transaction.

    Example: cadenza apply schedules/ --prune
    """
    wanted = _read(out, context, manifest_file(named, file))
    with out.working("Comparing …"):
        planned = _put(api, wanted, dry_run=True, prune=prune)
    if not out.as_json:
        show_difference(planned["changes"])
    for warning in planned["warnings"]:
        out.note(f"Warning: {plain(warning['field'])}: {plain(warning['text'])}")
    if not planned["changes"]:
        out.done(planned, f"Nothing to change: {summary(planned, done=False)}.")
        return
    if dry_run:
        out.done(planned, f"Dry run: {summary(planned, done=False)}. Nothing was changed.")
        return
    _ask(planned, yes=yes)
    with out.working("Applying …"):
        applied = _put(api, wanted, dry_run=False, prune=prune)
    out.done(applied, f"Applied: {summary(applied, done=True)}.")


def _read(out: Output, context: CliContext, file: Path) -> dict[str, Any]:
    # They load pydantic, which the other commands do without.
    from cadenza.manifest.files import read_manifest  # noqa: PLC0415
    from cadenza.manifest.writing import manifest_to_send  # noqa: PLC0415

    manifest = read_manifest(file, context.checks(), context.environment)
    for warning in manifest.warnings[:MOST_PROBLEMS]:
        out.note(f"{warning.location}: warning: {warning.text}")
    if manifest.problems:
        for problem in manifest.problems[:MOST_PROBLEMS]:
            out.note(str(problem))
        more = len(manifest.problems) - MOST_PROBLEMS
        rest = f" ({more} more are not shown)" if more > 0 else ""
        raise CommandError(f"Nothing was changed: the file is not valid{rest}.")
    return manifest_to_send(manifest.jobs, manifest.schedules)


def _put(api: Api, wanted: dict[str, Any], *, dry_run: bool, prune: bool) -> Any:
    query = {"dry_run": dry_run, "prune": prune}
    try:
        return api.put("/manifest", wanted, query, timeout=SECONDS)
    except ApiError as error:
        raise ApiError(error.status, error.problem, _with_names(str(error), wanted)) from error


def _with_names(message: str, wanted: dict[str, Any]) -> str:
    """`jobs[0].endpoints[2].url` is the url of `shop/queue`."""

    def name(path: "re.Match[str]") -> str:
        try:
            if path[3] is not None:
                return wanted["schedules"][int(path[3])]["name"]
            job = wanted["jobs"][int(path[1])]
            endpoint = job["endpoints"][int(path[2])] if path[2] is not None else None
        except (IndexError, KeyError):
            return path[0]
        return job["name"] if endpoint is None else f"{job['name']}/{endpoint['name']}"

    return _PATH.sub(name, message)


def _ask(planned: dict[str, Any], *, yes: bool) -> None:
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise CommandError(
            f"Nothing was changed ({summary(planned, done=False)}): there is no terminal to ask "
            "on. Use --yes to apply, or --dry-run to only show the changes."
        )
    if not typer.confirm("Apply these changes?", err=True):
        raise CommandError("Nothing was changed.")


@command(cli, "export", is_read_in_logs=True)
def export(
    api: Api,
    out: Output,
    output: OutputFile = None,
    force: Force = False,
) -> None:
    """Export jobs, endpoints and schedules as YAML, without secrets.

    Example: cadenza export -o cadenza.yaml
    """
    from cadenza.manifest.yaml_writing import documents_to_yaml  # noqa: PLC0415

    exported = api.get("/manifest")
    jobs, schedules = exported["jobs"], exported.get("schedules", [])
    text = documents_to_yaml(jobs, schedules)
    if output is None:
        typer.echo(text, nl=False)
        return
    write_file(output, text, force=force)
    count = sum(len(job.get("endpoints", ())) for job in jobs)
    record = {"file": str(output), "jobs": len(jobs), "endpoints": count}
    others = f", {len(schedules)} schedules" if schedules else ""
    out.done(
        {**record, "schedules": len(schedules)},
        f"Wrote {len(jobs)} jobs with {count} endpoints{others} to {output}.",
    )


def write_file(output: Path, text: str, *, force: bool) -> None:
    """Over a file that is there only by force."""
    try:
        with output.open("w" if force else "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise CommandError(
            f"{output} already exists. Choose another file, or use --force."
        ) from error
    except OSError as error:
        raise CommandError(f"{output} could not be written: {error.strerror}.") from error
