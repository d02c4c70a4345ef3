"""`cadenza runs`: what ran, how it ended, and why it ran when it did."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfEndpoint, OfJob, Since
from cadenza.cli.descriptions import run_result, source
from cadenza.cli.lookup import EndpointNames, find_endpoint, find_job, whole_id
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import shortened, text_of
from cadenza.cli.times import duration_text
from cadenza.domain.plan import Source
from cadenza.domain.run import RunStatus

NO_RUNS = "No runs yet. Run one now: cadenza run ENDPOINT, or wait: cadenza tail"
cli = group("runs", "Runs: what ran, how it ended, and why it ran then.")


@command(cli, "list")
def list_runs(
    api: Api,
    out: Output,
    endpoint: OfEndpoint = None,
    job: OfJob = None,
    status: Annotated[list[RunStatus] | None, typer.Option(help="Several.")] = None,
    source: Annotated[list[Source] | None, typer.Option(help="Why it ran; several.")] = None,
    since: Since = None,
    to: Annotated[str | None, typer.Option(help="Before an instant, or like 1h ago.")] = None,
    limit: Limit = 20,
) -> None:
    """List runs, the newest first.

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
    nothing = "No run fits." if any(query.values()) else NO_RUNS
    out.rows(api.pages("/runs", limit, query), run_columns(out, EndpointNames(api)), nothing)


@command(cli, "show")
def show_run(
    api: Api,
    out: Output,
    run_id: Annotated[str, typer.Argument(metavar="ID", help="A run's id, or how it begins.")],
) -> None:
    """Show one run: its answer, its attempts, and the plan that led to it (--json).

    Example: cadenza runs show 01990000-0000-7000-8000-000000000000
    """
    run = api.get(f"/runs/{whole_id(api, 'run', run_id)}")
    name = "" if out.as_json else EndpointNames(api).of(run["endpoint_id"])
    print_run(out, run, name)


def run_columns(out: Output, names: EndpointNames) -> list[Column]:
    return [
        Column("due", lambda run: out.times.relative(run["slot_at"])),
        Column("endpoint", lambda run: names.of(run["endpoint_id"])),
        Column("status", lambda run: run["status"]),
        Column("answer", run_result, is_text=True),
        Column("took", lambda run: duration_text(run.get("duration_ms")), rank=2),
        Column("why", lambda run: source(run["source"]), rank=1),
        Column("id", lambda run: run["id"], is_id=True),
    ]


def print_run(out: Output, run: dict[str, Any], name: str) -> None:
    times, body = out.times, run["body"]
    lost = [
        f"attempt {attempt['attempt']}, noted {times.when(attempt['noted_at'])}"
        for attempt in run["lost_attempts"]
    ]
    skipped = f"{run['skipped_slots']} ({run['skipped_reason']})" if run["skipped_slots"] else ""
    lines = [
        ("run", run["id"]),
        ("of", name),
        ("status", run["status"]),
        ("answer", run_result(run)),
        ("error", run["error_message"]),
        ("due", times.when(run["slot_at"])),
        ("started", times.when(run["started_at"], "not yet")),
        ("took", duration_text(run.get("duration_ms"))),
        ("why then", source(run["source"])),
        ("attempt", run["attempt"] if run["attempt"] > 1 else ""),
        ("lost attempts", "\n".join(lost)),
        ("late results", len(run["late_results"]) or ""),
        ("slots skipped", skipped),
        ("body", "" if body is None else shortened(text_of(body))),
    ]
    out.one(run, lines)
