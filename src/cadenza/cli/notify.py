"""`cadenza notify`: channels that messages go to, routes that say which, and a test of one."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import OfJob
from cadenza.cli.deliveries import wait_for
from cadenza.cli.errors import usage
from cadenza.cli.lookup import find_job, one_of, whole_id
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import plain
from cadenza.cli.times import duration_text
from cadenza.domain.incident import IncidentKind, Severity

Item = dict[str, Any]
ChannelName = Annotated[str, typer.Argument(metavar="CHANNEL", help="A channel's name or id.")]
RouteId = Annotated[
    str, typer.Argument(metavar="ROUTE", help="A route id, or its first 8 characters.")
]
cli = group("notify", "Manage notification channels and routes.")
channels = group("channels", "Manage channels: where notifications go, such as Slack or email.")
routes = group("routes", "Manage routes: which incidents are sent to a channel, and when.")
cli.add_typer(channels)
cli.add_typer(routes)


@command(channels, "list")
def list_channels(api: Api, out: Output) -> None:
    """List channels and their state.

    Example: cadenza notify channels list
    """
    columns = [
        Column("name", lambda one: one["name"]),
        Column("service", lambda one: one["service"], rank=1),
        Column("url", lambda one: one["url"], rank=2),
        Column("state", _state, is_text=True),
        Column("last sent", lambda one: out.times.relative(one["last_sent_at"], "never"), rank=3),
        Column("id", lambda one: one["id"], is_id=True),
    ]
    nothing = "No channels yet. Create one: cadenza notify channels create NAME URL"
    out.rows(api.get("/notifications/channels")["items"], columns, nothing)


@command(channels, "create")
def create_channel(
    api: Api,
    out: Output,
    name: Annotated[str, typer.Argument(help="A name of your choice.")],
    url: Annotated[
        str | None,
        typer.Argument(help="An Apprise URL, such as slack://… or mailtos://…. Default: prompt."),
    ] = None,
) -> None:
    """Create a channel. Its URL is stored encrypted and never shown in full.

    Example: cadenza notify channels create ops 'slack://TokenA/TokenB/TokenC/#alerts'
    """
    url = url or typer.prompt("URL", hide_input=True)
    made = api.create("/notifications/channels", {"name": name, "url": url})
    out.done(
        made,
        f"Created {plain(name)} ({made['service']}). Next: cadenza notify test '{plain(name)}'",
    )


@command(channels, "edit")
def edit_channel(
    api: Api,
    out: Output,
    channel: ChannelName,
    name: Annotated[str | None, typer.Option(help="A new name.")] = None,
    url: Annotated[str | None, typer.Option(help="A new URL; - prompts for it.")] = None,
) -> None:
    """Edit a channel's name or URL. Its routes are kept.

    Example: cadenza notify channels edit ops --url 'slack://TokenD/TokenE/TokenF/#alerts'
    """
    url = typer.prompt("URL", hide_input=True) if url == "-" else url
    change = {field: value for field, value in (("name", name), ("url", url)) if value is not None}
    if not change:
        raise usage("Nothing to change: give --name or --url.")
    changed = api.patch(f"/notifications/channels/{_find(api, channel)['id']}", change)
    out.done(changed, f"Changed the channel {changed['name']}.")


@command(channels, "enable")
def enable_channel(api: Api, out: Output, channel: ChannelName) -> None:
    """Enable a channel.

    Example: cadenza notify channels enable ops
    """
    out.done(_set(api, channel, enabled=True), f"{channel} is enabled.")


@command(channels, "disable")
def disable_channel(api: Api, out: Output, channel: ChannelName) -> None:
    """Disable a channel: nothing is sent until it is enabled.

    Example: cadenza notify channels disable ops
    """
    out.done(_set(api, channel, enabled=False), f"{channel} is disabled.")


@command(channels, "delete")
def delete_channel(api: Api, out: Output, channel: ChannelName, yes: Yes = False) -> None:
    """Delete a channel and its routes.

    Example: cadenza notify channels delete ops
    """
    one = _find(api, channel)
    ask(f"Delete the channel {one['name']} and its routes?", yes=yes)
    out.done(api.delete(f"/notifications/channels/{one['id']}"), f"Deleted {one['name']}.")


@command(cli, "test")
def test_channel(api: Api, out: Output, channel: ChannelName) -> None:
    """Send a test message to a channel. Exits 1 if it cannot be delivered.

    Example: cadenza notify test ops
    """
    one = _find(api, channel)
    delivery = api.post(f"/notifications/channels/{one['id']}/test")
    wait_for(api, out, delivery, one["name"])


@command(routes, "list")
def list_routes(api: Api, out: Output) -> None:
    """List routes, oldest first.

    Example: cadenza notify routes list
    """
    names = {one["id"]: one["name"] for one in api.get("/notifications/channels")["items"]}
    columns = [
        Column("channel", lambda one: names.get(one["channel_id"], "")),
        Column("kinds", lambda one: ", ".join(one["kinds"]) or "all", is_text=True),
        Column("from", lambda one: one["min_severity"]),
        Column("quiet", _quiet, rank=1),
        Column("cooldown", lambda one: duration_text(one["cooldown_ms"]), rank=2),
        Column("id", lambda one: one["id"], is_id=True),
    ]
    nothing = (
        "No routes yet: no notifications are sent. Create one: cadenza notify routes create CHANNEL"
    )
    out.rows(api.get("/notifications/routes")["items"], columns, nothing)


@command(routes, "create")
def create_route(
    api: Api,
    out: Output,
    channel: ChannelName,
    kind: Annotated[
        list[IncidentKind] | None, typer.Option(help="Filter by kind. Repeatable.")
    ] = None,
    severity: Annotated[
        Severity, typer.Option(help="The lowest severity to notify.")
    ] = Severity.WARNING,
    job: OfJob = None,
    quiet: Annotated[str | None, typer.Option(help="Quiet hours, such as 22:00-07:00.")] = None,
    timezone: Annotated[str, typer.Option(help="The time zone of the quiet hours.")] = "UTC",
    critical_passes: Annotated[
        bool,
        typer.Option("--critical-passes", help="Send critical notifications in quiet hours too."),
    ] = False,
    together: Annotated[
        str, typer.Option("--group", help="How long to wait in order to group notifications.")
    ] = "15s",
    cooldown: Annotated[
        str, typer.Option(help="The shortest time between repeats of a notification.")
    ] = "1h",
    recovery: Annotated[bool, typer.Option(help="Also notify of recoveries.")] = True,
) -> None:
    """Send notifications of incidents to a channel.

    Example: cadenza notify routes create ops --severity error --quiet 22:00-07:00
    """
    begins, _, ends = (quiet or "").partition("-")
    body: Item = {
        "channel_id": _find(api, channel)["id"],
        "kinds": kind or [],
        "min_severity": severity,
        "job_id": find_job(api, job)["id"] if job else None,
        "quiet": {"from": begins, "to": ends, "timezone": timezone} if quiet else None,
        "critical_passes": critical_passes,
        "group": together,
        "cooldown": cooldown,
        "tells_recovery": recovery,
    }
    made = api.create("/notifications/routes", body)
    out.done(
        made, f"Created. {plain(channel)} is notified of incidents from {made['min_severity']} on."
    )


@command(routes, "delete")
def delete_route(api: Api, out: Output, route: RouteId, yes: Yes = False) -> None:
    """Delete a route.

    Example: cadenza notify routes delete 01a1ece2
    """
    route_id = whole_id(api, "route", route)
    ask(f"Delete the route {route_id}?", yes=yes)
    out.done(api.delete(f"/notifications/routes/{route_id}"), "Deleted.")


def _find(api: Api, channel: str) -> Item:
    items = api.get("/notifications/channels")["items"]
    return one_of(items, "channel", channel, "cadenza notify channels list")


def _set(api: Api, channel: str, *, enabled: bool) -> Item:
    one = _find(api, channel)
    return api.patch(f"/notifications/channels/{one['id']}", {"enabled": enabled})


def _state(one: Item) -> str:
    if not one["enabled"]:
        return "disabled"
    if one["failing_since"] is None:
        return "good" if one["last_sent_at"] else "not used yet"
    return f"fails: {one['last_error']}"


def _quiet(one: Item) -> str:
    quiet = one["quiet"]
    return f"{quiet['from']}-{quiet['to']} {quiet['timezone']}" if quiet else "never"
