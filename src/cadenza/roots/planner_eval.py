"""`cadenza planner eval`, with the model that the settings name, or another."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import typer

from cadenza.application.ports.brain import Brain
from cadenza.replay.evaluation import command
from cadenza.roots.brain import llm_brain
from cadenza.roots.settings import read_settings


@asynccontextmanager
async def _opened_model(model: str | None, prompt: str | None) -> AsyncGenerator[Brain]:
    settings = read_settings()
    if model is not None:
        settings = settings.model_copy(update={"llm_model": model})
    async with aclosing(llm_brain(settings, prompt)) as brain:
        yield brain


cli = typer.Typer()
command.register(cli, _opened_model)
