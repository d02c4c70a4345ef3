"""`cadenza replay`, with the brains that it can ask."""

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager

import typer

from cadenza.application.ports.brain import Brain
from cadenza.replay import command
from cadenza.replay.command import ReplayBrain
from cadenza.roots.brain import llm_brain, rules_brain
from cadenza.roots.settings import read_settings


@asynccontextmanager
async def _opened_brain(kind: ReplayBrain) -> AsyncGenerator[Brain]:
    if kind is ReplayBrain.RULES:
        yield rules_brain()
        return
    async with aclosing(llm_brain(read_settings())) as model:
        yield model


cli = typer.Typer()
command.register(cli, _opened_brain)
