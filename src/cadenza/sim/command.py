"""`cadenza sim`: live through a scenario in simulated time."""

import io
import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from cadenza.cli.errors import CommandError, usage
from cadenza.sim.play import Played, play, summary
from cadenza.sim.report import write_report
from cadenza.sim.scenarios import SCENARIOS, DeclaredRules, Scenario, on_rules
from cadenza.sim.terminal import show


class SimBrain(StrEnum):
    SCRIPTED = "scripted"
    RULES = "rules"


def register(app: typer.Typer, rules: DeclaredRules) -> None:
    @app.command()
    def sim(
        scenario: Annotated[str | None, typer.Argument(help="The scenario to run.")] = None,
        seed: Annotated[
            int, typer.Option(help="The random seed; the same seed gives the same result.")
        ] = 1,
        as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
        report: Annotated[
            Path | None,
            typer.Option(help="Write a report to this .html file, or a picture to a .svg file."),
        ] = None,
        brain: Annotated[
            SimBrain,
            typer.Option(help="The planner: the scenario's script, or declared rules."),
        ] = SimBrain.SCRIPTED,
        list_all: Annotated[bool, typer.Option("--list", help="List the scenarios.")] = False,
    ) -> None:
        """Run a scenario in simulated time.

        Example: cadenza sim flash-sale --report sale.html
        """
        if list_all:
            _list(as_json)
            return
        chosen = SCENARIOS.get(scenario or "")
        if chosen is None:
            problem = f"There is no scenario {scenario!r}." if scenario else "Name a scenario."
            raise usage(
                f"{problem} Choose one of: {', '.join(SCENARIOS)}\nExample: cadenza sim flash-sale"
            )
        if brain is SimBrain.RULES:
            chosen = on_rules(chosen, rules)
        played = play(chosen, seed) if as_json else _play_with_progress(chosen, seed)
        if report is not None:
            try:
                write_report(played, report)
            except OSError as error:
                why = f"The report cannot be written to {report}: {error.strerror}."
                raise CommandError(why) from error
        if as_json:
            typer.echo(json.dumps(summary(played), indent=2))
        else:
            _forgive_old_terminals()
            show(played, Console())
            if report is not None:
                typer.echo(f"Report: {report}")
        raise typer.Exit(0 if played.ok else 1)

    del sim  # registered by its decorator


def _play_with_progress(scenario: Scenario, seed: int) -> Played:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(f"Living through {scenario.name}", total=1.0)
        return play(scenario, seed, lambda done: progress.update(task, completed=done))


def _forgive_old_terminals() -> None:
    """One that cannot draw a character shows a question mark in its place, and no stack trace."""
    stdout: object = sys.stdout
    if isinstance(stdout, io.TextIOWrapper):
        stdout.reconfigure(errors="replace")


def _list(as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps([{"name": s.name, "about": s.about} for s in SCENARIOS.values()]))
        return
    width = max(len(name) for name in SCENARIOS)
    for scenario in SCENARIOS.values():
        typer.echo(f"{scenario.name:{width}}  {scenario.about}")
