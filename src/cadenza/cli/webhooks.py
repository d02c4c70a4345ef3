"""`cadenza webhooks`: events that are sent on, and the log of what was sent."""

from typing import Annotated, Any

import typer

from cadenza.cli.asking import Yes, ask
from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import Limit, OfJob
from cadenza.cli.deliveries import wait_for
from cadenza.cli.errors import usage
from cadenza.cli.lookup import find_job, one_of, whole_id
from cadenza.cli.output import Column, Output
from cadenza.cli.terminal_text import plain
from cadenza.domain.delivery import DeliveryStatus

Item = dict[str, Any]
WebhookName = Annotated[str, typer.Argument(metavar="WEBHOOK", help="A webhook's name or id.")]
DeliveryId = Annotated[
    str, typer.Argument(metavar="DELIVERY", help="A delivery id, or its first 8 characters.")
]
cli = group("webhooks", "Manage outbound webhooks and their deliveries.")


@command(cli, "list")
def list_webhooks(api: Api, out: Output) -> None:
    """List webhooks and their state.

    Example: cadenza webhooks list
    """
    columns = [
        Column("name", lambda one: one["name"]),
        Column("kinds", lambda one: ", ".join(one["kinds"]), is_text=True),
        Column("url", lambda one: one["url"], rank=1, is_text=True),
        Column("state", _state, is_text=True),
        Column("id", lambda one: one["id"], is_id=True),
    ]
    nothing = "No webhooks yet. Create one: cadenza webhooks create NAME URL --kind run.failed"
    out.rows(api.get("/webhooks")["items"], columns, nothing)


@command(cli, "create")
def create_webhook(
    api: Api,
    out: Output,
    name: Annotated[str, typer.Argument(help="A name of your choice.")],
    url: Annotated[str, typer.Argument(help="The URL that receives the events.")],
    kind: Annotated[
        list[str], typer.Option(help="An event kind, such as run.failed or incident.*. Repeatable.")
    ],
    job: OfJob = None,
) -> None:
    """Create a webhook: events are sent to a URL, signed with the tenant's key.

    Example: cadenza webhooks create ci https://ci.example/hook --kind run.failed
    """
    body: Item = {"name": name, "url": url, "kinds": kind}
    if job:
        body["job_id"] = find_job(api, job)["id"]
    made = api.create("/webhooks", body)
    out.done(made, f"Created {plain(name)}. Next: cadenza webhooks test '{plain(name)}'")
    if not any(key["retires_at"] is None for key in api.get("/signing-keys")["items"]):
        out.note("Events are not signed yet. Create a signing key: cadenza signing-keys create")


@command(cli, "edit")
def edit_webhook(
    api: Api,
    out: Output,
    webhook: WebhookName,
    name: Annotated[str | None, typer.Option(help="A new name.")] = None,
    url: Annotated[str | None, typer.Option(help="A new URL.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="New event kinds, replacing the old ones. Repeatable.")
    ] = None,
) -> None:
    """Edit a webhook's name, URL or event kinds. Its log is kept.

    Example: cadenza webhooks edit ci --kind run.failed --kind 'incident.*'
    """
    wanted = {"name": name, "url": url, "kinds": kind or None}
    change = {field: value for field, value in wanted.items() if value is not None}
    if not change:
        raise usage("Nothing to change: give --name, --url or --kind.")
    changed = api.patch(f"/webhooks/{_find(api, webhook)['id']}", change)
    out.done(changed, f"Changed the webhook {changed['name']}.")


@command(cli, "test")
def test_webhook(api: Api, out: Output, webhook: WebhookName) -> None:
    """Send a `webhook.test` event to a webhook. Exits 1 if it is not accepted.

    Example: cadenza webhooks test ci
    """
    one = _find(api, webhook)
    wait_for(api, out, api.post(f"/webhooks/{one['id']}/test"), one["name"])


@command(cli, "enable")
def enable_webhook(api: Api, out: Output, webhook: WebhookName) -> None:
    """Enable a webhook.

    Example: cadenza webhooks enable ci
    """
    one = _find(api, webhook)
    out.done(api.patch(f"/webhooks/{one['id']}", {"enabled": True}), f"{one['name']} is enabled.")


@command(cli, "disable")
def disable_webhook(api: Api, out: Output, webhook: WebhookName) -> None:
    """Disable a webhook: no events are sent until it is enabled.

    Example: cadenza webhooks disable ci
    """
    one = _find(api, webhook)
    out.done(api.patch(f"/webhooks/{one['id']}", {"enabled": False}), f"{one['name']} is disabled.")


@command(cli, "delete")
def delete_webhook(api: Api, out: Output, webhook: WebhookName, yes: Yes = False) -> None:
    """Delete a webhook and its log.

    Example: cadenza webhooks delete ci
    """
    one = _find(api, webhook)
    ask(f"Delete the webhook {one['name']} and its log?", yes=yes)
    out.done(api.delete(f"/webhooks/{one['id']}"), f"Deleted {one['name']}.")


@command(cli, "deliveries")
def list_deliveries(
    api: Api,
    out: Output,
    webhook: Annotated[str | None, typer.Option(help="Filter by webhook.")] = None,
    status: Annotated[DeliveryStatus | None, typer.Option(help="Filter by status.")] = None,
    limit: Limit = 50,
) -> None:
    """List deliveries to webhooks and channels, newest first.

    Example: cadenza webhooks deliveries --webhook ci --status failed
    """
    query = {"webhook_id": _find(api, webhook)["id"] if webhook else None, "status": status}
    columns = [
        Column("status", lambda one: one["status"]),
        Column("what", lambda one: one["title"], is_text=True),
        Column("attempts", lambda one: one["attempt"], rank=1),
        Column("created", lambda one: out.times.relative(one["created_at"])),
        Column("error", lambda one: one["error"] or "", rank=2, is_text=True),
        Column("id", lambda one: one["id"], is_id=True),
    ]
    nothing = "No deliveries match." if status else "No deliveries yet."
    out.rows(api.pages("/deliveries", limit, query), columns, nothing, limit)


@command(cli, "resend")
def resend(api: Api, out: Output, delivery: DeliveryId) -> None:
    """Send a delivery again, and wait for the result.

    Example: cadenza webhooks resend 01a1ece2
    """
    again = api.post(f"/deliveries/{whole_id(api, 'delivery', delivery)}/resend")
    wait_for(api, out, again, "The receiver")


def _find(api: Api, webhook: str) -> Item:
    return one_of(api.get("/webhooks")["items"], "webhook", webhook, "cadenza webhooks list")


def _state(one: Item) -> str:
    if not one["enabled"]:
        return f"disabled: {one['disabled_reason']}" if one["disabled_reason"] else "disabled"
    if one["failing_since"] is None:
        return "good" if one["last_sent_at"] else "not used yet"
    return f"fails: {one['last_error']}"
