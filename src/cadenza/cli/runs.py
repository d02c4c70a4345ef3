"""`cadenza runs`: what ran, how it ended, and why it ran when it did."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfEndpoint, OfJob, Since
from cadenza.cli.descriptions import asked_by, run_result
from cadenza.cli.lookup import EndpointNames, Myself, find_endpoint, find_job, whole_id
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import shortened, text_of
from cadenza.cli.times import duration_text
from cadenza.domain.plan import Source
from cadenza.domain.run import RunStatus

NO_RUNS = "No runs yet. Start one with `cadenza run ENDPOINT`, or follow with `cadenza tail`."
cli = group("runs", "List runs, and see why each one ran.")


@command(cli, "list")
def list_runs(
    api: Api,
    out: Output,
    endpoint: OfEndpoint = None,
    job: OfJob = None,
    status: Annotated[
        list[RunStatus] | None, typer.Option(help="Filter by status. Repeatable.")
    ] = None,
    source: Annotated[
        list[Source] | None, typer.Option(help="Filter by what triggered the run. Repeatable.")
    ] = None,
    since: Since = None,
    to: Annotated[
        str | None, typer.Option(help="Only before this time, or a duration ago such as 1h.")
    ] = None,
    limit: Limit = 20,
) -> None:
    """List runs, newest first.

    Example: cadenza runs list --endpoint shop/queue --status failure --since 1h
    """
    query = {
        "endpoint_id": find_endpoint(api, endpoint)["id"] if endpoint else None,
        "job_id": find_job(api, job)["id"] if job else None,
        "status": status or None,
        "source": source or None,
        "from": out.times.ago("--since", since),
        "to": out.times.ago("--to", to),
    }
    nothing = "No runs match." if any(query.values()) else NO_RUNS
    columns = run_columns(out, EndpointNames(api), Myself(api))
    out.rows(api.pages("/runs", limit, query), columns, nothing, limit)


@command(cli, "show")
def show_run(
    api: Api,
    out: Output,
    run_id: Annotated[
        str, typer.Argument(metavar="ID", help="A run id, or its first 8 characters.")
    ],
) -> None:
    """Show one run: response, attempts and, with --json, the plan behind it.

    Example: cadenza runs show 01990000-0000-7000-8000-000000000000
    """
    run = api.get(f"/runs/{whole_id(api, 'run', run_id)}")
    name = "" if out.as_json else EndpointNames(api).of(run["endpoint_id"])
    print_run(out, run, name, Myself(api))


def run_columns(out: Output, names: EndpointNames, me: Myself) -> list[Column]:
    return [
        Column("due", lambda run: out.times.relative(run["slot_at"])),
        Column("endpoint", lambda run: names.of(run["endpoint_id"]), is_endpoint=True),
        Column("status", lambda run: run["status"]),
        Column("result", run_result, is_text=True),
        Column("took", lambda run: duration_text(run.get("duration_ms")), rank=2),
        Column("why", lambda run: asked_by(run, me.id_for(run)), rank=1, is_text=True),
        Column("id", lambda run: run["id"], is_id=True),
    ]


def print_run(out: Output, run: dict[str, Any], name: str, me: Myself) -> None:
    times, body = out.times, run["body"]
    lost = [
        f"attempt {attempt['attempt']}, noted {times.when(attempt['noted_at'])}"
        for attempt in run["lost_attempts"]
    ]
    author: dict[str, Any] | None = run.get("asked_by")
    skipped = f"{run['skipped_slots']} ({run['skipped_reason']})" if run["skipped_slots"] else ""
    lines = [
        ("run", run["id"]),
        ("endpoint", name),
        ("status", run["status"]),
        ("result", run_result(run)),
        ("error", run["error_message"]),
        ("due", times.when(run["slot_at"])),
        ("started", times.when(run["started_at"], "not yet")),
        ("took", duration_text(run.get("duration_ms"))),
        ("triggered by", asked_by(run, me.id_for(run))),
        ("reason", author["reason"] if author else ""),
        ("attempt", run["attempt"] if run["attempt"] > 1 else ""),
        ("lost attempts", "\n".join(lost)),
        ("late results", len(run["late_results"]) or ""),
        ("slots skipped", skipped),
        ("body", "" if body is None else shortened(text_of(body))),
    ]
    out.one(run, lines)
