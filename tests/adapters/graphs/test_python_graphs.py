"""`python:` graphs and the promises of the port, with real children."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from cadenza.adapters.graphs.executor import Executor
from cadenza.adapters.graphs.sources import ALWAYS, GraphSources, graph_environment
from cadenza.domain.errors import InstallationError
from cadenza.domain.graph import ErrorCode, EventKind
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import gone, kinds, request, run, start

pytestmark = pytest.mark.asyncio(loop_scope="module")
NAMES = ["echo", "blocking_echo", "with_context", "digest", "numbers", "environment"]
NAMES += ["descriptors", "touch", "returns_odd_values", "forges", "provider_fails", "missing"]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=harness.EVERYWHERE)
async def graphs(request: pytest.FixtureRequest) -> AsyncIterator[Executor]:
    secret = {"CADENZA_DATABASE_URL": "postgresql://secret", "OTHER": "secret", "SHOWN": "yes"}
    environment = graph_environment(["SHOWN"], {**harness.ENVIRONMENT, **secret})
    async with harness.opened(request, harness.behaviours(*NAMES), environment) as graphs:
        yield graphs


@pytest.mark.parametrize("name", ["echo", "blocking_echo"])
async def test_a_callable_gets_the_input_and_returns_the_output(
    graphs: Executor, name: str
) -> None:
    events, result = await run(graphs, request(name, {"city": "Graz"}))
    assert result.output == {"city": "Graz"}
    assert result.error is None
    assert kinds(events) == [EventKind.FINAL, EventKind.DONE]


async def test_a_callable_of_two_parameters_gets_the_context(graphs: Executor) -> None:
    asked = request("with_context")
    _, result = await run(graphs, asked)
    assert result.output == {"run": str(asked.run_id), "attempt": 1, "slot_at": None}


async def test_what_a_generator_yields_are_events_and_the_last_is_the_output(
    graphs: Executor,
) -> None:
    events, result = await run(graphs, request("digest"))
    assert [event.data for event in events[:3]] == [
        {"text": "three "},
        {"progress": 1},
        {"id": "1", "name": "look", "arguments": {}},
    ]
    custom = EventKind.CUSTOM
    assert kinds(events) == [
        EventKind.TEXT_DELTA,
        custom,
        EventKind.TOOL_CALL_START,
        custom,  # a usage of its own making is no usage
        custom,
        EventKind.FINAL,
        EventKind.DONE,
    ]
    assert result.output == {"count": 3}


async def test_a_generator_that_is_not_async_streams_too(graphs: Executor) -> None:
    events, _ = await run(graphs, request("numbers", {"to": 3}))
    assert [event.data for event in events[:-2]] == [{"number": n} for n in range(3)]


async def test_nothing_of_the_worker_leaks_into_the_environment(
    graphs: Executor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CADENZA_DATABASE_URL", "postgresql://secret")
    asked = request("environment", environment={"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
    _, result = await run(graphs, asked)
    assert result.output["SHOWN"] == "yes"
    assert result.output["OPENAI_BASE_URL"] == "http://127.0.0.1:1/v1"
    own = {"SHOWN", "LC_CTYPE", "OPENAI_BASE_URL", "CUDA_VISIBLE_DEVICES"}
    assert set(result.output) <= {*ALWAYS, *own}
    assert "secret" not in str(result.output)


async def test_settings_of_cadenza_cannot_be_handed_on() -> None:
    with pytest.raises(InstallationError, match="CADENZA_KEY"):
        graph_environment(["CADENZA_KEY"], {"CADENZA_KEY": "x"})


async def test_a_child_holds_no_descriptor_of_the_fork_server(graphs: Executor) -> None:
    _, result = await run(graphs, request("descriptors"))
    sockets = [name for name in result.output if name.startswith("socket:")]
    pipes = {name for name in result.output if name.startswith("pipe:")}
    assert len(sockets) == 3  # its channel, and the loop's own pair
    assert len(pipes) == 1  # what it prints


@pytest.mark.parametrize("graph_id", ["python:os:system", "python:behaviour", "ray:x", "x:y:z"])
async def test_an_unknown_graph_is_not_found_before_anything_starts(
    graphs: Executor, graph_id: str
) -> None:
    started: list[str] = []

    async def before_start() -> None:
        started.append(graph_id)

    stream = graphs.run_graph(request(graph_id), before_start)
    events = [event async for event in stream.events()]
    result = await stream.final()
    assert result.error is ErrorCode.NOT_FOUND
    assert graph_id in str(result.message)
    assert kinds(events) == [EventKind.ERROR, EventKind.DONE]
    assert started == []


async def test_a_broken_graph_is_named_and_does_not_hide_the_others(
    graphs: Executor,
) -> None:
    known = graphs.graphs()
    assert "no attribute 'missing'" in str(known["python:behaviour:missing"])
    assert known["python:behaviour:echo"] is None
    _, result = await run(graphs, request("missing"))
    assert result.error is ErrorCode.INTERNAL
    assert "could not be loaded" in str(result.message)


async def test_an_input_that_is_no_json_is_invalid(graphs: Executor) -> None:
    _, result = await run(graphs, request("echo", {"x": object()}))
    assert result.error is ErrorCode.INVALID_REQUEST


async def test_odd_values_become_json_that_a_database_takes(graphs: Executor) -> None:
    _, result = await run(graphs, request("returns_odd_values"))
    expected = {"nan": None, "bytes": "x", "nul": "a\ufffdb", "lone": "?", "1": [2]}
    assert result.output == expected


async def test_final_alone_runs_it_to_its_end(graphs: Executor) -> None:
    stream = graphs.run_graph(request("digest"), start)
    assert (await stream.final()).output == {"count": 3}
    assert (await stream.final()).output == {"count": 3}


async def test_usage_that_a_child_claims_is_ignored(graphs: Executor) -> None:
    claim = {"event": "usage", "data": {"input_tokens": 0}}
    events, result = await run(graphs, request("forges", {"message": claim}))
    assert kinds(events) == [EventKind.FINAL, EventKind.DONE]
    assert result.output == "done"


@pytest.mark.parametrize(
    "message",
    [
        {"event": "done", "data": {}},
        {"event": "final", "data": {"output": 1}},
        {"event": "text_delta", "data": "text"},
        {"event": ["text_delta"], "data": {}},
        {"event": {}, "data": {}},
        {"error": "no such code", "message": "x"},
        {"error": ["internal"], "message": "x"},
        {"question": "?", "state": "no base64!"},
        {},
        [],
    ],
)
async def test_a_forged_message_ends_the_run_and_done_comes_once(
    graphs: Executor, message: object
) -> None:
    events, result = await run(graphs, request("forges", {"message": message}))
    assert result.error is ErrorCode.INTERNAL
    assert "rubbish" in str(result.message)
    assert kinds(events) == [EventKind.ERROR, EventKind.DONE]


async def test_sources_survive_the_way_to_the_fork_server() -> None:
    sources = GraphSources(("a",), {"b": "c:d"}, ("e:f",), ("/g",), entry_points=False)
    assert GraphSources.from_json(sources.as_json()) == sources


async def test_it_answers_while_it_is_up(graphs: Executor) -> None:
    assert await graphs.ready()


async def test_a_child_that_ran_is_gone_when_its_end_is_told(
    graphs: Executor, tmp_path: object
) -> None:
    path = f"{tmp_path}/pid"
    await run(graphs, request("touch", {"path": path}))
    with open(path) as file:  # noqa: ASYNC230
        assert await gone(int(file.read())) < harness.PATIENCE


async def test_a_stream_is_read_once(graphs: Executor) -> None:
    stream = graphs.run_graph(request("echo"), start)
    await stream.final()
    with pytest.raises(RuntimeError):
        await anext(aiter(stream.events()))


async def test_many_runs_at_once_do_not_mix(graphs: Executor) -> None:
    answers = await asyncio.gather(*(run(graphs, request("echo", {"n": n})) for n in range(20)))
    assert [result.output for _, result in answers] == [{"n": n} for n in range(20)]


async def test_what_a_provider_answers_is_the_code_of_the_run(graphs: Executor) -> None:
    _, result = await run(graphs, request("provider_fails", {"status": 503}))
    assert result.error is ErrorCode.PROVIDER_UNAVAILABLE
    body = {"error": {"type": "insufficient_credits"}}
    _, result = await run(graphs, request("provider_fails", {"status": 403, "body": body}))
    assert result.error is ErrorCode.INSUFFICIENT_CREDITS
