"""`cadenza planner eval`, with the model that the settings name, or another."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import typer

from cadenza.adapters.system.clock import SystemClock
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.gateway import Prices
from cadenza.replay.evaluation import command
from cadenza.roots.brain import llm_brain
from cadenza.roots.planner_limits import llm_prices
from cadenza.roots.settings import read_settings


@asynccontextmanager
async def _opened_model(
    model: str | None, prompt: str | None
) -> AsyncGenerator[tuple[Brain, Prices]]:
    settings = read_settings()
    if model is not None:
        settings = settings.model_copy(update={"llm_model": model})
    async with aclosing(llm_brain(settings, prompt)) as brain:
        yield brain, llm_prices(settings, SystemClock())


cli = typer.Typer()
command.register(cli, _opened_model)
