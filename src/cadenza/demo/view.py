"""The demo in a terminal: a table that follows the schedule, and below it what was done and why."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, cast

from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from cadenza.application.descriptions import describe_baseline
from cadenza.demo.stage import Stage
from cadenza.demo.story import ACTED, TIGHTENED, Line
from cadenza.domain.endpoint import Endpoint, Every, fresh_hints
from cadenza.domain.instants import humanize

_COLOURS = {TIGHTENED: "magenta", ACTED: "red"}


def picture(stage: Stage, heading: str, lines: list[Line], console: Console | None = None) -> Group:
    """All that was done, or the newest of it that the console has room for."""
    now = stage.clock.now()
    table = Table(title=heading, title_justify="left", box=SIMPLE_HEAD)
    table.add_column("endpoint", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("next", justify="right", no_wrap=True)
    table.add_column("last answer")
    for endpoint in stage.endpoints():
        table.add_row(*_row(stage, endpoint, now))
    texts = [Text(str(line), _COLOURS.get(line.kind, "green")) for line in lines]
    return Group(table, *(texts if console is None else _newest(texts, table, console)))


def _newest(texts: list[Text], table: Table, console: Console) -> list[Text]:
    room = console.height - len(console.render_lines(table)) - 1
    for index, text in reversed(list(enumerate(texts))):
        room -= len(text.wrap(console, console.width))
        if room < 0:
            return texts[index + 1 :]
    return texts


def _row(stage: Stage, endpoint: Endpoint, now: datetime) -> tuple[Any, ...]:
    interval, _ = fresh_hints(endpoint, now)
    runs = stage.runs(endpoint)
    pace = Text(describe_baseline(endpoint))
    if interval is not None:
        pace = Text(f"every {humanize(interval.interval)}", "magenta")
        if isinstance(endpoint.baseline, Every):
            pace.append(f" (not {humanize(endpoint.baseline.interval)})", "dim")
    body: object = runs[-1].body if runs else "–"
    if isinstance(body, Mapping):
        # Without the marks of JSON, which take a third of a narrow column.
        fields = cast("Mapping[str, Any]", body)
        body = ", ".join(f"{name} {value}" for name, value in fields.items())
    return endpoint.name, pace, _until(endpoint, now), str(body)


def _until(endpoint: Endpoint, now: datetime) -> str:
    if endpoint.in_flight:
        return "running"
    if endpoint.next_run_at is None:
        return "–"
    return f"{max(0.0, (endpoint.next_run_at - now).total_seconds()):.0f} s"


def summed_up(summary: dict[str, Any]) -> Table:
    table = Table(title="What it came to", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("endpoint", no_wrap=True)
    for name in ("runs", "by a hint", "shortest gap", "longest gap"):
        table.add_column(name, justify="right")
    for name, endpoint in summary["endpoints"].items():
        gaps = (endpoint["shortest_gap_s"], endpoint["longest_gap_s"])
        spans = (f"{gap:g} s" if gap is not None else "–" for gap in gaps)
        table.add_row(name, str(endpoint["runs"]), str(endpoint["hinted"]), *spans)
    return table
