"""The demo in a terminal: a table that follows the schedule, and below it what was done and why."""

import json
from datetime import datetime, timedelta
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from cadenza.application.shown_state import shown_baseline
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.instants import spoken
from cadenza.domain.outcome import fresh_hints
from cadenza.roots.demo.stage import Stage
from cadenza.roots.demo.story import ACTED, TIGHTENED, Line, clock

_SHOWN_LINES = 8
_COLOURS = {TIGHTENED: "magenta", ACTED: "red"}


def picture(stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> Group:
    now = stage.clock.now()
    table = Table(title=f"{clock(passed)}  {part}", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("endpoint", no_wrap=True)
    table.add_column("interval", no_wrap=True)
    table.add_column("next", justify="right", no_wrap=True)
    table.add_column("last answer")
    table.add_column("why", style="dim")
    for endpoint in stage.endpoints():
        table.add_row(*_row(stage, endpoint, now))
    return Group(table, *(_told(line) for line in lines[-_SHOWN_LINES:]))


def _row(stage: Stage, endpoint: Endpoint, now: datetime) -> tuple[Any, ...]:
    interval, one_shot = fresh_hints(endpoint, now)
    runs, hint = stage.runs(endpoint), one_shot or interval
    pace = Text(shown_baseline(endpoint))
    if interval is not None:
        pace = Text(f"every {spoken(interval.interval)}", "magenta")
        if isinstance(endpoint.baseline, Every):
            pace.append(f" (not {spoken(endpoint.baseline.interval)})", "dim")
    answer = json.dumps(runs[-1].body) if runs else "–"
    return (endpoint.name, pace, _until(endpoint, now), answer, hint.reason if hint else "")


def _until(endpoint: Endpoint, now: datetime) -> str:
    if endpoint.in_flight:
        return "running"
    if endpoint.next_run_at is None:
        return "–"
    return f"{max(0.0, (endpoint.next_run_at - now).total_seconds()):.0f} s"


def _told(line: Line) -> Text:
    return Text(str(line), _COLOURS.get(line.kind, "green"))


def summed_up(summary: dict[str, Any]) -> Table:
    table = Table(title="What it came to", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("endpoint", no_wrap=True)
    for name in ("runs", "by a hint", "shortest gap", "longest gap"):
        table.add_column(name, justify="right")
    for name, each in summary["endpoints"].items():
        gaps = (each["shortest_gap_s"], each["longest_gap_s"])
        shown = (f"{gap:g} s" if gap is not None else "–" for gap in gaps)
        table.add_row(name, str(each["runs"]), str(each["hinted"]), *shown)
    return table
