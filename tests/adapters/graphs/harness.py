"""What the tests of the graph executor share: requests, and looking at processes."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.graphs.executor import Executor, ForkingExecutor
from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from cadenza.adapters.graphs.sources import GraphSources, graph_environment
from cadenza.domain.graph import (
    EventKind,
    GraphCaller,
    GraphEvent,
    GraphLimits,
    GraphRequest,
    GraphResult,
    Resume,
)

PROJECT = Path(__file__).parent / "project"
CALLER = GraphCaller(uuid4(), uuid4(), uuid4(), uuid4())
PATIENCE = 60  # seconds; only a failing test needs them
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/tmp"}  # noqa: TID251 — a worker is started with it


def behaviours(*names: str, **more: Any) -> GraphSources:
    python = tuple(f"behaviour:{name}" for name in names)
    return GraphSources(python=python, paths=(str(PROJECT),), **more)


def executor(
    sources: GraphSources, environment: Mapping[str, str] = ENVIRONMENT
) -> ForkingExecutor:
    return ForkingExecutor(sources, graph_environment([], environment))


def request(
    name: str,
    values: Mapping[str, Any] | None = None,
    *,
    seconds: float = PATIENCE,
    memory_mb: int = 256,
    steps: int = 25,
    cpus: float | None = None,
    gpus: float | None = None,
    resume: Resume | None = None,
    environment: Mapping[str, str] | None = None,
    run_id: UUID | None = None,
) -> GraphRequest:
    graph_id = name if ":" in name else f"python:behaviour:{name}"
    limits = GraphLimits(timedelta(seconds=seconds), memory_mb, steps, cpus=cpus, gpus=gpus)
    return GraphRequest(
        run_id or uuid4(),
        graph_id,
        values or {},
        CALLER,
        limits,
        resume=resume,
        environment=environment or {},
    )


# The promises of the port hold on this machine and on a cluster; `make test-ray` runs the latter.
EVERYWHERE = ["here", pytest.param("ray", marks=pytest.mark.ray)]


@asynccontextmanager
async def opened(
    where: pytest.FixtureRequest,
    sources: GraphSources,
    environment: Mapping[str, str] | None = None,
) -> AsyncIterator[Executor]:
    if environment is None:
        environment = graph_environment([], ENVIRONMENT)
    if where.param == "ray":
        options = ClusterOptions(where.getfixturevalue("cluster").address)
        graphs = Executor(ClusterChildren(options, sources, environment))
    else:
        graphs = ForkingExecutor(sources, environment)
    await graphs.start()
    try:
        yield graphs
    finally:
        await graphs.close()


async def start() -> None:
    """A start that nobody has anything against."""


async def run(graphs: Executor, asked: GraphRequest) -> tuple[list[GraphEvent], GraphResult]:
    async with asyncio.timeout(PATIENCE):
        stream = graphs.run_graph(asked, start)
        events = [event async for event in stream.events()]
        return events, await stream.final()


def kinds(events: list[GraphEvent]) -> list[EventKind]:
    return [event.kind for event in events]


async def written(path: Path) -> list[int]:
    """The process ids that a graph writes there, when it has."""
    async with asyncio.timeout(PATIENCE):
        while not (pids := _pids(path)):  # noqa: ASYNC110 — another process writes
            await asyncio.sleep(0.005)
    return pids


def _pids(path: Path) -> list[int]:
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


async def gone(*pids: int) -> float:
    """Seconds until none of them lives; fails where one goes on."""
    began = time.monotonic()
    async with asyncio.timeout(PATIENCE):
        while any(map(is_alive, pids)):  # noqa: ASYNC110 — of processes that are not ours
            await asyncio.sleep(0.002)
    return time.monotonic() - began
