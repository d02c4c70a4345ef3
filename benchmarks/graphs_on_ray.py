"""Graphs on a Ray cluster of two nodes on this machine: `make test-ray` installs what it needs.

python -m benchmarks.graphs_on_ray
"""

import asyncio
import json
import os
from dataclasses import replace
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter
from uuid import uuid4

from cadenza.adapters.graphs.executor import Executor, ForkingExecutor
from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from cadenza.adapters.graphs.sources import GraphSources, graph_environment
from cadenza.domain.graph import EventKind, GraphCaller, GraphLimits, GraphRequest
from tests.adapters.graphs.ray_cluster import started

PROJECT = Path(__file__).parent.parent / "tests" / "adapters" / "graphs" / "project"
CALLER = GraphCaller(uuid4(), uuid4(), uuid4(), uuid4())
RUNS, FEWER = 200, 20


async def main() -> dict[str, object]:
    sources = GraphSources(python=("behaviour:digest", "behaviour:hangs"), paths=(str(PROJECT),))
    environment = graph_environment([], os.environ)
    with started() as cluster:
        options = ClusterOptions(cluster.address)
        on_ray = await _measured(Executor(ClusterChildren(options, sources, environment)), True)
    return {"on_ray": on_ray, "here": await _measured(ForkingExecutor(sources, environment), False)}


async def _measured(graphs: Executor, with_seats: bool) -> dict[str, object]:
    await graphs.start()
    try:
        for _ in range(FEWER):
            await _run(graphs, _request("digest"))
        times = [await _run(graphs, _request("digest")) for _ in range(RUNS)]
        figures = {
            "first_event_ms": _spread([first for first, _ in times]),
            "result_ms": _spread([result for _, result in times]),
            "cancel_ms": _spread([await _cancel(graphs) for _ in range(FEWER)]),
        }
        if with_seats:
            limits = GraphLimits(cpus=0.5)
            asked = [replace(_request("digest"), run_id=uuid4(), limits=limits)] * FEWER
            firsts = [(await _run(graphs, request))[0] for request in asked]
            figures["first_event_with_resources_ms"] = _spread(firsts)
        return figures
    finally:
        await graphs.close()


async def _run(graphs: Executor, request: GraphRequest) -> tuple[float, float]:
    began, first = perf_counter(), 0.0
    stream = graphs.run_graph(request, _start)
    async for _ in stream.events():
        first = first or perf_counter() - began
    assert (await stream.final()).error is None
    return first, perf_counter() - began


async def _cancel(graphs: Executor) -> float:
    """Until the child, and all that it started, is gone."""
    request, seconds = _request("hangs"), 0.0
    async for event in graphs.run_graph(request, _start).events():
        if event.kind is EventKind.TEXT_DELTA:
            began = perf_counter()
            await graphs.cancel(request.run_id)
            seconds = perf_counter() - began
    return seconds


async def _start() -> None:
    pass


def _request(name: str) -> GraphRequest:
    return GraphRequest(uuid4(), f"python:behaviour:{name}", {}, CALLER)


def _spread(seconds: list[float]) -> dict[str, float]:
    p95 = quantiles(seconds, n=20)[-1]
    return {"p50": round(median(seconds) * 1000, 1), "p95": round(p95 * 1000, 1)}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main()), indent=2))
