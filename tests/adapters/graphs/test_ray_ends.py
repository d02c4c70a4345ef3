"""How a worker on a cluster ends, and how one does not even start."""

import asyncio
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cadenza.adapters.graphs.executor import Executor
from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from cadenza.adapters.graphs.ray.host import SILENCE
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.errors import InstallationError
from cadenza.domain.graph import ErrorCode
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import PATIENCE, gone, request, start
from tests.adapters.graphs.ray_cluster import RayCluster, started
from tests.ports import free_port

pytestmark = pytest.mark.ray


async def test_closing_ends_every_run(cluster: RayCluster, tmp_path: Path) -> None:
    options, sources = ClusterOptions(cluster.address), harness.behaviours("touch")
    graphs = Executor(ClusterChildren(options, sources, harness.ENVIRONMENT))
    await graphs.start()
    asked = request("touch", {"path": str(tmp_path / "pid"), "seconds": 600})
    running = asyncio.create_task(graphs.run_graph(asked, start).final())
    await harness.written(tmp_path / "pid")
    await graphs.close()
    assert (await running).error is ErrorCode.ABORTED
    await gone(int((tmp_path / "pid").read_text()))


async def test_a_worker_killed_with_9_takes_its_runs_along(
    cluster: RayCluster, tmp_path: Path
) -> None:
    script = "tests.adapters.graphs.ray_worker_script"
    command = [sys.executable, "-m", script, cluster.address, str(tmp_path / "pid")]
    root = Path(__file__).parents[3]
    with subprocess.Popen(command, cwd=root) as worker:  # noqa: ASYNC220
        (pid,) = await harness.written(tmp_path / "pid")
        worker.kill()
    assert await gone(pid) < SILENCE * 2


async def test_a_cluster_that_goes_away_loses_its_runs_and_is_used_again_when_it_is_back(
    tmp_path: Path,
) -> None:
    port = free_port()
    options, sources = (
        ClusterOptions(f"ray://127.0.0.1:{port}"),
        harness.behaviours("echo", "touch"),
    )
    graphs = Executor(ClusterChildren(options, sources, harness.ENVIRONMENT))
    with started(port):
        await graphs.start()
        asked = request("touch", {"path": str(tmp_path / "pid"), "seconds": 600})
        running = asyncio.create_task(graphs.run_graph(asked, start).final())
        (pid,) = await harness.written(tmp_path / "pid")
    async with asyncio.timeout(PATIENCE):
        assert (await running).error is ErrorCode.WORKER_LOST
        await gone(pid)
    with started(port):
        async with asyncio.timeout(PATIENCE * 2):
            while not await graphs.ready():  # noqa: ASYNC110 — it connects when it can
                await asyncio.sleep(0.1)
            _, result = await harness.run(graphs, request("echo", {"n": 1}))
            await graphs.close()
    assert result.output == {"n": 1}


async def test_an_address_where_nothing_listens_is_named_in_bounded_time() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"ray://127.0.0.1:{closed.getsockname()[1]}"
        graphs = Executor(ClusterChildren(ClusterOptions(address), GraphSources(), {}))
        async with asyncio.timeout(PATIENCE):
            with pytest.raises(InstallationError, match=f"nothing answers at {address}"):
                await graphs.start()


async def test_something_else_than_ray_is_named_in_bounded_time() -> None:
    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server, asyncio.timeout(PATIENCE * 2):
        address = f"ray://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        graphs = Executor(ClusterChildren(ClusterOptions(address), GraphSources(), {}))
        with pytest.raises(InstallationError, match=address):
            await graphs.start()
