"""A worker of its own, to be killed: it runs one graph, which leaves children, and waits."""

import asyncio
import sys

from tests.adapters.graphs import harness


async def main(path: str) -> None:
    graphs = harness.executor(harness.behaviours("leaves_children", "server"))
    await graphs.start()
    _, server = await harness.run(graphs, harness.request("server"))
    stream = graphs.run_graph(
        harness.request("leaves_children", {"path": path, "stay": True}), harness.start
    )
    async for _ in stream.events():
        sys.stdout.write(f"{server.output}\n")
        sys.stdout.flush()


asyncio.run(main(sys.argv[1]))
