"""What only a cluster can do to a run: lose its node, be full, be elsewhere, or not be there."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cadenza.adapters.graphs.executor import Executor
from cadenza.adapters.graphs.ray.cluster import ClusterChildren, ClusterOptions
from cadenza.adapters.graphs.ray.host import SILENCE
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.graph import ErrorCode, EventKind, GraphResult
from tests.adapters.gateway.support import KEY, staged
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import PATIENCE, gone, request, run, start
from tests.adapters.graphs.ray_cluster import RayCluster
from tests.adapters.graphs.test_examples import EXAMPLES

pytestmark = [pytest.mark.ray, pytest.mark.asyncio(loop_scope="module")]
STAY = 600  # seconds


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def graphs(cluster: RayCluster) -> AsyncIterator[Executor]:
    python = [f"behaviour:{name}" for name in ("echo", "touch", "environment", "server")]
    sources = GraphSources(
        files=(str(EXAMPLES / "langgraph.json"),),
        python=tuple(python),
        paths=(str(harness.PROJECT),),
    )
    graphs = Executor(
        ClusterChildren(ClusterOptions(cluster.address), sources, harness.ENVIRONMENT)
    )
    await graphs.start()
    yield graphs
    await graphs.close()


async def staying(graphs: Executor, path: Path, **options: float) -> "asyncio.Task[GraphResult]":
    """A run that has begun, and goes on."""
    values = {"path": str(path), "seconds": STAY}
    stream = graphs.run_graph(request("touch", values, **options), start)
    task = asyncio.create_task(stream.final())
    await harness.written(path)
    return task


async def ended(runs: list["asyncio.Task[GraphResult]"]) -> None:
    for task in runs:
        task.cancel()
    await asyncio.wait(runs)


async def test_a_run_whose_node_dies_is_lost_within_seconds_and_never_started_again(
    graphs: Executor, cluster: RayCluster, tmp_path: Path
) -> None:
    node = await asyncio.to_thread(cluster.add, gpus=2)
    paths = [tmp_path / str(number) for number in range(3)]
    async with asyncio.timeout(PATIENCE):
        doomed = await staying(graphs, paths[0], gpus=2)
        others = [await staying(graphs, path, cpus=0.5, gpus=0.2) for path in paths[1:]]
        began = time.monotonic()
        await asyncio.to_thread(cluster.kill, node)
        result = await doomed
        assert time.monotonic() - began < SILENCE
        assert result.error is ErrorCode.WORKER_LOST
        assert "it is not started again" in str(result.message)
        await gone(int(paths[0].read_text()))
        _, after = await run(graphs, request("echo", {"n": 1}))
        assert after.output == {"n": 1}
        assert not any(task.done() for task in others)
    assert [len(path.read_text().split()) for path in paths] == [1] * 3
    await ended(others)


async def test_a_host_that_dies_while_the_start_is_stored_has_run_nothing(
    graphs: Executor, tmp_path: Path
) -> None:
    path, calls = tmp_path / "touched", 0
    async with asyncio.timeout(PATIENCE):
        _, server = await run(graphs, request("server", gpus=1))
        host = harness.parent_of(harness.parent_of(server.output))  # above the guardian

        async def before_start() -> None:
            nonlocal calls
            calls += 1
            os.kill(host, signal.SIGKILL)
            await gone(host)

        stream = graphs.run_graph(request("touch", {"path": str(path)}, gpus=1), before_start)
        assert (await stream.final()).error is ErrorCode.WORKER_LOST
    assert (calls, path.exists()) == (1, False)


async def test_a_host_that_dies_is_replaced(graphs: Executor, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        lost = await staying(graphs, tmp_path / "pid", gpus=1)
        server = harness.parent_of(int((tmp_path / "pid").read_text()))
        host = harness.parent_of(harness.parent_of(server))  # above the guardian
        os.kill(host, signal.SIGKILL)
        assert (await lost).error is ErrorCode.WORKER_LOST
        _, again = await run(graphs, request("environment", gpus=1))
        assert again.output["CUDA_VISIBLE_DEVICES"] == "0"


async def test_a_run_gets_what_it_asks_for_and_waits_while_it_is_not_free(
    graphs: Executor, tmp_path: Path
) -> None:
    async with asyncio.timeout(PATIENCE):
        _, plain = await run(graphs, request("environment", cpus=1))
        assert plain.output.get("CUDA_VISIBLE_DEVICES", "") == ""
        first = request("touch", {"path": str(tmp_path / "pid"), "seconds": STAY}, gpus=1)
        holding = asyncio.create_task(graphs.run_graph(first, start).final())
        await harness.written(tmp_path / "pid")
        waiting = asyncio.create_task(run(graphs, request("environment", gpus=1)))
        _, done = await run(graphs, request("echo", {"n": 1}))  # asks for nothing
        assert done.output == {"n": 1}
        assert not waiting.done()
        await graphs.cancel(first.run_id)
        assert (await holding).error is ErrorCode.ABORTED
        _, second = await waiting
        assert second.output["CUDA_VISIBLE_DEVICES"] == "0"


async def test_what_no_node_has_is_an_error_that_says_so(
    graphs: Executor, cluster: RayCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graphs._children, "_options", ClusterOptions(cluster.address, 1))
    async with asyncio.timeout(PATIENCE):
        _, result = await run(graphs, request("echo", gpus=4))
        assert result.error is ErrorCode.INTERNAL
        assert "no node had 0 CPUs, 4 GPUs and 256 MB free within 1 s" in str(result.message)
        assert "1 GPUs" in str(result.message)


@pytest.mark.parametrize("seconds", [0, 1], ids=["at once", "while it waits"])
async def test_a_run_that_waits_for_its_place_can_be_cancelled(
    graphs: Executor, seconds: float
) -> None:
    async with asyncio.timeout(PATIENCE):
        asked = request("echo", gpus=4)
        ending = asyncio.create_task(graphs.run_graph(asked, start).final())
        await asyncio.wait({ending}, timeout=seconds)
        assert not ending.done()
        await graphs.cancel(asked.run_id)
        assert (await ending).error is ErrorCode.ABORTED


async def test_models_are_called_through_the_gateway_and_no_key_is_on_the_node(
    graphs: Executor,
) -> None:
    async with staged() as stage:
        options = {"environment": stage.environment, "gpus": 1}  # on the node that is not the head
        events, poem = await run(graphs, request("langgraph:poet", {"topic": "rain"}, **options))
        assert poem.error is None, poem
        texts = [event.data["text"] for event in events if event.kind is EventKind.TEXT_DELTA]
        assert "".join(texts) == poem.output["poem"]
        assert len(texts) > 1
        assert stage.provider.used[KEY].calls == 1
        assert stage.meter.used == stage.provider.used[KEY]
        _, seen = await run(graphs, request("environment", **options))
    assert KEY not in str(seen.output)
    assert seen.output["OPENAI_API_KEY"] == stage.token
    assert seen.output["OPENAI_BASE_URL"].startswith("http://127.0.0.1:")
    assert stage.address not in str(seen.output)


async def test_a_cancelled_run_is_dead_within_a_second(graphs: Executor, tmp_path: Path) -> None:
    async with asyncio.timeout(PATIENCE):
        asked = request("touch", {"path": str(tmp_path / "pid"), "seconds": STAY})
        ending = asyncio.create_task(graphs.run_graph(asked, start).final())
        (pid,) = await harness.written(tmp_path / "pid")
        began = time.monotonic()
        await graphs.cancel(asked.run_id)
        assert not harness.is_alive(pid)
        assert time.monotonic() - began < 1
        assert (await ending).error is ErrorCode.ABORTED
