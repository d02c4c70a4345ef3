"""The graph executor: a child for each run, of a fork server beside the worker or of a cluster."""

import asyncio
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from cadenza.adapters.graphs.child_process import LocalChildren
from cadenza.adapters.graphs.children import Children
from cadenza.adapters.graphs.fork_server import ForkServerLink
from cadenza.adapters.graphs.run_stream import RunStream
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.application.ports.graphs import BeforeStart
from cadenza.domain.graph import GraphRequest


class Executor:
    def __init__(self, children: Children) -> None:
        self._children = children
        self._runs: set[RunStream] = set()

    async def start(self) -> None:
        await self._children.start()

    @property
    def isolation(self) -> str:
        """Whether runs have control groups; else why not, and the watchdog alone limits them."""
        return self._children.isolation

    async def close(self) -> None:
        await asyncio.gather(*(run.cancel() for run in set(self._runs)))
        await self._children.close()

    async def ready(self) -> bool:
        """Whether whoever forks is up and answers."""
        return await self._children.answers()

    def run_graph(self, request: GraphRequest, before_start: BeforeStart) -> RunStream:
        """It begins when somebody reads its events, or waits for its end."""
        run = RunStream(self._children, request, before_start, self._runs.discard)
        self._runs.add(run)
        return run

    async def cancel(self, run_id: UUID) -> None:
        runs = [run for run in self._runs if run.request.run_id == run_id]
        await asyncio.gather(*(run.cancel() for run in runs))

    def graphs(self) -> Mapping[str, str | None]:
        return dict(self._children.graphs)

    def input_schemas(self) -> Mapping[str, Mapping[str, Any]]:
        return dict(self._children.schemas)


class ForkingExecutor(Executor):
    """`environment` is all that graphs see of the worker's: see `graph_environment`."""

    def __init__(self, sources: GraphSources, environment: Mapping[str, str]) -> None:
        super().__init__(LocalChildren(ForkServerLink(sources, environment)))
