"""`cadenza jobs`: what belongs together, described in plain words."""

import re
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import JobName, Limit, Until
from cadenza.cli.descriptions import job_state, run_result, source
from cadenza.cli.errors import usage
from cadenza.cli.event_text import done_text
from cadenza.cli.lookup import find_job
from cadenza.cli.output import Column, Output
from cadenza.cli.planner_fields import Planner, planner_lines, planner_of
from cadenza.cli.terminal_text import quoted

Description = Annotated[
    str | None,
    typer.Option("--description", "-d", help="What the job is for; an LLM planner reads it."),
]
NO_JOBS = (
    "No jobs yet. Create one:\n"
    '  cadenza jobs create shop --description "Watch the queue of orders"\n'
    "or apply a file of them: cadenza apply -f cadenza.yaml"
)
_KINDS = {"act": "change"}
_ID = re.compile(r" \([0-9a-f-]{36}\)$")  # behind the name of who did it
cli = group("jobs", "Manage jobs: a description and a set of endpoints.")


@command(cli, "list")
def list_jobs(
    api: Api,
    out: Output,
    search: Annotated[str | None, typer.Option(help="Filter by name or description.")] = None,
    archived: Annotated[
        bool, typer.Option("--archived", help="Show archived jobs instead.")
    ] = False,
    limit: Limit = 50,
) -> None:
    """List jobs.

    Example: cadenza jobs list --search shop
    """
    columns = [
        Column("name", lambda job: job["name"]),
        Column("endpoints", lambda job: job["endpoint_count"], rank=1),
        Column("state", lambda job: job_state(job, out.times)),
        Column("created", lambda job: out.times.relative(job["created_at"]), rank=3),
        Column("description", lambda job: job["description"], rank=2, is_text=True),
    ]
    jobs = api.pages("/jobs", limit, {"search": search, "archived": archived})
    nothing = "No jobs match." if search or archived else NO_JOBS
    out.rows(jobs, columns, nothing, limit)


@command(cli, "show")
def show_job(api: Api, out: Output, name: JobName) -> None:
    """Show one job.

    Example: cadenza jobs show shop
    """
    job, times = find_job(api, name), out.times
    lines = [
        ("job", job["name"]),
        ("id", job["id"]),
        ("description", job["description"]),
        ("state", job_state(job, times)),
        ("endpoints", job["endpoint_count"]),
        ("rules", "\n".join(f"{rule['name']}: when {rule['when']}" for rule in job["rules"])),
        ("planner", planner_lines(job["planner"])),
        ("created", times.when(job["created_at"])),
    ]
    out.one(job, lines)


@command(cli, "create")
def create_job(
    api: Api,
    out: Output,
    name: Annotated[str, typer.Argument(metavar="NAME", help="A unique name, without a slash.")],
    description: Description = None,
    planner: Planner = None,
) -> None:
    """Create a job.

    Example: cadenza jobs create shop --description "Watch the queue of orders"
    """
    fields = {"name": name, "description": description or "", "planner": planner_of(planner)}
    job = api.create("/jobs", fields)
    following = f"cadenza endpoints create {quoted(job['name'] + '/NAME')} --url URL --every 5m"
    out.done(job, f"Created the job {job['name']}. Next: {following}")


@command(cli, "edit")
def edit_job(
    api: Api,
    out: Output,
    name: JobName,
    new_name: Annotated[str | None, typer.Option("--name", help="A new name.")] = None,
    description: Description = None,
    planner: Planner = None,
) -> None:
    """Edit a job's name, description or planner settings.

    Example: cadenza jobs edit shop --planner llm=act --planner relax=true
    """
    wanted = {"name": new_name, "description": description, "planner": planner_of(planner) or None}
    change = {field: value for field, value in wanted.items() if value is not None}
    if not change:
        raise usage("Nothing to change: give --name, --description or --planner.")
    job = api.patch(f"/jobs/{find_job(api, name)['id']}", change)
    out.done(job, f"Changed the job {job['name']}.")


@command(cli, "pause")
def pause_job(
    api: Api,
    out: Output,
    name: JobName,
    until: Until = None,
    reason: Annotated[str, typer.Option(help="A reason to record.")] = "",
) -> None:
    """Pause all endpoints of a job, until a given time or until resumed.

    Example: cadenza jobs pause shop --until 2h --reason "moving house"
    """
    body = {"until": out.times.ahead("--until", until), "reason": reason}
    job = api.post(f"/jobs/{find_job(api, name)['id']}/pause", body)
    out.done(job, f"The job {job['name']} is {job_state(job, out.times)}.")


@command(cli, "resume")
def resume_job(api: Api, out: Output, name: JobName) -> None:
    """Resume a paused job.

    Example: cadenza jobs resume shop
    """
    job = api.post(f"/jobs/{find_job(api, name)['id']}/resume")
    out.done(job, f"The job {job['name']} goes on.")


@command(cli, "timeline")
def timeline(api: Api, out: Output, name: JobName, limit: Limit = 30) -> None:
    """Show a job's runs, changes and planner sessions, newest first.

    Example: cadenza jobs timeline shop --limit 100
    """
    job = find_job(api, name)
    endpoints = api.pages("/endpoints", 1000, {"job_id": job["id"]})
    names = {} if out.as_json else {endpoint["id"]: endpoint["name"] for endpoint in endpoints}
    columns = [
        Column("when", lambda entry: out.times.relative(entry["at"])),
        Column("what", lambda entry: _KINDS.get(entry["kind"], entry["kind"]), rank=1),
        Column("endpoint", lambda entry: _subject(entry, names)),
        Column("details", _summary, is_text=True),
    ]
    entries = api.pages(f"/jobs/{job['id']}/timeline", limit)
    out.rows(
        entries, columns, "Nothing happened yet. List endpoints: cadenza endpoints list", limit
    )


def _subject(entry: dict[str, Any], names: dict[str, str]) -> str:
    if action := entry["act"]:
        return names.get(action["subject"], "the job")
    endpoint_id = str((entry["run"] or entry["session"])["endpoint_id"])
    return names.get(endpoint_id, endpoint_id)


def _summary(entry: dict[str, Any]) -> str:
    if run := entry["run"]:
        return f"{run['status']} {run_result(run)} ({source(run['source'])})"
    if action := entry["act"]:
        return f"{done_text(action['action'])} by {_ID.sub('', action['actor'])}"
    session = entry["session"]
    times = f" ({session['repeats'] + 1} times)" if session["repeats"] else ""
    return f"{session['brain']}: {session['reasoning']}{times}"
