"""The short verbs: what a person does to an endpoint, by its name; and `cadenza hint`, which bends
its schedule for a while."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command, group
from cadenza.cli.complete import EndpointName, Until
from cadenza.cli.context import CliContext
from cadenza.cli.descriptions import endpoint_state, hint, next_run
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.lookup import Myself, find_endpoint, full_name
from cadenza.cli.output import Output
from cadenza.cli.runs import print_run
from cadenza.cli.terminal_text import quoted, shortened, text_of
from cadenza.cli.times import duration_text
from cadenza.domain.instants import TICK, from_iso, iso

TEST_SECONDS = 660.0  # longer than a target may take
Reason = Annotated[str, typer.Option(help="A reason to record.")]
HintReason = Annotated[str, typer.Option(help="A reason to record.")]
LOOK_SECONDS = 0.2
NOT_STARTED = 30.0  # seconds after which nobody seems to work
cli = typer.Typer()
hints = group("hint", "Change a schedule for a while: another interval, or one extra run.")
cli.add_typer(hints)


@command(cli, "run")
def run(
    api: Api,
    out: Output,
    context: CliContext,
    name: EndpointName,
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait for the run to end.")] = False,
) -> None:
    """Run an endpoint now, regardless of pauses and its minimum interval.

    Example: cadenza run shop/queue --wait
    """
    endpoint = find_endpoint(api, name)
    asked = api.post(f"/endpoints/{endpoint['id']}/run")
    if wait:
        _wait_for_run(api, out, context, full_name(endpoint), asked)
        return
    message = f"Started a run of {full_name(endpoint)}. See the result:"
    out.done(asked, f"{message} cadenza runs list --endpoint {quoted(name)}")


@command(cli, "pause")
def pause(
    api: Api,
    out: Output,
    name: EndpointName,
    until: Until = None,
    reason: Reason = "",
) -> None:
    """Pause an endpoint, until a given time or until resumed.

    Example: cadenza pause shop/queue --until 2h --reason "maintenance"
    """
    body = {"until": out.times.ahead("--until", until), "reason": reason}
    paused = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/pause", body)
    out.done(paused, f"{full_name(paused)} is {endpoint_state(paused, out.times)}.")


@command(cli, "resume")
def resume(api: Api, out: Output, name: EndpointName) -> None:
    """Resume a paused endpoint. A pause of its job still applies.

    Example: cadenza resume shop/queue
    """
    resumed = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/resume")
    is_paused = (
        f"is still {endpoint_state(resumed, out.times)}" if resumed["pauses"] else "is resumed"
    )
    upcoming = next_run(resumed, out.times)
    out.done(resumed, f"{full_name(resumed)} {is_paused}. Next run: {upcoming}.")


@command(cli, "analyse")
def analyse(api: Api, out: Output, name: EndpointName) -> None:
    """Ask the planner to analyse an endpoint as soon as possible.

    Example: cadenza analyse shop/queue
    """
    endpoint = find_endpoint(api, name)
    asked = api.post(f"/endpoints/{endpoint['id']}/analyse")
    message = f"Asked the planner to analyse {full_name(endpoint)}. See the result:"
    out.done(asked, f"{message} cadenza sessions list --endpoint {quoted(name)}")


@command(cli, "test")
def test(api: Api, out: Output, name: EndpointName) -> None:
    """Call an endpoint's target once, without recording a run. Exits 1 on failure.

    Example: cadenza test shop/queue
    """
    endpoint = find_endpoint(api, name)
    with out.working(f"Calling {full_name(endpoint)} …"):
        result = api.post(f"/endpoints/{endpoint['id']}/test", timeout=TEST_SECONDS)
    lines = [
        ("result", result["status"]),
        ("answered", result["status_code"]),
        ("error", result["error_message"] or result["error_kind"]),
        ("took", duration_text(result["duration_ms"])),
        ("body", "" if result["body"] is None else shortened(text_of(result["body"]))),
    ]
    out.one(result, lines)
    if result["status"] != "success":
        raise CommandError(f"The test of {full_name(endpoint)} ended with {result['status']}.")


def _wait_for_run(
    api: Api, out: Output, context: CliContext, name: str, asked: dict[str, Any]
) -> None:
    """Until it has ended; an error where it failed, or where no worker takes it up."""
    slot = asked["slot_at"]
    query = {"endpoint_id": asked["endpoint_id"], "from": slot, "to": iso(from_iso(slot) + TICK)}
    waited = 0.0
    with out.working(f"Waiting for {name} …"):
        while (run := next(api.pages("/runs", 1, query), None)) is None or run[
            "status"
        ] == "running":
            if run is None and waited > NOT_STARTED:
                raise CommandError(
                    f"No worker has started the run of {name} within {NOT_STARTED:g} s. Is a "
                    "scheduler running? Check with `cadenza doctor`."
                )
            context.sleep(LOOK_SECONDS)
            waited += LOOK_SECONDS
    print_run(out, api.get(f"/runs/{run['id']}"), name, Myself(api))
    if run["status"] != "success":
        raise CommandError(f"The run of {name} ended with {run['status']}.")


@command(hints, "interval")
def interval(
    api: Api,
    out: Output,
    name: EndpointName,
    every: Annotated[str, typer.Argument(metavar="INTERVAL", help="The interval, such as 30s.")],
    ttl: Annotated[str, typer.Option("--for", help="How long the hint lasts.")] = "1h",
    reason: HintReason = "",
) -> None:
    """Run at another interval for a while, within the endpoint's limits.

    Example: cadenza hint interval shop/queue 30s --for 2h --reason "a sale"
    """
    body = {"interval": every, "ttl": ttl, "reason": reason}
    _hint(api, out, name, "interval", body)


@command(hints, "one-shot")
def one_shot(
    api: Api,
    out: Output,
    name: EndpointName,
    at: Annotated[str | None, typer.Option(help="Run at this time.")] = None,
    within: Annotated[
        str | None, typer.Option("--in", help="Run after this delay, such as 10m.")
    ] = None,
    ttl: Annotated[
        str, typer.Option("--for", help="How long the hint stays valid after that time.")
    ] = "30m",
    reason: HintReason = "",
) -> None:
    """Run once at a given time, unless the schedule comes first.

    Example: cadenza hint one-shot shop/queue --in 10m
    """
    if (at is None) == (within is None):
        raise usage("Give either --at or --in, such as --in 10m.")
    body = {"at": out.times.from_now("--at", at), "in": within, "ttl": ttl, "reason": reason}
    fields = {field: value for field, value in body.items() if value is not None}
    _hint(api, out, name, "one-shot", fields)


@command(hints, "clear")
def clear(api: Api, out: Output, name: EndpointName) -> None:
    """Remove all hints. The regular schedule applies again at once.

    Example: cadenza hint clear shop/queue
    """
    cleared = api.delete(f"/endpoints/{find_endpoint(api, name)['id']}/hints")
    message = f"{full_name(cleared)} has no hints. Next run: {next_run(cleared, out.times)}."
    out.done(cleared, message)


def _hint(api: Api, out: Output, name: str, kind: str, body: dict[str, str]) -> None:
    hinted = api.post(f"/endpoints/{find_endpoint(api, name)['id']}/hints/{kind}", body)
    set_now = [hint(item, out.times) for item in hinted["hints"] if item["kind"] == kind]
    upcoming = f"Next run: {next_run(hinted, out.times)}."
    details = f"Details: cadenza explain {quoted(name)}"
    out.done(hinted, f"Hint set: {'; '.join(set_now)}.\n{upcoming} {details}")
