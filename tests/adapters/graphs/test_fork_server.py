"""What happens when the fork server or the whole worker dies."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cadenza.adapters.graphs.executor import ForkingExecutor
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.errors import InstallationError
from cadenza.domain.graph import ErrorCode
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import PATIENCE, gone, request, run, start

ROOT = Path(__file__).parents[3]
SOON = 5.0  # seconds; milliseconds on a machine that has nothing else to do


async def test_a_lost_server_ends_its_runs_as_errors_and_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    graphs = harness.executor(harness.behaviours("touch", "kills_the_server", "echo", "server"))
    await graphs.start()
    other = graphs.run_graph(request("touch", {"path": str(path), "seconds": 600}), start)
    ended = asyncio.create_task(other.final())
    async with asyncio.timeout(PATIENCE):
        await harness.written(path)
        _, killer = await run(graphs, request("kills_the_server"))
        result = await ended
    assert killer.error is ErrorCode.INTERNAL
    assert result.error is ErrorCode.INTERNAL
    assert "was lost" in str(result.message)
    await gone(int(path.read_text()))
    _, again = await run(graphs, request("echo", {"n": 1}))
    assert again.output == {"n": 1}
    assert await graphs.ready()
    await graphs.close()


async def test_a_server_that_stands_still_is_killed_with_its_runs() -> None:
    graphs = harness.executor(harness.behaviours("stops_the_server", "echo"))
    await graphs.start()
    _, result = await run(graphs, request("stops_the_server", seconds=0.2))
    assert result.error is ErrorCode.TIMEOUT
    _, again = await run(graphs, request("echo", {"n": 1}))
    assert again.output == {"n": 1}
    await graphs.close()


async def test_a_graph_whose_import_ends_the_process_is_named_and_the_others_load() -> None:
    sources = GraphSources(
        python=("broken_end:graph", "behaviour:echo"), paths=(str(harness.PROJECT),)
    )
    graphs = harness.executor(sources)
    await graphs.start()
    known = graphs.graphs()
    assert known["python:broken_end:graph"] == "importing it ended the whole process"
    _, result = await run(graphs, request("echo", {"n": 1}))
    assert result.output == {"n": 1}
    await graphs.close()


async def test_a_server_that_cannot_start_is_an_error_and_no_endless_loop() -> None:
    graphs = ForkingExecutor(GraphSources(), {"PYTHONHOME": "/nowhere"})
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(InstallationError, match="before it is up"):
            await graphs.start()
        await graphs.close()


@pytest.mark.parametrize("victim", ["worker", "guardian", "server"])
async def test_kill_9_leaves_nothing_behind(tmp_path: Path, victim: str) -> None:
    path = tmp_path / "pids"
    environment = {**harness.ENVIRONMENT, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"}
    worker = subprocess.Popen(  # noqa: ASYNC220
        [sys.executable, "-m", "tests.adapters.graphs.worker_script", str(path)],
        stdout=subprocess.PIPE,
        env=environment,
        cwd=ROOT,
    )
    with worker:
        assert worker.stdout is not None
        server = int(await asyncio.to_thread(worker.stdout.readline))
        child, plain, session, daemon = map(int, path.read_text().split())
        guardian = harness.parent_of(server)
        victims = {"worker": worker.pid, "guardian": guardian, "server": server}
        os.kill(victims[victim], signal.SIGKILL)
        try:  # also those in sessions of their own
            assert await gone(server, guardian, child, plain, session, daemon) < SOON
        finally:
            for pid in (worker.pid, session, daemon):
                if harness.is_alive(pid):
                    os.kill(pid, signal.SIGKILL)
