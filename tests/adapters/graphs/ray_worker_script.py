"""A worker of its own, to be killed while it runs a graph on a cluster."""

import asyncio
import sys

from cadenza.adapters.graphs.executor import Executor
from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from tests.adapters.graphs import harness


async def main(address: str, path: str) -> None:
    options, sources = ClusterOptions(address), harness.behaviours("touch")
    graphs = Executor(ClusterChildren(options, sources, harness.ENVIRONMENT))
    await graphs.start()
    asked = harness.request("touch", {"path": path, "seconds": 600}, seconds=3600)
    await graphs.run_graph(asked, harness.start).final()


asyncio.run(main(*sys.argv[1:]))
