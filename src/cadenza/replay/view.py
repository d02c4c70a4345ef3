"""Comparisons as JSON, as tables with a timeline, and as a picture."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from cadenza.cli.output import Output, console
from cadenza.cli.terminal_text import json_text, plain
from cadenza.cli.times import duration_text
from cadenza.replay.compare import Comparison, Lane, against, buckets, record, sparkline
from cadenza.replay.life import Life
from cadenza.replay.purse import Purse

_LEFT, _WIDE, _HIGH = 90, 900, 26
NOTE = (
    "Known is only what was asked then: between two probes the state is that of the earlier one, "
    "so no change is seen sooner than it was recorded. Nothing was written."
)


def show(comparisons: list[Comparison], life: Life, purse: Purse, out: Output) -> None:
    if out.as_json:
        spent_in_all = {  # by the whole replay, siblings that are not shown included
            "sessions": purse.sessions,
            "failed": life.failed,
            "tokens": purse.tokens,
            "cost": purse.cost,
            "ended_early": life.is_cut,
        }
        for comparison in comparisons:
            typer.echo(json_text({**record(comparison), "spent_in_all": spent_in_all}))
        return
    for comparison in comparisons:
        console().print(table(comparison))
        console().print(timelines(comparison))
    # Of siblings as well: what they do is a part of what happens here.
    reasons = dict.fromkeys(
        f"{life.names[session.endpoint_id]}: {session.reasoning}"
        for session in life.sessions
        if session.reasoning
    )
    for reason in list(reasons)[:8]:
        typer.echo(f"  {plain(reason)}")
    if purse.sessions:
        failed = f", {life.failed} of them failed" if life.failed else ""
        typer.echo(f"It cost {purse}{failed}.")
    if life.is_cut:
        typer.echo(
            f"It ends at {life.end:%d %b %H:%M}, where --sessions {purse.most_sessions} were held."
        )
    typer.echo(NOTE)


def table(comparison: Comparison) -> Table:
    rows = Table(title=comparison.endpoint, title_justify="left", box=SIMPLE_HEAD)
    rows.add_column("", no_wrap=True)
    for title in ("probes", "seen", "after", "against baseline"):
        rows.add_column(title, justify="right", no_wrap=True)
    for lane in comparison.lanes:
        rows.add_row(
            lane.who,
            str(len(lane.probes)),
            f"{lane.seen} of {len(comparison.changes)}",
            duration_text(lane.mean_delay.total_seconds() * 1000) if lane.mean_delay else "–",
            _against(lane, comparison),
        )
    return rows


def timelines(comparison: Comparison) -> Table:
    """Below the figures, so that both fit a narrow terminal."""
    begin, end = comparison.begin, comparison.end
    most = max(max(buckets(lane.probes, begin, end)) for lane in comparison.lanes)
    rows = Table(box=SIMPLE_HEAD)
    rows.add_column("", no_wrap=True)
    rows.add_column(f"probes, {begin:%d %b %H:%M} to {end:%d %b %H:%M}", no_wrap=True)
    for lane in comparison.lanes:
        rows.add_row(lane.who, sparkline(lane.probes, begin, end, most))
    marks = buckets(comparison.changes, begin, end)
    rows.add_row("changes", "".join("▲" if mark else "·" for mark in marks))
    return rows


def _against(lane: Lane, comparison: Comparison) -> str:
    if lane.who in ("recorded", "baseline"):
        return "–"
    baseline = next(other for other in comparison.lanes if other.who == "baseline")
    sooner, later = against(lane, baseline)
    return f"{sooner} sooner, {later} later"


def picture(comparisons: Sequence[Comparison]) -> str:
    """One line for each life, one stroke for each probe; changes are red."""
    parts: list[str] = []
    top = _HIGH
    for comparison in comparisons:
        parts.append(
            f'<text x="4" y="{top}" font-weight="bold">{escape(comparison.endpoint)}</text>'
        )
        for lane in comparison.lanes:
            top += _HIGH
            parts.append(f'<text x="4" y="{top}">{escape(lane.who)}</text>')
            parts.append(_strokes(lane.probes, comparison, top, "#3b6fb6"))
            parts.append(_strokes(comparison.changes, comparison, top, "#c0392b"))
        top += 2 * _HIGH
    size = f'width="{_LEFT + _WIDE + 10}" height="{top}"'
    style = 'font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>\n'


def _strokes(instants: Sequence[datetime], of: Comparison, bottom: int, colour: str) -> str:
    length = max(of.end - of.begin, timedelta(seconds=1))
    columns = sorted(
        {round(_LEFT + _WIDE * ((instant - of.begin) / length)) for instant in instants}
    )
    path = "".join(f"M{column} {bottom}v-14" for column in columns)
    return f'<path d="{path}" stroke="{colour}" />'
