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
from cadenza.demo.shop import Shop, part_of_story, served
from cadenza.demo.stage import Stage, scaled
from cadenza.demo.story import Line, line_of, summary
from cadenza.demo.telling import AtItsEnd, InLines, OnTerminal, Telling, say
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
        length: Annotated[str, typer.Option(help="How long it takes, from 15s to 1h.")] = "150s",
        as_json: Annotated[
            bool, typer.Option("--json", help="Only print a JSON object at the end.")
        ] = False,
    ) -> None:
        """Watch a schedule tighten, act and relax, and why: a small shop, a rush of visitors.

        A local HTTP service, the real scheduler, planner and governor, in real time with short
        intervals; nothing is stored and nothing outside this machine is called. The link that it
        prints opens the score of it in a browser. The jobs and rules are in examples/demo.yaml.

        Example: cadenza demo --length 60s
        """
        lasts = _length(length)
        job = scaled(example_job(), lasts / FULL_LENGTH)
        story = Story(job, new_brain(), lasts, open_dashboard)
        with closing(_telling(story, as_json)) as telling:
            asyncio.run(play(story, telling))

    del demo  # registered by its decorator


def _telling(story: Story, as_json: bool) -> Telling:
    if as_json:
        return AtItsEnd()
    console = Console()
    say(_opening(story), console)
    return OnTerminal(console, story.lasts) if console.is_terminal else InLines(console)


async def play(story: Story, telling: Telling) -> None:
    """The whole story, told a few times a second; then it stays for who has opened the score."""
    loop = asyncio.get_running_loop()
    began, lines = loop.time(), list[Line]()

    def passed() -> timedelta:
        return timedelta(seconds=loop.time() - began)

    lasts, baselines = story.lasts, {each.name: each.baseline for each in story.job.endpoints}
    shop = Shop(lambda: passed() / lasts)

    def hear(event: Event) -> None:
        lines.append(line_of(event, passed(), baselines))

    async with served(shop) as address:
        stage = Stage(story.job, story.brain, address, hear)
        async with stage.playing(), story.open_dashboard(stage) as dashboard:
            telling.begin(dashboard.link)
            while passed() < lasts:
                telling.show(stage, part_of_story(passed() / lasts), passed(), lines)
                await asyncio.sleep(_REFRESH.total_seconds())
            stays = dashboard.was_opened()
            telling.end(summary(stage, lines), stays=stays)
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
