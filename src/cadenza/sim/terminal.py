"""The life as a person sees it in a terminal."""

from collections import Counter
from datetime import timedelta

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cadenza.cli.descriptions import source as source_words
from cadenza.domain.instants import humanize
from cadenza.sim.play import Played, cooldown_kept, first_action
from cadenza.sim.world import START, World

COLOURS = {
    "baseline-cron": "blue",
    "baseline-interval": "blue",
    "ai-interval": "magenta",
    "ai-oneshot": "red",
    "clamped-min": "yellow",
    "clamped-max": "yellow",
    "retry-after": "yellow",
    "paused": "bright_black",
    "resumed": "green",
    "manual": "green",
}
BARS = " ▁▂▃▄▅▆▇█"


def show(played: Played, console: Console) -> None:
    console.print(_table(played))
    console.print(_timeline(played.world))
    failed = [check for check in played.checks if not check.ok]
    for check in failed:
        console.print(f"[red]✗[/] {check.name}  [dim]{check.detail}[/]")
    verdict = "[green]✓[/]" if played.ok else "[red]✗[/]"
    passed = len(played.checks) - len(failed)
    wall_ms = played.wall / timedelta(milliseconds=1)
    took = f"{humanize(played.scenario.length)} lived in {wall_ms:.0f} ms"
    console.print(
        f"{verdict} {passed} of {len(played.checks)} promises kept · {took} · "
        f"seed {played.world.seed} · log {played.world.log.sha256()[:8]}",
        highlight=False,
    )


def _table(played: Played) -> Table:
    world = played.world
    title = f"{played.scenario.name}: {played.scenario.about}"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("endpoint", no_wrap=True)
    table.add_column("runs", justify="right")
    table.add_column("by source", no_wrap=True)
    table.add_column("gaps", no_wrap=True, justify="right")
    table.add_column("first action", justify="right")
    table.add_column("cooldown")
    for name in world.names():
        runs = world.runs(name)
        sources = Counter(str(run.source) for run in runs)
        acted_at = first_action(world, name)
        table.add_row(
            name,
            str(len(runs)),
            Text("\n").join(
                Text(f"{count:3} {source_words(source)}", COLOURS.get(source, ""))
                for source, count in sources.most_common()
            ),
            _gaps(world.gaps(name)),
            _clock(acted_at - START) if acted_at else "–",
            {None: "–", True: "[green]kept[/]", False: "[red]broken[/]"}[
                cooldown_kept(world, name)
            ],
        )
    return table


def _gaps(gaps: list[float]) -> str:
    if not gaps:
        return "–"
    shortest, longest = f"{min(gaps):.0f}", f"{max(gaps):.0f}"
    return f"{shortest} s" if shortest == longest else f"{shortest}–{longest} s"


def _timeline(world: World) -> Text:
    minutes = int(world.length / timedelta(minutes=1))
    counts = Counter(int((run.slot_at - START) / timedelta(minutes=1)) for run in world.all_runs())
    most = max(counts.values(), default=1)
    line = "".join(BARS[-(-counts[minute] * (len(BARS) - 1) // most)] for minute in range(minutes))
    return Text.assemble("runs a minute ", (line, "cyan"), f" {most} at most")


def _clock(passed: timedelta) -> str:
    minutes, seconds = divmod(int(passed.total_seconds()), 60)
    return f"{minutes}:{seconds:02}"
