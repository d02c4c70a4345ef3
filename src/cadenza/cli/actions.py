"""The short verbs: what a person does to an endpoint, by its name."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import EndpointName
from cadenza.cli.context import CliContext
from cadenza.cli.descriptions import endpoint_state, next_run
from cadenza.cli.errors import CommandError
from cadenza.cli.instants import from_now
from cadenza.cli.lookup import find_endpoint, full_name
from cadenza.cli.output import Output
from cadenza.cli.runs import print_run
from cadenza.cli.terminal_text import json_text, quoted, shortened
from cadenza.cli.times import duration_text
from cadenza.domain.instants import TICK, from_iso, iso

TEST_SECONDS = 660.0  # longer than a target may take
Reason = Annotated[str, typer.Option(help="Why; it is shown with it.")]
LOOK_SECONDS = 0.2
NOT_STARTED = 30.0  # seconds after which nobody seems to work
cli = typer.Typer()


@command(cli, "run")
def run(
    api: Api,
    out: Output,
    context: CliContext,
    name: EndpointName,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Until it has ended.")] = False,
) -> None:
    """Run an endpoint now, whatever its min and its pauses say.

    Example: cadenza run shop/queue --wait
    """
    endpoint = find_endpoint(api, name)
    asked = api.post(f"/endpoints/{endpoint['id']}/run")
    if wait:
        _wait_for_run(api, out, context, full_name(endpoint), asked)
        return
    out.done(
        asked,
        f"{full_name(endpoint)} runs now. See it: cadenza runs list --endpoint {quoted(name)}",
    )


@command(cli, "pause")
def pause(
    api: Api,
    out: Output,
    context: CliContext,
    name: EndpointName,
    until: Annotated[str | None, typer.Option(help="An instant, or like 2h from now.")] = None,
    reason: Reason = "",
) -> None:
    """Hold an endpoint back, until an instant or until it is resumed.

    Example: cadenza pause shop/queue --until 2h --reason "maintenance"
    """
    body = {"until": from_now(context, "--until", until), "reason": reason}
    paused = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/pause", body)
    out.done(paused, f"{full_name(paused)} is {endpoint_state(paused, out.times)}.")


@command(cli, "resume")
def resume(api: Api, out: Output, name: EndpointName) -> None:
    """Let a paused endpoint go on; a pause of its job stays.

    Example: cadenza resume shop/queue
    """
    resumed = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/resume")
    still = endpoint_state(resumed, out.times) if resumed["pauses"] else "going on"
    out.done(resumed, f"{full_name(resumed)} is {still}; next run {next_run(resumed, out.times)}.")


@command(cli, "analyse")
def analyse(api: Api, out: Output, name: EndpointName) -> None:
    """Ask the planner to look at an endpoint, as soon as it can.

    Example: cadenza analyse shop/queue
    """
    endpoint = find_endpoint(api, name)
    asked = api.post(f"/endpoints/{endpoint['id']}/analyse")
    message = f"The planner will look at {full_name(endpoint)}. Then:"
    out.done(asked, f"{message} cadenza sessions list --endpoint {quoted(name)}")


@command(cli, "test")
def test(api: Api, out: Output, name: EndpointName) -> None:
    """Call an endpoint's target once; it is no run and counts for nothing. Ends with 1 if it fails.

    Example: cadenza test shop/queue
    """
    endpoint = find_endpoint(api, name)
    with out.working(f"Calling {full_name(endpoint)} …"):
        result = api.post(f"/endpoints/{endpoint['id']}/test", timeout=TEST_SECONDS)
    body = result["body"]
    lines = [
        ("result", result["status"]),
        ("answered", result["status_code"]),
        ("error", " ".join(filter(None, (result["error_kind"], result["error_message"])))),
        ("took", duration_text(result["duration_ms"])),
        ("body", shortened(body if isinstance(body, str) else json_text(body))),
    ]
    out.one(result, lines)
    if result["status"] != "success":
        raise CommandError(f"{full_name(endpoint)}: the test ended as {result['status']}.")


def _wait_for_run(
    api: Api, out: Output, context: CliContext, name: str, asked: dict[str, Any]
) -> None:
    """Until it has ended; an error where it failed, or where no worker takes it up."""
    slot = asked["slot_at"]
    query = {"endpoint_id": asked["endpoint_id"], "from": slot, "to": iso(from_iso(slot) + TICK)}
    waited = 0.0
    with out.working(f"Waiting for {name} …"):
        while (run := next(api.pages("/runs", 1, query), None)) is None or not _ended(run):
            if run is None and waited > NOT_STARTED:
                raise CommandError(
                    f"No worker has taken up the run of {name} for {NOT_STARTED:g} s. Does a "
                    "scheduler run? `make up` starts one; /readyz tells."
                )
            context.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
    print_run(out, api.get(f"/runs/{run['id']}"), name)
    if run["status"] != "success":
        raise CommandError(f"{name}: the run ended as {run['status']}.")


def _ended(run: dict[str, Any]) -> bool:
    return run["status"] != "running"
