"""`cadenza explain` and `cadenza preview`: why it runs next when it does, and what comes after."""

import re
from itertools import zip_longest
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import add
from cadenza.cli.complete import EndpointName
from cadenza.cli.names import find_endpoint, full_name
from cadenza.cli.output import Column, Output
from cadenza.cli.plain_text import plain, typed
from cadenza.cli.states import source
from cadenza.cli.times import Times

_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")


def explain(api: Api, out: Output, name: EndpointName) -> None:
    """Say why an endpoint runs next when it does, and what would change it.

    Example: cadenza explain shop/queue
    """
    endpoint = find_endpoint(api, name)
    said = api.get(f"/endpoints/{endpoint['id']}/explain")
    out.done(said, "\n".join(_sentences(full_name(endpoint), said, out.times)))


def _sentences(name: str, said: dict[str, Any], times: Times) -> list[str]:
    lines = [name, f"  {_in_zone(said['summary'], times)}"]
    for title, field in (("How it was chosen:", "because"), ("Good to know:", "would_change")):
        if said[field]:
            lines += ["", title, *(f"  {_in_zone(each, times)}" for each in said[field])]
    return lines


def _in_zone(sentence: str, times: Times) -> str:
    """Instants by the person's own clock."""
    return _INSTANT.sub(lambda found: times.when(found[0]), sentence)


def preview(
    api: Api,
    out: Output,
    name: EndpointName,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=100, help="How many.")] = 10,
) -> None:
    """Show the next runs, with the hints of now beside the plain baseline.

    Example: cadenza preview shop/queue --count 20
    """
    endpoint = find_endpoint(api, name)
    said = api.get(f"/endpoints/{endpoint['id']}/preview", {"count": count})
    if out.as_json:
        out.done(said, "")
        return
    rows = [
        {"planned": planned, "baseline": alone}
        for planned, alone in zip_longest(said["planned"], said["baseline"])
    ]
    columns = [
        Column("as things are", lambda row: _upcoming(row["planned"], out.times)),
        Column("by", lambda row: source(row["planned"]["source"]) if row["planned"] else ""),
        Column("baseline alone", lambda row: _upcoming(row["baseline"], out.times)),
    ]
    out.rows(
        rows, columns, f"{plain(name)} runs only when it is asked to: cadenza run {typed(name)}"
    )


def _upcoming(run: dict[str, Any] | None, times: Times) -> str:
    return times.when(run["at"]) if run else "–"


def register(app: typer.Typer) -> None:
    add(app, "explain", explain)
    add(app, "preview", preview)
