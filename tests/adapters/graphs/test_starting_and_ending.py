"""The two phases of a start, and every way a run is ended from outside."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from cadenza.adapters.graphs.executor import Executor
from cadenza.domain.graph import ErrorCode, EventKind, GraphEvent
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import PATIENCE, gone, kinds, request, run, start

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=harness.EVERYWHERE)
async def graphs(request: pytest.FixtureRequest) -> AsyncIterator[Executor]:
    async with harness.opened(
        request, harness.behaviours("echo", "touch", "hangs", "blocks")
    ) as graphs:
        yield graphs


async def test_no_code_of_the_user_runs_before_the_start_is_stored(
    graphs: Executor, tmp_path: Path
) -> None:
    path = tmp_path / "touched"
    allowed = asyncio.Event()
    asked = asyncio.Event()

    async def before_start() -> None:
        asked.set()
        await allowed.wait()
        assert not path.exists()

    stream = graphs.run_graph(request("touch", {"path": str(path)}), before_start)
    async with asyncio.timeout(PATIENCE):
        finished = asyncio.create_task(stream.final())
        await asked.wait()
        await run(graphs, request("echo"))  # another child lives and dies meanwhile
        assert not path.exists()
        allowed.set()
        assert (await finished).error is None
    assert path.exists()


async def test_what_before_start_raises_comes_out_of_final_and_nothing_ran(
    graphs: Executor, tmp_path: Path
) -> None:
    path = tmp_path / "touched"

    async def before_start() -> None:
        raise LookupError("the epoch is old")

    stream = graphs.run_graph(request("touch", {"path": str(path)}), before_start)
    async with asyncio.timeout(PATIENCE):
        events = [event async for event in stream.events()]
        with pytest.raises(LookupError, match="the epoch is old"):
            await stream.final()
    assert kinds(events) == [EventKind.DONE]
    assert not path.exists()


@pytest.mark.parametrize("name", ["hangs", "blocks"])
async def test_a_cancelled_run_is_killed_and_aborted(graphs: Executor, name: str) -> None:
    asked = request(name)
    stream = graphs.run_graph(asked, start)
    events: list[GraphEvent] = []
    async with asyncio.timeout(PATIENCE):
        async for event in stream.events():
            events.append(event)
            if event.kind is EventKind.TEXT_DELTA:
                await graphs.cancel(asked.run_id)
        result = await stream.final()
    assert result.error is ErrorCode.ABORTED
    assert kinds(events) == [EventKind.TEXT_DELTA, EventKind.ERROR, EventKind.DONE]


async def test_a_run_cancelled_before_its_start_is_stored_runs_nothing(
    graphs: Executor, tmp_path: Path
) -> None:
    path = tmp_path / "touched"
    asked = request("touch", {"path": str(path)})

    async def before_start() -> None:
        await graphs.cancel(asked.run_id)

    stream = graphs.run_graph(asked, before_start)
    async with asyncio.timeout(PATIENCE):
        assert (await stream.final()).error is ErrorCode.ABORTED
    assert not path.exists()


async def test_cancelling_what_does_not_run_does_nothing(graphs: Executor) -> None:
    await graphs.cancel(request("echo").run_id)


@pytest.mark.parametrize("inside", [True, False], ids=["while waiting", "between events"])
async def test_a_consumer_that_is_cancelled_takes_its_child_along(
    graphs: Executor, tmp_path: Path, inside: bool
) -> None:
    path = tmp_path / "pid"
    touched = asyncio.Event()
    stream = graphs.run_graph(request("touch", {"path": str(path), "seconds": 600}), start)

    async def consume() -> None:
        async for _ in stream.events():
            touched.set()
            if not inside:
                await asyncio.sleep(PATIENCE)

    async with asyncio.timeout(PATIENCE):
        consumer = asyncio.create_task(consume())
        await touched.wait()
        consumer.cancel()
        await asyncio.wait([consumer])
        result = await stream.final()
    assert result.error is ErrorCode.ABORTED
    await gone(int(path.read_text()))


async def test_a_consumer_that_stops_reading_ends_its_run(graphs: Executor, tmp_path: Path) -> None:
    path = tmp_path / "pid"
    stream = graphs.run_graph(request("touch", {"path": str(path), "seconds": 600}), start)
    async with asyncio.timeout(PATIENCE):
        async for _ in stream.events():
            break
        assert (await stream.final()).error is ErrorCode.ABORTED
    await gone(int(path.read_text()))


async def test_a_time_limit_ends_also_a_run_whose_consumer_is_slow(
    graphs: Executor, tmp_path: Path
) -> None:
    path = tmp_path / "pid"
    asked = request("touch", {"path": str(path), "seconds": 600}, seconds=0.2)
    stream = graphs.run_graph(asked, start)
    async with asyncio.timeout(PATIENCE):
        async for event in stream.events():
            if event.kind is EventKind.TEXT_DELTA:
                await gone(int(path.read_text()))
    assert (await stream.final()).error is ErrorCode.TIMEOUT


async def test_closing_ends_every_run(tmp_path: Path) -> None:
    path = tmp_path / "pid"
    graphs = harness.executor(harness.behaviours("touch"))
    await graphs.start()
    stream = graphs.run_graph(request("touch", {"path": str(path), "seconds": 600}), start)
    finished = asyncio.create_task(stream.final())
    async with asyncio.timeout(PATIENCE):
        await harness.written(path)
        await graphs.close()
        assert (await finished).error is ErrorCode.ABORTED
        await gone(int(path.read_text()))
        assert not await graphs.ready()
