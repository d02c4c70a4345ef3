"""`cadenza incidents`: what is not as it should be, since when, and who is at it."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfJob
from cadenza.cli.lookup import find_job, whole_id
from cadenza.cli.output import Column, Output
from cadenza.domain.incident import IncidentKind

Item = dict[str, Any]
NO_INCIDENTS = "No incidents."
NONE_OPEN = "No open incidents."
IncidentId = Annotated[
    str, typer.Argument(metavar="INCIDENT", help="An incident id, or its first 8 characters.")
]
cli = group("incidents", "List, acknowledge and resolve incidents.")


@command(cli, "list")
def list_incidents(
    api: Api,
    out: Output,
    everything: Annotated[bool, typer.Option("--all", help="Include resolved incidents.")] = False,
    kind: Annotated[IncidentKind | None, typer.Option(help="Filter by kind.")] = None,
    job: OfJob = None,
    limit: Limit = 50,
) -> None:
    """List open incidents, newest first.

    Example: cadenza incidents list --kind failing
    """
    query = {
        "open": None if everything else "true",
        "kind": kind,
        "job_id": find_job(api, job)["id"] if job else None,
    }
    columns = [
        Column("severity", lambda one: one["severity"], rank=2),
        Column("kind", lambda one: one["kind"]),
        Column("about", lambda one: one["name"], is_endpoint=True),
        Column("since", lambda one: out.times.relative(one["opened_at"])),
        Column("state", _state, rank=1),
        Column("id", lambda one: one["id"], is_id=True),
    ]
    nothing = "No incidents match." if kind or job else NO_INCIDENTS if everything else NONE_OPEN
    out.rows(api.pages("/incidents", limit, query), columns, nothing, limit)


@command(cli, "show")
def show_incident(api: Api, out: Output, incident: IncidentId) -> None:
    """Show one incident.

    Example: cadenza incidents show 01a1ece2-aff1-7cb8-9d11-39087edb9677
    """
    one, times = api.get(f"/incidents/{whole_id(api, 'incident', incident)}"), out.times
    lines = [
        ("about", one["name"]),
        ("id", one["id"]),
        ("kind", one["kind"]),
        ("severity", one["severity"]),
        ("state", _state(one)),
        ("detail", one["detail"]),
        ("opened", times.when(one["opened_at"])),
        ("times", one["times"]),
        ("acknowledged", _by(one, "acknowledged", times.when(one["acknowledged_at"], ""))),
        ("resolved", _by(one, "resolved", times.when(one["resolved_at"], ""))),
        ("job", one["job_id"]),
        ("endpoint", one["endpoint_id"]),
    ]
    out.one(one, lines)


@command(cli, "ack")
def acknowledge_incident(api: Api, out: Output, incident: IncidentId) -> None:
    """Acknowledge an incident: no more notifications unless it gets worse or ends.

    Example: cadenza incidents ack 01a1ece2
    """
    one = api.post(f"/incidents/{whole_id(api, 'incident', incident)}/acknowledge")
    out.done(one, f"{one['name']}: {_state(one)}.")


@command(cli, "resolve")
def resolve_incident(api: Api, out: Output, incident: IncidentId) -> None:
    """Close an incident manually. It reopens if the problem occurs again.

    Example: cadenza incidents resolve 01a1ece2
    """
    one = api.post(f"/incidents/{whole_id(api, 'incident', incident)}/resolve")
    out.done(one, f"{one['name']}: {_state(one)}.")


def _state(one: Item) -> str:
    if one["resolved_at"] is not None:
        return "resolved" if one["resolved_by"] == "state" else f"resolved by {one['resolved_by']}"
    return "open" if one["acknowledged_by"] is None else f"acknowledged by {one['acknowledged_by']}"


def _by(one: Item, what: str, when: str) -> str:
    return f"{when} by {one[f'{what}_by']}" if one[f"{what}_at"] else ""
