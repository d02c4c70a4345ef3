"""`cadenza demo`: see in two and a half minutes what an adaptive schedule does."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any

import typer
from rich.console import Console, Group
from rich.live import Live

from cadenza.application.ports.brain import Brain
from cadenza.demo.shop import CALM, Shop, part_of_story, served
from cadenza.demo.stage import Stage, scaled
from cadenza.demo.story import Line, clock, line_of, summary
from cadenza.demo.view import picture, summed_up
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Every
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import humanize
from cadenza.manifest.durations import parse_duration

FULL_LENGTH = timedelta(seconds=150)
SHORTEST = timedelta(seconds=15)
_REFRESH = timedelta(milliseconds=250)
Show = Callable[[Stage, str, timedelta, list[Line]], None]


@dataclass(frozen=True, slots=True)
class Story:
    job: JobDefinition
    brain: Brain
    lasts: timedelta


def register(
    app: typer.Typer, new_brain: Callable[[], Brain], example_job: Callable[[], JobDefinition]
) -> None:
    @app.command()
    def demo(
        length: Annotated[str, typer.Option(help="How long it takes, from 15s to 1h.")] = "150s",
        as_json: Annotated[
            bool, typer.Option("--json", help="Only print a JSON object at the end.")
        ] = False,
    ) -> None:
        """Watch a schedule tighten, act and relax, and why: a small shop, a rush of visitors.

        A local HTTP service, the real scheduler, planner and governor, in real time with short
        intervals; nothing is stored and nothing outside this machine is called. The jobs and
        rules are in examples/demo.yaml.

        Example: cadenza demo --length 60s
        """
        lasts = _length(length)
        job = scaled(example_job(), lasts / FULL_LENGTH)
        story = Story(job, new_brain(), lasts)
        console = Console()
        if as_json:
            outcome = asyncio.run(play(story, lambda _stage, _part, _passed, _lines: None))
            typer.echo(json.dumps(outcome, indent=2))
            return
        _say(_opening(story), console)
        outcome = _play_live(story, console) if console.is_terminal else _play_in_lines(story)
        console.print(summed_up(outcome))
        _say(
            f"{len(outcome['acts'])} actions, each within your limits and with its reason. The "
            "rules: examples/demo.yaml. Next: cadenza sim flash-sale --brain rules, or cadenza up.",
            console,
        )

    del demo  # registered by its decorator


async def play(story: Story, show: Show) -> dict[str, Any]:
    """The whole story; `show` is called a few times a second."""
    loop = asyncio.get_running_loop()
    began, lines = loop.time(), list[Line]()

    def passed() -> timedelta:
        return timedelta(seconds=loop.time() - began)

    lasts = story.lasts
    shop = Shop(lambda: passed() / lasts)
    async with served(shop) as address:
        stage = Stage(
            story.job, story.brain, address, lambda event: lines.append(line_of(event, passed()))
        )
        async with stage.playing():
            while passed() < lasts:
                show(stage, part_of_story(passed() / lasts), passed(), lines)
                await asyncio.sleep(_REFRESH.total_seconds())
    return summary(stage, lines)


def _play_live(story: Story, console: Console) -> dict[str, Any]:
    whole = Group()
    with Live(console=console, refresh_per_second=4) as live:

        def show(stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> None:
            nonlocal whole
            heading = f"{clock(passed)} of {clock(story.lasts)}  {part}"
            whole = picture(stage, heading, lines)
            live.update(picture(stage, heading, lines, console))

        outcome = asyncio.run(play(story, show))
        live.update(whole)  # what had no room may scroll now
    return outcome


def _play_in_lines(story: Story) -> dict[str, Any]:
    """Without a terminal: each part of the story, and each action, as it comes."""
    printed, parts = 0, [""]

    def show(_stage: Stage, part: str, passed: timedelta, lines: list[Line]) -> None:
        nonlocal printed
        if part != parts[-1]:
            parts.append(part)
            typer.echo(f"{clock(passed)}  --- {part}{' for a while' if part == CALM else ''} ---")
        for line in lines[printed:]:
            typer.echo(str(line))
        printed = len(lines)

    return asyncio.run(play(story, show))


def _length(text: str) -> timedelta:
    try:
        lasts = parse_duration(text)
    except ValueError as error:
        raise InvalidInput("--length", text, str(error)) from error
    if not SHORTEST <= lasts <= timedelta(hours=1):
        raise InvalidInput("--length", text, "from 15s to 1h")
    return lasts


def _say(text: str, console: Console) -> None:
    console.print(text, highlight=False, soft_wrap=not console.is_terminal)


def _opening(story: Story) -> str:
    shop = next(endpoint for endpoint in story.job.endpoints if endpoint.name == "shop")
    assert isinstance(shop.baseline, Every)
    return (
        f"A shop on this machine is looked at every {humanize(shop.baseline.interval)}. "
        f"Within {humanize(story.lasts)} a rush of visitors comes and goes: "
        "see how often it is looked at, what is done, and why. Ctrl-C ends it.\n"
    )
