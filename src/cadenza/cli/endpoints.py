"""`cadenza endpoints`: what is called, and when."""

import json
from functools import partial
from typing import Annotated, Any

import typer

from cadenza.application.ports.catalogue import EndpointOrder, EndpointState
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import EndpointName, Limit, OfJob, job_names
from cadenza.cli.context import CliContext
from cadenza.cli.descriptions import (
    baseline,
    endpoint_state,
    guardrails,
    hint,
    limits_of_run,
    next_run,
    source,
    target,
    until,
)
from cadenza.cli.endpoint_fields import EndpointFields
from cadenza.cli.errors import usage
from cadenza.cli.graph_fields import GraphOptions
from cadenza.cli.lookup import find_endpoint, find_job, full_name, job_and_name
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import quoted
from cadenza.cli.times import Times, duration_text

NO_ENDPOINTS = (
    "No endpoints yet. Create one:\n"
    "  cadenza endpoints create shop/queue --url https://example.com/queue --every 5m"
)
cli = group("endpoints", "Manage endpoints: what to call, when, and within which limits.")


@command(cli, "list")
def list_endpoints(
    api: Api,
    out: Output,
    job: OfJob = None,
    search: Annotated[str | None, typer.Option(help="Filter by name.")] = None,
    state: Annotated[EndpointState | None, typer.Option(help="Filter by state.")] = None,
    sort: Annotated[EndpointOrder, typer.Option(help="Sort order.")] = EndpointOrder.CREATED,
    limit: Limit = 50,
) -> None:
    """List endpoints with their next runs.

    Example: cadenza endpoints list --job shop --sort next_run_at
    """
    times = out.times
    columns = [
        Column("endpoint", full_name, is_endpoint=True),
        Column("baseline", baseline, rank=1),
        Column("next run", lambda endpoint: next_run(endpoint, times), is_text=True),
        Column(
            "last run", lambda endpoint: times.relative(endpoint["last_run_at"], "never"), rank=2
        ),
        Column("state", lambda endpoint: endpoint_state(endpoint, times), is_text=True),
        Column("target", target, rank=3, is_text=True),
        Column("id", lambda endpoint: endpoint["id"], rank=4, is_id=True),
    ]
    job_id = find_job(api, job)["id"] if job else None
    query = {"job_id": job_id, "search": search, "state": state, "sort": sort}
    nothing = "No endpoints match." if search or state else NO_ENDPOINTS
    out.rows(api.pages("/endpoints", limit, query), columns, nothing, limit)


@command(cli, "show")
def show_endpoint(api: Api, out: Output, name: EndpointName) -> None:
    """Show one endpoint: its schedule, limits, hints and next runs.

    Example: cadenza endpoints show shop/queue
    """
    endpoint = api.get(f"/endpoints/{find_endpoint(api, name)['id']}")
    analyses = api.get(f"/endpoints/{endpoint['id']}/analyses")["items"]
    times, called = out.times, endpoint["target"]
    pauses = [
        f"by {pause['by']} {until(pause['until'], times)}"
        + (f": {pause['reason']}" if pause["reason"] else "")
        for pause in endpoint["pauses"]
    ]
    lines = [
        ("endpoint", full_name(endpoint)),
        ("id", endpoint["id"]),
        ("state", endpoint_state(endpoint, times)),
        ("target", target(endpoint)),
        ("headers", "\n".join(f"{name}: {value}" for name, value in called["headers"].items())),
        ("secret headers", ", ".join(called["secret_headers"])),
        ("body", called["body"]),
        ("success when", called["success_when"]),
        ("exchange", called["exchange"]),
        ("password", "set (never shown)" if called["has_password"] else None),
        ("waits for", _result(called)),
        ("input", json.dumps(called["input"], ensure_ascii=False) if called["input"] else None),
        ("limits", limits_of_run(called["limits"] or {})),
        ("grant", called["grant_id"]),
        ("account", called["account"]),
        ("timeout", duration_text(called["timeout_ms"])),
        ("baseline", baseline(endpoint)),
        ("guardrails", guardrails(endpoint)),
        ("back-off", _backoff(endpoint)),
        ("hints", "\n".join(hint(item, times) for item in endpoint["hints"])),
        ("paused", "\n".join(pauses)),
        ("last run", times.when(endpoint["last_run_at"], "never")),
        ("next run", next_run(endpoint, times)),
        ("then", _following(out, endpoint)),
        ("planner", "\n".join(_analysis(item, times) for item in analyses)),
    ]
    out.one({**endpoint, "analyses": analyses}, lines)
    _warn(out, endpoint)


def _result(called: dict[str, Any]) -> str | None:
    if not called["await_result"]:
        return None
    where = f", also in {called['reply_to']}" if called["reply_to"] else ""
    return f"its reported result{where}"


def _backoff(endpoint: dict[str, Any]) -> str:
    """What failures do to its interval, and how to change that."""
    if endpoint["baseline"]["every_ms"] is None:
        return ""  # a cron keeps to its times, and on demand there are none
    change = f"cadenza endpoints edit {quoted(full_name(endpoint))} --backoff"
    if endpoint["backoff"] == "none":
        return f"none: failures do not slow it down.\nTo switch it on: {change} doubling"
    failures = endpoint["failure_count"]
    now = f" ({failures} in a row now)" if failures else ""
    doubles = f"each failure in a row doubles the interval{now}, up to 32 times"
    return f"{doubles}.\nTo switch it off: {change} none"


def _analysis(analysis: dict[str, Any], times: Times) -> str:
    looked = f"{analysis['brain']}: last analysis {times.when(analysis['looked_at'], 'never')}"
    trouble, failed = analysis["trouble"], analysis["failed_looks"]
    if failed:
        again = times.when(analysis["next_analysis_at"])
        return f"{looked}; failed {failed} in a row, next try {again}: {trouble}"
    return f"{looked}; sessions are suspended: {trouble}" if trouble else looked


@command(cli, "create")
def create_endpoint(
    api: Api,
    out: Output,
    context: CliContext,
    name: Annotated[
        str,
        typer.Argument(
            metavar="JOB/NAME",
            help="The job and the name of the new endpoint.",
            autocompletion=job_names,
        ),
    ],
    *,
    fields: EndpointFields,
    graph: GraphOptions,
) -> None:
    """Create an endpoint in a job.

    Example: cadenza endpoints create shop/queue --url https://example.com/queue --every 5m

    Example: cadenza endpoints create news/researcher --graph langgraph:researcher --every 5m
    """
    job, own_name = job_and_name(api, name)
    wanted = {"name": own_name, **fields.document(context.environment), **graph.document()}
    created = api.create(f"/jobs/{job['id']}/endpoints", wanted)
    out.done(created, f"Created {full_name(created)}.")
    print_upcoming(out, created)


@command(cli, "edit")
def edit_endpoint(
    api: Api,
    out: Output,
    context: CliContext,
    name: EndpointName,
    new_name: Annotated[str | None, typer.Option("--name", help="A new name.")] = None,
    *,
    fields: EndpointFields,
    graph: GraphOptions,
) -> None:
    """Edit an endpoint. Only the given fields change; `none` removes a field.

    Example: cadenza endpoints edit shop/queue --every 10m --max none
    """
    change = {**fields.document(context.environment), **graph.document()}
    change |= {"name": new_name} if new_name else {}
    if not change:
        raise usage("Nothing to change. See the options: cadenza endpoints edit --help")
    changed = api.patch(f"/endpoints/{find_endpoint(api, name)['id']}", change)
    out.done(changed, f"Changed {full_name(changed)}.")
    if new_name and not out.as_json:
        _print_rules_that_name(api, out, changed)
    print_upcoming(out, changed)


def _print_rules_that_name(api: Api, out: Output, endpoint: dict[str, Any]) -> None:
    from cadenza.domain.rule import siblings_in  # noqa: PLC0415 - few need it

    rules = api.get(f"/jobs/{endpoint['job_id']}")["rules"]
    naming = [
        rule["name"]
        for rule in rules
        if endpoint["name"]
        in (rule.get("endpoint"), rule["then"].get("endpoint"), *siblings_in(rule["when"]))
    ]
    if naming:
        out.done(endpoint, f"Rules updated with the new name: {', '.join(naming)}.")


@command(cli, "health")
def health(api: Api, out: Output, name: EndpointName) -> None:
    """Show success rates over the last hour, 4 hours and day.

    Example: cadenza endpoints health shop/queue
    """
    endpoint = find_endpoint(api, name)
    health = api.get(f"/endpoints/{endpoint['id']}/health")
    lines = [
        ("endpoint", full_name(endpoint)),
        *((f"last {window['hours']} h", _window(window)) for window in health["windows"]),
        ("mean duration", duration_text(health["mean_duration_ms"])),
        ("failures in a row", health["failure_streak"]),
    ]
    out.one(health, lines)


def _window(window: dict[str, Any]) -> str:
    if window["success_rate"] is None:
        return "no runs"
    return f"{window['success_rate']:.1%} of {window['runs']:,} runs succeeded"


@command(cli, "reset-failures")
def reset_failures(api: Api, out: Output, name: EndpointName) -> None:
    """Reset the failure count, and with it the back-off.

    Example: cadenza endpoints reset-failures shop/queue
    """
    reset = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/reset-failures")
    out.done(
        reset, f"Reset the failures of {full_name(reset)}. Next run: {next_run(reset, out.times)}."
    )


def print_upcoming(out: Output, endpoint: dict[str, Any]) -> None:
    """After a change: when it runs next, and where baseline and guardrails fight each other."""
    if not out.as_json:
        upcoming = (
            _following(out, endpoint) or "It runs on demand only. Start a run: cadenza run NAME"
        )
        out.done(endpoint, f"Next runs:\n{upcoming}" if endpoint["next_runs"] else upcoming)
    _warn(out, endpoint)


def _following(out: Output, endpoint: dict[str, Any]) -> str:
    runs, times, zone = endpoint["next_runs"], out.times, endpoint["baseline"]["timezone"]
    when = times.when
    if zone is not None and times.differs(zone, [run["at"] for run in runs]):
        when = partial(times.in_both, zone=zone)
    return "\n".join(f"{when(run['at'])}  {source(run['source'])}" for run in runs)


def _warn(out: Output, endpoint: dict[str, Any]) -> None:
    for warning in endpoint["warnings"]:
        out.note(f"Warning: {warning}")
