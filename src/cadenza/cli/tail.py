"""`cadenza tail`: what happens, as it happens."""

from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import OfEndpoint, OfJob
from cadenza.cli.context import CliContext
from cadenza.cli.event_text import FINISHED, sentence
from cadenza.cli.events import Event, Stream
from cadenza.cli.lookup import EndpointNames, find_endpoint, find_job
from cadenza.cli.output import Output
from cadenza.cli.tables import STYLES
from cadenza.cli.terminal_text import json_text, plain
from cadenza.cli.times import Times

ABOUT_THE_STREAM = ("ready", "passed", "closed")
COLOURS = {"green": typer.colors.GREEN, "red": typer.colors.RED, "yellow": typer.colors.YELLOW}
cli = typer.Typer()


@command(cli, "tail")
def tail(
    api: Api,
    out: Output,
    context: CliContext,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, help="Stop after this many finished runs.")
    ] = None,
    job: OfJob = None,
    endpoint: OfEndpoint = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Filter by kind, such as run.failed or endpoint. Repeatable."),
    ] = None,
) -> None:
    """Follow finished runs and changes as they happen. Ctrl-C to stop.

    Example: cadenza tail --job shop --count 3
    """
    query = {
        "job_id": find_job(api, job)["id"] if job else None,
        "endpoint_id": find_endpoint(api, endpoint)["id"] if endpoint else None,
        "kind": kind or None,
    }
    stream = Stream(api, query, context.sleep, out.note)
    names, left = EndpointNames(api), count
    try:
        for event in stream.events():
            if event.kind in ABOUT_THE_STREAM:
                if event.kind == "ready" and not out.as_json:
                    out.note("Following … press Ctrl-C to stop.")
                continue
            times = Times(context.now(), context.local)
            typer.echo(json_text(event.data) if out.as_json else _line(event, names, times))
            if left is not None and event.kind in FINISHED:
                left -= 1
                if left == 0:
                    return
    except KeyboardInterrupt:
        return  # that is how it ends


def _line(event: Event, names: EndpointNames, times: Times) -> str:
    data: dict[str, Any] = event.data.get("data") or {}
    at = times.clock(str(event.data["at"]))
    text = sentence(event.kind, data, times)
    endpoint_id = event.data.get("endpoint_id")
    subject = f"{names.of(str(endpoint_id))}  " if endpoint_id else ""
    colour = COLOURS.get(STYLES.get(str(data.get("status")), ""))
    return typer.style(plain(f"{at}  {subject}{text}"), fg=colour)
