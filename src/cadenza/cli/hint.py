"""`cadenza hint`: bend a schedule for a while; the baseline returns by itself."""

from typing import Annotated

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import EndpointName
from cadenza.cli.context import CliContext
from cadenza.cli.descriptions import next_run
from cadenza.cli.errors import usage
from cadenza.cli.instants import from_now
from cadenza.cli.lookup import find_endpoint, full_name
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import quoted

Reason = Annotated[str, typer.Option(help="Why; it is shown with the hint.")]
cli = group("hint", "Bend a schedule for a while: another interval, or one run.")


@command(cli, "interval")
def interval(
    api: Api,
    out: Output,
    name: EndpointName,
    every: Annotated[str, typer.Argument(metavar="INTERVAL", help="Like 30s.")],
    ttl: Annotated[str, typer.Option("--for", help="How long the hint lasts.")] = "1h",
    reason: Reason = "",
) -> None:
    """Run at another interval for a while, within the guardrails.

    Example: cadenza hint interval shop/queue 30s --for 2h --reason "a sale"
    """
    body = {"interval": every, "ttl": ttl, "reason": reason}
    _hint(api, out, name, "interval", body)


@command(cli, "one-shot")
def one_shot(
    api: Api,
    out: Output,
    context: CliContext,
    name: EndpointName,
    at: Annotated[str | None, typer.Option(help="At an instant.")] = None,
    within: Annotated[str | None, typer.Option("--in", help="From now, like 10m.")] = None,
    ttl: Annotated[str, typer.Option("--for", help="How long after it the hint lasts.")] = "30m",
    reason: Reason = "",
) -> None:
    """Run once at an instant, if the baseline does not come first.

    Example: cadenza hint one-shot shop/queue --in 10m
    """
    if (at is None) == (within is None):
        raise usage("Give --at or --in, one of the two.")
    body = {"at": from_now(context, "--at", at), "in": within, "ttl": ttl, "reason": reason}
    fields = {field: value for field, value in body.items() if value is not None}
    _hint(api, out, name, "one-shot", fields)


@command(cli, "clear")
def clear(api: Api, out: Output, name: EndpointName) -> None:
    """Drop both hints; the baseline returns at once.

    Example: cadenza hint clear shop/queue
    """
    cleared = api.delete(f"/endpoints/{find_endpoint(api, name)['id']}/hints")
    message = f"{full_name(cleared)} has no hints; next run {next_run(cleared, out.times)}."
    out.done(cleared, message)


def _hint(api: Api, out: Output, name: str, kind: str, body: dict[str, str]) -> None:
    hinted = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/hints/{kind}", body)
    message = f"{full_name(hinted)} is hinted; next run {next_run(hinted, out.times)}."
    out.done(hinted, f"{message} Why: cadenza explain {quoted(name)}")
