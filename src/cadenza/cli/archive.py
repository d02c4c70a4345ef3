"""What ends jobs and endpoints: archived, which can be undone, and deleted, which cannot."""

from collections.abc import Callable
from operator import itemgetter
from typing import Any

from cadenza.cli.asking import DryRun, Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import EndpointName, JobName
from cadenza.cli.descriptions import next_run
from cadenza.cli.endpoints import cli as endpoints
from cadenza.cli.endpoints import print_upcoming
from cadenza.cli.errors import CommandError, ExitCode, usage
from cadenza.cli.jobs import cli as jobs
from cadenza.cli.lookup import by_beginning, by_id, find_endpoint, find_job, full_name, unknown
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import plain, quoted

Item = dict[str, Any]
FOR_GOOD = "This cannot be undone."
COUNTED = 100_000


@command(endpoints, "archive")
def archive_endpoint(
    api: Api, out: Output, name: EndpointName, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Archive an endpoint. Its history is kept; `restore` undoes it.

    Example: cadenza endpoints archive shop/queue
    """
    endpoint = find_endpoint(api, name)
    what = f"{full_name(endpoint)} would be archived; its history is kept"
    if dry_run:
        out.done(endpoint, f"Dry run: {what}. Nothing was changed.")
        return
    ask(f"Archive {full_name(endpoint)}? It stops running; its history is kept.", yes=yes)
    archived = api.post(f"/endpoints/{endpoint['id']}/archive")
    undo = f"cadenza endpoints restore {quoted(full_name(archived))}"
    out.done(archived, f"Archived {full_name(archived)}. Undo it: {undo}")


@command(jobs, "archive")
def archive_job(
    api: Api, out: Output, name: JobName, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Archive a job and its endpoints. Their history is kept; `restore` undoes it.

    Example: cadenza jobs archive shop
    """
    job = find_job(api, name)
    endpoints_of_it = _count(job["endpoint_count"], "endpoint")
    if dry_run:
        out.done(
            job,
            f"Dry run: {job['name']} with {endpoints_of_it} would be archived. "
            "Nothing was changed.",
        )
        return
    ask(f"Archive the job {job['name']} with {endpoints_of_it}? They stop running.", yes=yes)
    archived = api.post(f"/jobs/{job['id']}/archive")
    undo = f"cadenza jobs restore {quoted(archived['name'])}"
    out.done(archived, f"Archived the job {archived['name']} and its endpoints. Undo it: {undo}")


@command(endpoints, "restore")
def restore_endpoint(api: Api, out: Output, name: EndpointName) -> None:
    """Restore an archived endpoint.

    Example: cadenza endpoints restore shop/queue
    """
    restored = api.post(f"/endpoints/{_archived_endpoint(api, name)['id']}/restore")
    out.done(
        restored, f"Restored {full_name(restored)}. Next run: {next_run(restored, out.times)}."
    )
    print_upcoming(out, restored)


@command(jobs, "restore")
def restore_job(api: Api, out: Output, name: JobName) -> None:
    """Restore an archived job and the endpoints archived with it.

    Example: cadenza jobs restore shop
    """
    job = api.post(f"/jobs/{_archived_job(api, name)['id']}/restore")
    count = _count(job["endpoint_count"], "endpoint")
    out.done(job, f"Restored the job {job['name']} with {count}.")


@command(endpoints, "delete")
def delete_endpoint(
    api: Api, out: Output, name: EndpointName, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Delete an endpoint permanently, with its history.

    Example: cadenza endpoints delete shop/queue --dry-run
    """
    try:
        endpoint = find_endpoint(api, name)
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND:
            raise
        endpoint = _archived_endpoint(api, name, error)
    _delete(api, out, f"/endpoints/{endpoint['id']}", endpoint, full_name(endpoint), yes, dry_run)


@command(jobs, "delete")
def delete_job(
    api: Api, out: Output, name: JobName, yes: Yes = False, dry_run: DryRun = False
) -> None:
    """Delete a job permanently, with its endpoints and their history.

    Example: cadenza jobs delete shop --dry-run
    """
    try:
        job = find_job(api, name)
    except CommandError as error:
        if error.exit_code is not ExitCode.NOT_FOUND:
            raise
        job = _archived_job(api, name, error)
    _delete(api, out, f"/jobs/{job['id']}", job, f"the job {job['name']}", yes, dry_run)


def _delete(
    api: Api, out: Output, path: str, item: Item, name: str, yes: bool, dry_run: bool
) -> None:
    goes = api.delete(path, {"dry_run": True})
    what = _what_goes(goes, path)
    if dry_run:
        out.done(goes, f"Dry run: {name} would be deleted, {what}. Nothing was changed.")
        return
    ask(f"Delete {name} permanently, {what}? {FOR_GOOD}", yes=yes)
    if item["archived_at"] is None:
        api.post(f"{path}/archive")
    history = 0
    with out.working(f"Deleting {name} …"):
        while True:
            gone = api.delete(path)
            history += gone["history"]
            if gone["done"]:
                break
    total = {**gone, "history": history}
    out.done(total, f"Deleted {name}, with {_count(history, 'run')} and sessions.")


def _what_goes(goes: Item, path: str) -> str:
    most = goes["history"] >= COUNTED
    history = f"with {'more than ' if most else ''}{_count(goes['history'], 'run')} and sessions"
    if path.startswith("/jobs"):
        return f"{_count(goes['endpoints'], 'endpoint')}, {history}"
    return history


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"


# --- By the names that archived ones had ------------------------------------------------------


def _archived_job(api: Api, name: str, or_else: CommandError | None = None) -> Item:
    job = by_id(api, "/jobs", name)
    if job is None:
        named = list(api.pages("/jobs", 20, {"name": name, "archived": True}))
        job = _only("job", name, named, itemgetter("name"))
        job = job or by_beginning(api, "job", "/jobs", name)
    if job is None:
        raise or_else or unknown("archived job", name, (), "cadenza jobs list --archived")
    return job


def _archived_endpoint(api: Api, name: str, or_else: CommandError | None = None) -> Item:
    job, slash, own = name.partition("/")
    endpoint = None if slash else by_id(api, "/endpoints", name)
    if endpoint is None:
        query = {"name": own if slash else name, "state": "archived"}
        rows = list(api.pages("/endpoints", 50, query))
        rows = [row for row in rows if not slash or row["job_name"] == job]
        endpoint = _only("endpoint", name, rows, full_name)
        if endpoint is None and not slash:
            endpoint = by_beginning(api, "endpoint", "/endpoints", name)
    if endpoint is None:
        listed = "cadenza endpoints list --state archived"
        raise or_else or unknown("archived endpoint", name, (), listed)
    return endpoint


def _only(kind: str, name: str, rows: list[Item], label: Callable[[Item], str]) -> Item | None:
    if len(rows) > 1:
        several = ", ".join(f"{plain(label(row))} {row['id']}" for row in rows)
        raise usage(f"Several archived {kind}s are named {plain(name)!r}. Which id? {several}")
    return rows[0] if rows else None
