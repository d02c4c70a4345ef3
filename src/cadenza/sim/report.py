"""The life as one picture: the metrics above, and below them every run, coloured by its source."""

from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from cadenza.cli.descriptions import source
from cadenza.domain.instants import humanize
from cadenza.domain.run import Run
from cadenza.sim.play import Played
from cadenza.sim.world import START, World

LEFT, RIGHT, WIDTH = 196, 1180, 1200
METRIC_HEIGHT, LANE_HEIGHT = 44, 30


def write_report(played: Played, path: Path) -> None:
    environment = Environment(
        loader=PackageLoader("cadenza.sim", "."),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    html = environment.get_template("report.html.j2").render(_picture(played))
    path.write_text(_picture_alone(html) if path.suffix == ".svg" else html, encoding="utf-8")


def _picture_alone(html: str) -> str:
    """The drawing of the page as a file of its own, with its colours for light and dark."""
    style = html.partition("<style>")[2].partition("</style>")[0]
    drawing = html.partition("<svg ")[2].partition("</svg>")[0]
    inner = drawing.partition(">")
    paper = "<rect width='100%' height='100%' fill='var(--paper)'/>"
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' {inner[0]}>"
        f"<style>{style}</style>{paper}{inner[2]}</svg>\n"
    )


def _picture(played: Played) -> dict[str, Any]:
    world = played.world
    metrics = _metric_lines(world)
    top = 46 + len(metrics) * METRIC_HEIGHT + (28 if metrics else 0)
    lanes = [
        _lane(world, name, top + number * LANE_HEIGHT) for number, name in enumerate(world.names())
    ]
    sources = Counter(_colour(run) for run in world.all_runs())
    minutes = world.length / timedelta(minutes=1)
    step = 1 if minutes <= 10 else 5
    return {
        "played": played,
        "metrics": metrics,
        "lanes": lanes,
        "phases": _phases(played),
        "legend": [(name, source(name), count) for name, count in sources.most_common()],
        "ticks": [(minute, _x(world, START + timedelta(minutes=minute)))
                  for minute in range(0, int(minutes) + 1, step)],
        "left": LEFT, "right": RIGHT, "width": WIDTH,
        "height": top + len(lanes) * LANE_HEIGHT + 30,
        "axis_y": top + len(lanes) * LANE_HEIGHT,
        "runs": len(world.all_runs()),
        "kept": sum(check.ok for check in played.checks),
        "length": humanize(played.scenario.length),
        "wall_ms": round(played.wall / timedelta(milliseconds=1)),
    }  # fmt: skip


def _x(world: World, at: datetime) -> float:
    share = (at - START) / world.length
    return round(LEFT + max(0.0, min(1.0, share)) * (RIGHT - LEFT), 2)


def _colour(run: Run) -> str:
    """The name of a colour in the style sheet."""
    source = str(run.source)
    if source.startswith("baseline"):
        return "baseline"
    return "clamped" if source.startswith(("clamped", "retry")) else source


def _lane(world: World, name: str, y: int) -> dict[str, Any]:
    ticks = [
        {
            "x": _x(world, run.slot_at),
            "colour": _colour(run),
            "failed": run.status != "success",
            "title": _title(run),
        }
        for run in world.runs(name)
    ]
    return {"name": name, "about": f"{len(ticks)} runs", "y": y, "ticks": ticks}


def _title(run: Run) -> str:
    minutes, seconds = divmod((run.slot_at - START).total_seconds(), 60)
    parts = [f"{int(minutes)}:{seconds:04.1f}", str(run.source), str(run.status)]
    if run.duration is not None:
        parts.append(f"{run.duration / timedelta(milliseconds=1):.0f} ms")
    if run.attempt > 1:
        parts.append(f"attempt {run.attempt}")
    if run.skipped_slots:
        parts.append(f"{run.skipped_slots} missed: {run.skipped_reason}")
    return " · ".join(parts)


def _metric_lines(world: World) -> list[dict[str, Any]]:
    """Every number that the answers carried, as a step line."""
    series: dict[str, list[tuple[datetime, float]]] = {}
    for run in world.all_runs():
        body = run.body if isinstance(run.body, dict) else {}
        for key, value in body.items():
            if isinstance(value, int | float):
                series.setdefault(key, []).append((run.slot_at, float(value)))
    return [
        _metric_line(world, name, points, 46 + number * METRIC_HEIGHT)
        for number, (name, points) in enumerate(series.items())
    ]


def _metric_line(
    world: World, name: str, points: list[tuple[datetime, float]], y: int
) -> dict[str, Any]:
    lowest, highest = min(v for _, v in points), max(v for _, v in points)
    span = (highest - lowest) or 1.0
    room = METRIC_HEIGHT - 14
    steps: list[str] = []
    last_y = None
    for at, value in points:
        x, height = _x(world, at), round(y + room - (value - lowest) / span * room, 1)
        if last_y is not None and height != last_y:
            steps.append(f"{x},{last_y}")
        steps.append(f"{x},{height}")
        last_y = height
    steps.append(f"{RIGHT},{last_y}")
    low, high = f"{lowest:g}", f"{highest:g}"
    return {"name": name, "y": y, "lowest": low, "highest": high, "points": " ".join(steps)}


def _phases(played: Played) -> list[tuple[str, float, float]]:
    """Label, left and right of each part of the story."""
    world, phases = played.world, played.scenario.phases
    begins = [_x(world, START + timedelta(minutes=minute)) for minute, _ in phases]
    ends = [*begins[1:], float(RIGHT)][: len(begins)]
    return [(label, x, end) for (_, label), x, end in zip(phases, begins, ends, strict=True)]
