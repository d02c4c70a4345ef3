"""A comparison as a table with a timeline, and as a picture."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from html import escape

from rich.box import SIMPLE_HEAD
from rich.table import Table

from cadenza.cli.times import lasting
from cadenza.replay.compare import Comparison, Lane, against, buckets, sparkline

_LEFT, _WIDE, _HIGH = 90, 900, 26


def table(comparison: Comparison) -> Table:
    begin, end = comparison.begin, comparison.end
    most = max(max(buckets(lane.probes, begin, end)) for lane in comparison.lanes)
    shown = Table(title=comparison.endpoint, title_justify="left", box=SIMPLE_HEAD)
    shown.add_column("", no_wrap=True)
    for title in ("probes", "changes seen", "after, on average", "than the baseline"):
        shown.add_column(title, justify="right")
    shown.add_column(f"probes over time ({begin:%d %b %H:%M} to {end:%d %b %H:%M})", no_wrap=True)
    for lane in comparison.lanes:
        shown.add_row(
            lane.who,
            str(len(lane.probes)),
            f"{lane.seen} of {len(comparison.changes)}",
            lasting(lane.mean_delay.total_seconds() * 1000) if lane.mean_delay else "–",
            _against(lane, comparison),
            sparkline(lane.probes, begin, end, most),
        )
    marks = buckets(comparison.changes, begin, end)
    shown.add_row("changes", "", "", "", "", "".join("▲" if each else "·" for each in marks))
    return shown


def _against(lane: Lane, comparison: Comparison) -> str:
    baseline = next(each for each in comparison.lanes if each.who == "baseline")
    if lane.who in ("recorded", "baseline"):
        return "–"
    sooner, later = against(lane, baseline)
    return f"{sooner} sooner, {later} later"


def picture(comparisons: Sequence[Comparison]) -> str:
    """One line for each life, one stroke for each probe; changes are red."""
    parts: list[str] = []
    top = _HIGH
    for each in comparisons:
        parts.append(f'<text x="4" y="{top}" font-weight="bold">{escape(each.endpoint)}</text>')
        for lane in each.lanes:
            top += _HIGH
            parts.append(f'<text x="4" y="{top}">{escape(lane.who)}</text>')
            parts.append(_strokes(lane.probes, each, top, "#3b6fb6"))
            parts.append(_strokes(each.changes, each, top, "#c0392b"))
        top += 2 * _HIGH
    size = f'width="{_LEFT + _WIDE + 10}" height="{top}"'
    style = 'font-family="sans-serif" font-size="12"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>\n'


def _strokes(instants: Sequence[datetime], of: Comparison, bottom: int, colour: str) -> str:
    length = max(of.end - of.begin, timedelta(seconds=1))
    places = sorted({round(_LEFT + _WIDE * ((each - of.begin) / length)) for each in instants})
    path = "".join(f"M{place} {bottom}v-14" for place in places)
    return f'<path d="{path}" stroke="{colour}" />'
