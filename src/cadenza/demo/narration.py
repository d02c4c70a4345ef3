"""How the story of the demo is told: on a terminal, in lines, or as one JSON object at its end."""

import json
from datetime import timedelta
from typing import Any, Protocol

import typer
from rich.console import Console, Group
from rich.live import Live

from cadenza.demo.shop import CALM
from cadenza.demo.stage import Stage
from cadenza.demo.story import Line, clock
from cadenza.demo.view import picture, summed_up

THE_SCORE = "Its score in a browser, signed in (works once, for a minute):"
STAYS = "The score stays where it is until Ctrl-C."


class Narration(Protocol):
    def begin(self, link: str) -> None: ...

    def show(self, stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> None: ...

    def end(self, outcome: dict[str, Any], *, stays: bool) -> None: ...

    def close(self) -> None: ...


class AtItsEnd:
    """For programs."""

    def begin(self, link: str) -> None: ...

    def show(self, stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> None: ...

    def end(self, outcome: dict[str, Any], *, stays: bool) -> None:
        del stays
        typer.echo(json.dumps(outcome, indent=2))

    def close(self) -> None: ...


class InLines:
    """Without a terminal: each part of the story, and each action, as it comes."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._part = ""
        self._printed = 0

    def begin(self, link: str) -> None:
        typer.echo(f"{THE_SCORE}  {link}\n")

    def show(self, stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> None:
        del stage
        if part != self._part:
            self._part = part
            typer.echo(f"{clock(passed)}  --- {part}{' for a while' if part == CALM else ''} ---")
        for line in lines[self._printed :]:
            typer.echo(str(line))
        self._printed = len(lines)

    def end(self, outcome: dict[str, Any], *, stays: bool) -> None:
        sum_up(outcome, self._console, stays=stays)

    def close(self) -> None: ...


class OnTerminal:
    """A table that follows the schedule."""

    def __init__(self, console: Console, lasts: timedelta) -> None:
        self._console = console
        self._lasts = lasts
        self._live = Live(console=console, refresh_per_second=4)
        self._whole = Group()

    def begin(self, link: str) -> None:
        say(f"{THE_SCORE}\n[bold]{link}[/]\n", self._console)
        self._live.start()

    def show(self, stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> None:
        heading = f"{clock(passed)} of {clock(self._lasts)}  {part}"
        self._whole = picture(stage, heading, lines)
        self._live.update(picture(stage, heading, lines, self._console))

    def end(self, outcome: dict[str, Any], *, stays: bool) -> None:
        self._live.update(self._whole)  # what had no room may scroll now
        self._live.stop()
        sum_up(outcome, self._console, stays=stays)

    def close(self) -> None:
        self._live.stop()


def sum_up(outcome: dict[str, Any], console: Console, *, stays: bool) -> None:
    console.print(summed_up(outcome))
    say(
        f"{len(outcome['acts'])} actions, each within your limits and with its reason. The "
        "rules: examples/demo.yaml. Next: cadenza sim flash-sale --brain rules, or cadenza up."
        f"{' ' + STAYS if stays else ''}",
        console,
    )


def say(text: str, console: Console) -> None:
    console.print(text, highlight=False, soft_wrap=not console.is_terminal)
