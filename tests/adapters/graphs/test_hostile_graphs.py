"""Whatever a graph does ends as a result with its code; the server and a neighbour go on."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.executor import Executor
from cadenza.domain.graph import ErrorCode, EventKind
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import gone, kinds, request, run, start

pytestmark = pytest.mark.asyncio(loop_scope="module")
# name, input, seconds, code, in the message, in the last lines
HOSTILE: list[tuple[str, dict[str, Any], float, ErrorCode, str, str]] = [
    ("raises", {}, 60, ErrorCode.INTERNAL, "ValueError: no such city", "about to fail"),
    ("hangs", {}, 0.3, ErrorCode.TIMEOUT, "not done within", ""),
    ("blocks", {}, 0.3, ErrorCode.TIMEOUT, "not done within", ""),
    ("eats_memory", {}, 60, ErrorCode.ABORTED, "more than 256 MB", ""),
    ("asks_for_everything", {}, 60, ErrorCode.ABORTED, "more memory than its limit", ""),
    ("forks_and_eats", {}, 60, ErrorCode.ABORTED, "more than 256 MB", ""),
    ("exits", {}, 60, ErrorCode.INTERNAL, "sys.exit(3)", ""),
    ("exits_at_once", {"code": 0}, 60, ErrorCode.INTERNAL, "exit code 0", "going"),
    ("exits_at_once", {"code": 7}, 60, ErrorCode.INTERNAL, "exit code 7", "going"),
    ("crashes", {}, 60, ErrorCode.INTERNAL, "SIGSEGV", "crashing"),
    ("forks_without_end", {}, 60, ErrorCode.ABORTED, "256 processes and threads", ""),
    ("thousand_threads", {}, 60, ErrorCode.ABORTED, "256 processes and threads", ""),
    ("prints_noise", {}, 0.5, ErrorCode.TIMEOUT, "not done within", "noise noise"),
    ("endless", {}, 0.5, ErrorCode.TIMEOUT, "not done within", ""),
    ("huge_event", {}, 60, ErrorCode.ABORTED, "an event of the graph has", ""),
    ("huge_output", {}, 60, ErrorCode.ABORTED, "an output of the graph has", ""),
    ("closes_its_channel", {}, 60, ErrorCode.INTERNAL, "SIGKILL", ""),
    ("writes_rubbish", {"hex": "ff" * 64}, 60, ErrorCode.INTERNAL, "rubbish", ""),
    ("writes_rubbish", {"hex": "00000003" + "7b7b7b"}, 60, ErrorCode.INTERNAL, "rubbish", ""),
    ("writes_rubbish", {"hex": "00000003" + "fffefd"}, 60, ErrorCode.INTERNAL, "rubbish", ""),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=harness.EVERYWHERE)
async def graphs(request: pytest.FixtureRequest) -> AsyncIterator[Executor]:
    names = {name for name, *_ in HOSTILE} | {"server", "echo", "leaves_children"}
    async with harness.opened(request, harness.behaviours(*sorted(names))) as graphs:
        yield graphs


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def neighbour(graphs: Executor) -> AsyncIterator["asyncio.Task[Any]"]:
    stream = graphs.run_graph(request("hangs", seconds=3600), start)
    task = asyncio.create_task(stream.final())
    yield task
    task.cancel()


@pytest.mark.parametrize(
    ("name", "values", "seconds", "code", "message", "lines"),
    HOSTILE,
    ids=[f"{name}-{n}" for n, (name, *_) in enumerate(HOSTILE)],
)
async def test_a_hostile_graph_ends_as_an_error_and_harms_nobody(
    graphs: Executor,
    neighbour: "asyncio.Task[Any]",
    name: str,
    values: dict[str, Any],
    seconds: float,
    code: ErrorCode,
    message: str,
    lines: str,
) -> None:
    _, before = await run(graphs, request("server"))
    events, result = await run(graphs, request(name, values, seconds=seconds))
    assert result.error is code
    assert message in str(result.message)
    assert lines in result.last_lines
    assert result.output is None
    assert kinds(events)[-2:] == [EventKind.ERROR, EventKind.DONE]
    assert kinds(events).count(EventKind.DONE) == 1
    assert events[-2].data == {"code": code.value, "message": result.message}
    _, after = await run(graphs, request("server"))
    assert after.output == before.output
    assert not neighbour.done()


async def test_only_the_last_lines_are_kept(graphs: Executor) -> None:
    _, result = await run(graphs, request("prints_noise", seconds=0.5))
    assert 0 < len(result.last_lines) <= 4096
    assert len(result.last_lines.splitlines()) <= 20


async def test_events_are_counted(graphs: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "MAX_EVENTS", 50)
    events, result = await run(graphs, request("endless"))
    assert result.error is ErrorCode.ABORTED
    assert "more than 50 events" in str(result.message)
    assert len(events) == 52


@pytest.mark.parametrize("stay", [False, True], ids=["it returns", "it is cancelled"])
async def test_what_a_graph_starts_ends_with_it_wherever_it_hides(
    graphs: Executor, tmp_path: Path, stay: bool
) -> None:
    path = tmp_path / "pids"
    asked = request("leaves_children", {"path": str(path), "stay": stay})
    stream = graphs.run_graph(asked, start)
    async with asyncio.timeout(harness.PATIENCE):
        async for event in stream.events():
            if stay and event.kind is EventKind.CUSTOM:
                pids = [int(pid) for pid in path.read_text().split()]
                await asyncio.sleep(0.2)  # several looks of the watchdog: a living run keeps them
                assert all(map(harness.is_alive, pids[:3]))
                await graphs.cancel(asked.run_id)
    pids = [int(pid) for pid in path.read_text().split()]
    assert len(pids) == 4
    await gone(*pids)
    assert harness.is_alive(os.getpid())
