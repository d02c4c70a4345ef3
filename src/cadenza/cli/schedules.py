"""`cadenza schedules`: graphs that run by the clock, on your behalf and at an account's cost."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit
from cadenza.cli.descriptions import limits_of_run
from cadenza.cli.errors import usage
from cadenza.cli.graph_fields import NONE
from cadenza.cli.lookup import find_account
from cadenza.cli.output import Column, Output
from cadenza.cli.schedule_fields import ScheduleOptions
from cadenza.cli.schedule_lookup import ScheduleName, find_schedule, label
from cadenza.cli.schedule_runs import add_run_commands
from cadenza.cli.terminal_text import json_text, quoted, shortened

Item = dict[str, Any]
NO_SCHEDULES = (
    "No schedules yet. Create one:\n"
    "  cadenza schedules create langgraph:poet --name poem --cron '0 9 * * *' --account NAME"
)
cli = group("schedules", "Manage schedules of AI graphs, and their runs.")


@command(cli, "list")
def list_schedules(api: Api, out: Output, limit: Limit = 50) -> None:
    """List schedules with their next runs.

    Example: cadenza schedules list
    """
    columns = [
        Column("name", label),
        Column("graph", lambda schedule: schedule["graph_id"], rank=2),
        Column("cron", lambda schedule: schedule["cron"]),
        Column("next", lambda schedule: _next(out, schedule)),
        Column(
            "last", lambda schedule: out.times.relative(schedule["last_run_at"], "never"), rank=1
        ),
    ]
    out.rows(api.pages("/schedules", limit), columns, NO_SCHEDULES, limit)


@command(cli, "show")
def show_schedule(api: Api, out: Output, name: ScheduleName) -> None:
    """Show one schedule: its graph, input, limits and next runs.

    Example: cadenza schedules show poem
    """
    schedule = api.get(f"/schedules/{find_schedule(api, name)['id']}")
    times = out.times
    lines = [
        ("schedule", schedule["name"]),
        ("id", schedule["id"]),
        ("graph", schedule["graph_id"]),
        ("input", shortened(json_text(schedule["input"]))),
        ("cron", f"{schedule['cron']} ({schedule['timezone']})"),
        ("state", "enabled" if schedule["enabled"] else "disabled"),
        ("policy", schedule["concurrency_policy"]),
        ("limits", limits_of_run(schedule["limits"])),
        ("requires", ", ".join(schedule["requires"])),
        ("grant", schedule["grant_id"]),
        ("last run", times.when(schedule["last_run_at"], "never")),
        ("next runs", "\n".join(times.when(at) for at in schedule["next_runs"])),
    ]
    out.one(schedule, lines)
    _warn(out, schedule)


@command(cli, "create")
def create_schedule(
    api: Api,
    out: Output,
    graph: Annotated[str, typer.Argument(metavar="GRAPH", help="provider:name.")],
    name: Annotated[str | None, typer.Option(help="A unique name, without a slash.")] = None,
    account: Annotated[
        str | None, typer.Option(help="The account that pays. Default: the only account.")
    ] = None,
    grant: Annotated[str | None, typer.Option(help="A grant's id. Default: create one.")] = None,
    disabled: Annotated[bool, typer.Option("--disabled", help="Create it disabled.")] = False,
    *,
    options: ScheduleOptions,
) -> None:
    """Schedule a graph, with a grant to run on your behalf.

    Example: cadenza schedules create langgraph:poet --name poem --cron "0 9 * * mon-fri"
    --timezone Europe/Paris --input '{"topic": "autumn"}' --account research
    """
    body: Item = {"graph_id": graph, "enabled": not disabled, **options.document()}
    if options.cron is None:
        raise usage("Missing --cron: when to run, such as --cron '0 9 * * mon-fri'.")
    if name is not None:
        body["name"] = name
    if grant is not None:
        body["grant_id"] = grant
    if account is not None:
        body["account_id"] = find_account(api, account)["id"]
    schedule = api.create("/schedules", body)
    following = f"cadenza schedules run {quoted(label(schedule))}"
    runs = f"It runs {_next(out, schedule)}. Run it now: {following}"
    out.done(schedule, f"Created the schedule {label(schedule)}. {runs}")
    _warn(out, schedule)


@command(cli, "update")
def update_schedule(
    api: Api,
    out: Output,
    name: ScheduleName,
    new_name: Annotated[str | None, typer.Option("--name", help="A new name.")] = None,
    *,
    options: ScheduleOptions,
) -> None:
    """Edit a schedule. Only the given fields change; `none` removes a field.

    Example: cadenza schedules update poem --cron "0 18 * * *" --limit-time 5m
    """
    change = options.document()
    if new_name is not None:
        change["name"] = None if new_name == NONE else new_name
    if not change:
        raise usage("Nothing to change. See the options: cadenza schedules update --help")
    schedule = api.patch(f"/schedules/{find_schedule(api, name)['id']}", change)
    out.done(schedule, f"Changed {label(schedule)}; it runs {_next(out, schedule)}.")
    _warn(out, schedule)


@command(cli, "enable")
def enable_schedule(api: Api, out: Output, name: ScheduleName) -> None:
    """Enable a schedule, from its next slot on.

    Example: cadenza schedules enable poem
    """
    schedule = api.patch(f"/schedules/{find_schedule(api, name)['id']}", {"enabled": True})
    out.done(schedule, f"Enabled {label(schedule)}; it runs {_next(out, schedule)}.")
    _warn(out, schedule)


@command(cli, "disable")
def disable_schedule(api: Api, out: Output, name: ScheduleName) -> None:
    """Disable a schedule. A run in progress continues.

    Example: cadenza schedules disable poem
    """
    schedule = api.patch(f"/schedules/{find_schedule(api, name)['id']}", {"enabled": False})
    out.done(schedule, f"Disabled {label(schedule)}.")


@command(cli, "delete")
def delete_schedule(api: Api, out: Output, name: ScheduleName, yes: Yes = False) -> None:
    """Delete a schedule and its own grant. Its history is kept.

    Example: cadenza schedules delete poem
    """
    schedule = find_schedule(api, name)
    ask(
        f"Delete {label(schedule)}? It stops running and its grant is revoked; "
        "its history is kept.",
        yes=yes,
    )
    api.delete(f"/schedules/{schedule['id']}")
    out.done(schedule, f"Deleted {label(schedule)}.")


def _warn(out: Output, schedule: Item) -> None:
    for warning in schedule["warnings"]:
        out.note(f"Warning: {warning}")


def _next(out: Output, schedule: Item) -> str:
    if not schedule["enabled"]:
        return "not: disabled"
    return out.times.relative(schedule["next_run_at"], "never again")


add_run_commands(cli)
