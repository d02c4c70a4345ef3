"""`cadenza replay`: another brain, or other rules, over the recorded history."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from cadenza.application.ports.brain import Brain
from cadenza.application.ports.gateway import Prices
from cadenza.cli.client import Api
from cadenza.cli.commands import command
from cadenza.cli.context import CliContext
from cadenza.cli.errors import CommandError, usage
from cadenza.cli.output import Output
from cadenza.cli.terminal_text import plain
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import BrainFailed
from cadenza.replay.compare import Comparison, compare_brain
from cadenza.replay.history import History
from cadenza.replay.life import FAILURES_IN_A_ROW, Life
from cadenza.replay.purse import Purse
from cadenza.replay.recorded import JobFile, Limit, Responses, Since, Source
from cadenza.replay.view import picture, show


class ReplayBrain(StrEnum):
    RULES = "rules"
    LLM = "llm"


Opened = AbstractAsyncContextManager[tuple[Brain, Prices | None]]
OpenBrain = Callable[[ReplayBrain], Opened]


def replay(
    open_brain: OpenBrain,
    api: Api,
    out: Output,
    context: CliContext,
    endpoint: Annotated[str | None, typer.Argument(help="One endpoint: job/name.")] = None,
    job: Annotated[str | None, typer.Option(help="Replay all endpoints of a job.")] = None,
    brain: Annotated[ReplayBrain, typer.Option(help="The brain to run.")] = ReplayBrain.RULES,
    since: Since = "7d",
    file: JobFile = None,
    limit: Limit = 500,
    responses: Responses = None,
    svg: Annotated[Path | None, typer.Option(help="Also draw a picture to this SVG file.")] = None,
    sessions: Annotated[
        int,
        typer.Option(
            min=1,
            max=10_000,
            help="With --brain llm: hold at most so many; each asks the model 1 to 20 times.",
        ),
    ] = 50,
) -> None:
    """Replay recorded history through a brain or other rules. Changes nothing.

    Beside what was recorded stand the plain baselines and the brain: probes used, and how long
    after it was known each change was seen. Nothing is written. With --brain llm a look is a
    session that costs tokens, which no quota counts: it ends after --sessions of them, and says
    what they cost.

    Example: cadenza replay shop/queue --since 7d -f other-rules.yaml
    """
    name, _, only = (endpoint or job or "").partition("/")
    if not name or (endpoint is not None and not only) or (endpoint and job):
        raise usage("Name an endpoint like shop/queue, or give --job shop")
    source = Source(api, out, context, since, limit, file, responses)
    wanted = source.job(name)
    names = [endpoint.name for endpoint in wanted.endpoints]
    if only and only not in names:
        raise usage(f"{plain(name)} has no endpoint {plain(only)!r}; it has {', '.join(names)}")
    histories = source.histories(wanted)
    compared, purse = [only] if only else names, Purse(sessions)
    with out.working(f"Living through the answers of {name} again"):
        comparisons, life = asyncio.run(
            _replayed(wanted, histories, open_brain(brain), compared, purse)
        )
    if svg is not None:
        try:
            svg.write_text(picture(comparisons), encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{svg} cannot be written: {error.strerror}") from error
    show(comparisons, life, purse, out)


async def _replayed(
    job: JobDefinition,
    histories: Mapping[str, History],
    opened_brain: Opened,
    names: list[str],
    purse: Purse,
) -> tuple[list[Comparison], Life]:
    try:
        async with opened_brain as (brain, purse.prices):
            return await compare_brain(job, histories, brain, names, purse)
    except BrainFailed as error:
        raise CommandError(
            f"The replay ended: {error.reason}, {FAILURES_IN_A_ROW} times in a row. "
            f"It had cost {purse}. Check the CADENZA_LLM settings, or try again later"
        ) from error


def register(app: typer.Typer, open_brain: OpenBrain) -> None:
    command(app, "replay", is_read_in_logs=True)(partial(replay, open_brain))
