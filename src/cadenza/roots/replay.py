"""`cadenza replay`, with the brains that it can ask."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import typer

from cadenza.adapters.system.clock import SystemClock
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.gateway import Prices
from cadenza.replay import command
from cadenza.replay.command import ReplayBrain
from cadenza.roots.brain import llm_brain, rules_brain
from cadenza.roots.planner_limits import llm_prices
from cadenza.roots.settings import read_settings


@asynccontextmanager
async def _opened_brain(kind: ReplayBrain) -> AsyncGenerator[tuple[Brain, Prices | None]]:
    if kind is ReplayBrain.RULES:
        yield rules_brain(), None
        return
    settings = read_settings()
    async with aclosing(llm_brain(settings)) as model:
        yield model, llm_prices(settings, SystemClock())


cli = typer.Typer()
command.register(cli, _opened_brain)
