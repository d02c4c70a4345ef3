"""`cadenza demo`, with its brain, its job and its dashboard."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from urllib.parse import quote

import typer

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import EVENTS
from cadenza.application.accounts import NewKey
from cadenza.demo import command
from cadenza.demo.dashboard import Dashboard
from cadenza.demo.stage import Stage
from cadenza.domain.access import Caller, Scope
from cadenza.roots.api import app_over
from cadenza.roots.brain import rules_brain
from cadenza.roots.examples import example_job
from cadenza.roots.memory_stores import memory_stores
from cadenza.roots.serving import served
from cadenza.roots.settings import read_settings
from cadenza.web.api.dependencies import Dependencies

# Cookies know no ports: under this name, who is signed in at 127.0.0.1 stays so.
NAME = "localhost"


@asynccontextmanager
async def opened_dashboard(stage: Stage) -> AsyncGenerator[Dashboard]:
    """Over what the demo has in memory."""
    stores = memory_stores(MemoryStores(stage.tables))
    async with app_over(read_settings(), stores, stage.clock) as app, served(app) as port:
        dependencies: Dependencies = app.state.dependencies
        streams = dependencies.around.streams
        stage.tables.listen(EVENTS, streams.wake)
        link = f"http://{NAME}:{port}{await _path_to_score(dependencies, stage)}"
        try:
            yield Dashboard(link, lambda: bool(stage.tables.sign_ins))
        finally:
            streams.end()


async def _path_to_score(dependencies: Dependencies, stage: Stage) -> str:
    """Signs somebody in who may do everything here: it is gone in a few minutes."""
    (job,) = stage.tables.jobs.values()
    tenant_id = job.job.tenant_id
    user, _ = await dependencies.tenants.create_user(tenant_id, "you")
    key, _ = await dependencies.keys.create_for(tenant_id, NewKey("demo", tuple(Scope), user.id))
    caller = Caller(tenant_id, user.id, key.id, user.name, key.scopes)
    token, _ = await dependencies.sign_ins.create_link(caller)
    return f"/sign-in/{token}?next={quote(f'/jobs/{job.job.id}?range=5m', safe='')}"


cli = typer.Typer()
command.register(cli, rules_brain, lambda: example_job("demo.yaml"), opened_dashboard)
