"""Where graphs run: in children of this machine, or on a Ray cluster."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import structlog

from cadenza.adapters.graphs.executor import Executor, ForkingExecutor
from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from cadenza.adapters.graphs.sources import GraphSources, graph_environment
from cadenza.roots.dispatch import words
from cadenza.roots.settings import Settings

log = structlog.get_logger()


@asynccontextmanager
async def graph_executor(settings: Settings) -> AsyncGenerator[Executor]:
    sources = GraphSources(
        files=tuple(words(settings.graph_files)),
        python=tuple(words(settings.graph_functions)),
        paths=tuple(words(settings.graph_paths)),
    )
    environment = graph_environment(words(settings.graph_environment), os.environ)
    if settings.ray_address:
        options = ClusterOptions(
            settings.ray_address, settings.ray_wait_seconds, settings.ray_runtime_env
        )
        is_named = "graph_files" in settings.model_fields_set  # then it must be on every node
        there = sources if is_named else sources.present()
        executor = Executor(ClusterChildren(options, there, environment))
    else:
        executor = ForkingExecutor(sources.present(), environment)
    await executor.start()
    log.info("graphs loaded", count=len(executor.graphs()), isolation=executor.isolation)
    for graph_id, error in executor.graphs().items():
        if error is not None:
            log.warning("a graph cannot be loaded", graph=graph_id, error=error)
    try:
        yield executor
    finally:
        await executor.close()
