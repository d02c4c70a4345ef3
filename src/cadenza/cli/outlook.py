"""`cadenza explain` and `cadenza preview`: why it runs next when it does, and what comes after."""

import re
from collections.abc import Callable
from itertools import zip_longest
from typing import Annotated, Any

import typer

from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.complete import EndpointName
from cadenza.cli.descriptions import source_of
from cadenza.cli.lookup import find_endpoint, full_name
from cadenza.cli.output import Column, Output, wrapped
from cadenza.cli.terminal_text import plain, plain_lines, quoted
from cadenza.cli.times import Times

Item = dict[str, Any]
_INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?Z")
cli = typer.Typer()


@command(cli, "explain")
def explain(api: Api, out: Output, name: EndpointName) -> None:
    """Explain when an endpoint runs next, why, and what would change it.

    Example: cadenza explain shop/queue
    """
    endpoint = find_endpoint(api, name)
    explanation = api.get(f"/endpoints/{endpoint['id']}/explain")
    lines = [full_name(endpoint), f"  {_in_zone(explanation['summary'], out.times)}"]
    for title, field in (("How it was chosen:", "because"), ("Good to know:", "would_change")):
        if explanation[field]:
            lines += ["", title]
            for sentence in explanation[field]:
                first, *others = wrapped(plain_lines(_in_zone(sentence, out.times)), 4)
                lines += [f"  {first}", *(f"    {line}" for line in others)]
    out.done(explanation, "\n".join(lines))


def _in_zone(sentence: str, times: Times) -> str:
    """Instants by the person's own clock."""
    return _INSTANT.sub(lambda match: times.when(match[0]), sentence)


@command(cli, "preview")
def preview(
    api: Api,
    out: Output,
    name: EndpointName,
    count: Annotated[
        int, typer.Option("--count", "-n", min=1, max=100, help="The number of runs to show.")
    ] = 10,
) -> None:
    """Preview the next runs, with and without the current hints.

    Example: cadenza preview shop/queue --count 20
    """
    endpoint = find_endpoint(api, name)
    upcoming = api.get(f"/endpoints/{endpoint['id']}/preview", {"count": count})
    if out.as_json:
        out.done(upcoming, "")
        return
    rows = [
        {"planned": planned, "baseline": alone}
        for planned, alone in zip_longest(upcoming["planned"], upcoming["baseline"])
    ]
    nothing = f"{plain(name)} runs on demand only. Start a run: cadenza run {quoted(name)}"
    if endpoint["pauses"]:
        resumes = f"cadenza resume {quoted(name)}"
        nothing = f"{plain(name)} is paused until resumed. Resume it: {resumes}"
    out.rows(rows, _columns(out, endpoint, rows), nothing)


def _columns(out: Output, endpoint: Item, rows: list[Item]) -> list[Column]:
    """A cron by the zone that it is written for, and by the person's clock where that differs."""
    times, zone = out.times, endpoint["baseline"]["timezone"]
    plans = [run["at"] for row in rows for run in row.values() if run]
    if zone is None or not times.differs(zone, plans):
        return [
            Column("next run", lambda row: _upcoming(row["planned"], times.when)),
            _by(endpoint),
            Column("without hints", lambda row: _upcoming(row["baseline"], times.when), rank=1),
        ]

    def there(at: str) -> str:
        return times.in_zone(at, zone)

    return [
        Column(f"in {zone}", lambda row: _upcoming(row["planned"], there)),
        Column(
            f"your time ({times.zone_name()})", lambda row: _upcoming(row["planned"], times.when)
        ),
        _by(endpoint),
        Column("without hints", lambda row: _upcoming(row["baseline"], there), rank=1),
    ]


def _by(endpoint: Item) -> Column:
    def cell(row: Item) -> str:
        planned = row["planned"]
        return source_of({**endpoint, "next_source": planned["source"]}) if planned else ""

    return Column("why", cell)


def _upcoming(run: Item | None, when: Callable[[str], str]) -> str:
    return when(run["at"]) if run else "–"
