"""`cadenza demo`: see in two and a half minutes what an adaptive schedule does."""

import asyncio
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

import typer
from rich.console import Console

from cadenza.application.ports.brain import Brain
from cadenza.application.ports.events import Event
from cadenza.demo.dashboard import OpenDashboard
from cadenza.demo.narration import AtItsEnd, InLines, Narration, OnTerminal, say
from cadenza.demo.shop import Shop, part_of_story, served
from cadenza.demo.stage import Stage, scaled
from cadenza.demo.story import Line, line_of, summary
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Every
from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import humanize
from cadenza.manifest.durations import parse_duration

FULL_LENGTH = timedelta(seconds=150)
SHORTEST = timedelta(seconds=15)
_REFRESH = timedelta(milliseconds=250)


@dataclass(frozen=True, slots=True)
class Story:
    job: JobDefinition
    brain: Brain
    lasts: timedelta
    open_dashboard: OpenDashboard


def register(
    app: typer.Typer,
    new_brain: Callable[[], Brain],
    example_job: Callable[[], JobDefinition],
    open_dashboard: OpenDashboard,
) -> None:
    @app.command()
    def demo(
        length: Annotated[
            str, typer.Option(help="The length of the demo, from 15s to 1h.")
        ] = "150s",
        as_json: Annotated[
            bool, typer.Option("--json", help="Only print a JSON object at the end.")
        ] = False,
    ) -> None:
        """Watch a live demo: schedules adapt to a rush of visitors.

        It runs the real scheduler, planner and governor against a local HTTP service, with short
        intervals. Nothing is stored, and nothing outside this machine is called. It prints a link
        that shows the runs in a browser. The jobs and rules are in examples/demo.yaml.

        Example: cadenza demo --length 60s
        """
        lasts = _length(length)
        job = scaled(example_job(), lasts / FULL_LENGTH)
        story = Story(job, new_brain(), lasts, open_dashboard)
        with closing(_narration(story, as_json)) as narration:
            asyncio.run(play(story, narration))

    del demo  # registered by its decorator


def _narration(story: Story, as_json: bool) -> Narration:
    if as_json:
        return AtItsEnd()
    console = Console()
    say(_opening(story), console)
    return OnTerminal(console, story.lasts) if console.is_terminal else InLines(console)


async def play(story: Story, narration: Narration) -> None:
    """The whole story, told a few times a second; then it stays for who has opened the score."""
    loop = asyncio.get_running_loop()
    began, lines = loop.time(), list[Line]()

    def passed() -> timedelta:
        return timedelta(seconds=loop.time() - began)

    lasts, baselines = (
        story.lasts,
        {endpoint.name: endpoint.baseline for endpoint in story.job.endpoints},
    )
    shop = Shop(lambda: passed() / lasts)

    def hear(event: Event) -> None:
        lines.append(line_of(event, passed(), baselines))

    async with served(shop) as address:
        stage = Stage(story.job, story.brain, address, hear)
        async with stage.playing(), story.open_dashboard(stage) as dashboard:
            narration.begin(dashboard.link)
            while passed() < lasts:
                narration.show(stage, part_of_story(passed() / lasts), passed(), lines)
                await asyncio.sleep(_REFRESH.total_seconds())
            stays = dashboard.was_opened()
            narration.end(summary(stage, lines), stays=stays)
            if stays:
                await asyncio.Event().wait()  # until Ctrl-C


def _length(text: str) -> timedelta:
    try:
        lasts = parse_duration(text)
    except ValueError as error:
        raise InvalidInput("--length", text, str(error)) from error
    if not SHORTEST <= lasts <= timedelta(hours=1):
        raise InvalidInput("--length", text, "from 15s to 1h")
    return lasts


def _opening(story: Story) -> str:
    shop = next(endpoint for endpoint in story.job.endpoints if endpoint.name == "shop")
    assert isinstance(shop.baseline, Every)
    return (
        f"A shop on this machine is looked at every {humanize(shop.baseline.interval)}. "
        f"Within {humanize(story.lasts)} a rush of visitors comes and goes: "
        "see how often it is looked at, what is done, and why. Ctrl-C ends it.\n"
    )
