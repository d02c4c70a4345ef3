"""`langgraph:` graphs, on the real library, from a langgraph.json as its users have it."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cadenza.adapters.graphs.executor import Executor, ForkingExecutor
from cadenza.adapters.graphs.sources import GraphSources, graph_environment
from cadenza.domain.graph import ErrorCode, EventKind, GraphResult, Resume
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import PROJECT, kinds, request, run

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=harness.EVERYWHERE)
async def graphs(request: pytest.FixtureRequest) -> AsyncIterator[Executor]:
    sources = GraphSources(
        files=(str(PROJECT / "langgraph.json"), "/nowhere/langgraph.json"),
        langgraph={"by:settings": "graphs:poet"},
        python=("shares_settings:address", "behaviour:environment"),
    )
    async with harness.opened(request, sources) as graphs:
        yield graphs


@pytest.mark.parametrize(
    "name", ["poet", "uncompiled", "factory", "configured", "opened", "by:settings"]
)
async def test_tokens_are_text_and_the_state_is_the_output(graphs: Executor, name: str) -> None:
    events, result = await run(graphs, request(f"langgraph:{name}", {"messages": []}))
    text = [event.data["text"] for event in events if event.kind is EventKind.TEXT_DELTA]
    assert len(text) > 1
    assert "".join(text) == "roses are red"
    assert kinds(events)[-2:] == [EventKind.FINAL, EventKind.DONE]
    (message,) = result.output["messages"]
    assert (message["type"], message["content"]) == ("ai", "roses are red")
    assert events[-2].data == {"output": result.output}


async def test_every_run_has_a_fresh_state(graphs: Executor) -> None:
    asked = request("langgraph:poet", {"messages": []})
    _, first = await run(graphs, asked)
    again = request("langgraph:poet", {"messages": []}, run_id=asked.run_id)
    _, second = await run(graphs, again)
    assert len(first.output["messages"]) == len(second.output["messages"]) == 1
    assert first.state is None


async def test_steps_are_limited(graphs: Executor) -> None:
    _, result = await run(graphs, request("langgraph:endless", {"rounds": 0}, steps=7))
    assert result.error is ErrorCode.ABORTED
    assert "limit of 7" in str(result.message)


async def test_a_stream_writer_is_heard_also_in_a_subgraph(graphs: Executor) -> None:
    events, result = await run(graphs, request("langgraph:reporter", {"rounds": 0}))
    custom = [event.data for event in events if event.kind is EventKind.CUSTOM]
    assert custom == [{"progress": 50}, {"value": "plain text"}]
    assert result.output["seen"] == ["reported"]


async def test_a_tool_is_called_and_answers_once(graphs: Executor) -> None:
    events, _ = await run(graphs, request("langgraph:agent", {"messages": []}))
    assert kinds(events) == [
        EventKind.TOOL_CALL_START,
        EventKind.TOOL_CALL_RESULT,
        EventKind.FINAL,
        EventKind.DONE,
    ]
    assert events[0].data == {"id": "call-1", "name": "weather", "arguments": {"city": "Graz"}}
    assert events[1].data == {"id": "call-1", "name": "weather", "result": "rain in Graz"}


async def test_a_structured_answer_is_the_output(graphs: Executor) -> None:
    _, result = await run(graphs, request("langgraph:typed", {"structured_response": None}))
    assert result.output == {"score": 7}


async def _answered(
    graphs: Executor, name: str, values: dict[str, Any], before: GraphResult, answer: Any
) -> GraphResult:
    assert before.state is not None
    resume = Resume(before.state, answer)
    _, result = await run(graphs, request(name, values, resume=resume))
    return result


async def test_a_graph_that_asks_waits_and_goes_on_with_the_answer(
    graphs: Executor, tmp_path: Path
) -> None:
    values = {"answer": str(tmp_path)}
    events, first = await run(graphs, request("langgraph:asker", values))
    assert kinds(events) == [EventKind.INTERRUPT, EventKind.DONE]
    assert first.question == {"ask": "publish?", "draft": "roses"}
    assert events[0].data == {"question": first.question}
    assert first.error is None
    second = await _answered(graphs, "langgraph:asker", values, first, "yes")
    assert second.question == "really?"
    third = await _answered(graphs, "langgraph:asker", values, second, "sure")
    assert third.question is None
    assert third.state is None
    assert third.output["seen"][-2:] == ["asked:yes", "again:sure"]
    assert (tmp_path / "prepared").read_text() == "x"  # what was done is not done again


async def test_two_questions_at_once_are_answered_by_their_ids(graphs: Executor) -> None:
    _, first = await run(graphs, request("langgraph:pair", {"rounds": 0}))
    answers = {item["id"]: item["question"] + "!" for item in first.question}
    assert len(answers) == 2
    result = await _answered(graphs, "langgraph:pair", {}, first, answers)
    assert sorted(result.output["seen"]) == ["left:left?!", "right:right?!"]


async def test_a_breakpoint_is_a_question(graphs: Executor) -> None:
    _, first = await run(graphs, request("langgraph:stops_before", {"rounds": 0}))
    assert first.question == {"before": ["loop"]}
    second = await _answered(graphs, "langgraph:stops_before", {}, first, None)
    assert second.question == {"before": ["loop"]}


async def test_a_state_that_is_too_large_to_keep_is_an_error(graphs: Executor) -> None:
    _, result = await run(graphs, request("langgraph:big", {"text": ""}))
    assert result.error is ErrorCode.ABORTED
    assert "can be kept" in str(result.message)


@pytest.mark.parametrize("state", [b"", b"rubbish", b"\x93\x01\x02\x03", b"\x80", b"\xc1"])
async def test_a_state_that_is_rubbish_is_an_invalid_request(
    graphs: Executor, state: bytes
) -> None:
    asked = request("langgraph:pair", {"rounds": 0}, resume=Resume(state, "x"))
    _, result = await run(graphs, asked)
    assert result.error is ErrorCode.INVALID_REQUEST


async def test_what_is_broken_is_named(graphs: Executor) -> None:
    known = graphs.graphs()
    assert "RuntimeError: no network" in str(known["langgraph:import"])
    assert "sys.exit" in str(known["langgraph:exit"])
    assert "nothing" in str(known["langgraph:missing"])
    assert "cannot be read" in str(known["langgraph:/nowhere/langgraph.json"])
    assert known["langgraph:poet"] is None


@pytest.mark.parametrize("graph_id", ["langgraph:captured", "python:shares_settings:address"])
async def test_a_client_made_at_import_sees_the_address_of_its_run(
    graphs: Executor, graph_id: str
) -> None:
    """Two at once, each with an address of its own."""
    addresses = ["http://127.0.0.1:1/v1", "http://127.0.0.1:2/v1"]
    asked = [
        request(graph_id, {"x": 1}, environment={"OPENAI_BASE_URL": address})
        for address in addresses
    ]
    answers = await asyncio.gather(*(run(graphs, one) for one in asked))
    for address, (_, result) in zip(addresses, answers, strict=True):
        told = result.output if isinstance(result.output, str) else result.output["own"]
        assert told == address
        if isinstance(result.output, dict):
            assert result.output["imported"] == address


async def test_variables_of_the_file_are_there(graphs: Executor) -> None:
    _, result = await run(graphs, request("python:behaviour:environment"))
    assert result.output["FROM_THE_FILE"] == "yes"


async def test_a_compiled_graph_says_what_it_takes() -> None:
    sources = GraphSources(files=(str(PROJECT / "langgraph.json"),))
    graphs = ForkingExecutor(sources, graph_environment([], harness.ENVIRONMENT))
    await graphs.start()
    try:
        schemas = graphs.input_schemas()
        assert "messages" in schemas["langgraph:poet"]["properties"]
        assert "langgraph:factory" not in schemas  # it would have to be called
        assert not set(schemas) - set(graphs.graphs())
    finally:
        await graphs.close()
