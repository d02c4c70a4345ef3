"""`langgraph:` — compiled graphs, graphs to be compiled, and factories of either.

Each run has a fresh state. A saver in memory is attached because the library can interrupt only
with one; what it holds is read only where the graph did interrupt, and is all that is kept.
"""

import asyncio
import importlib
import inspect
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, cast

from cadenza.adapters.graphs import stored_state
from cadenza.adapters.graphs.failure import GraphFailed
from cadenza.adapters.graphs.json_safe import is_message
from cadenza.adapters.graphs.python_graphs import Emit, as_event
from cadenza.domain.graph import ErrorCode, EventKind

MODES = ["messages", "custom", "values", "tools"]
MAX_FACTORIES = 3  # a factory of a factory, and no endless chain


def warm() -> None:
    """One run of a graph of one node: what the library imports late is then there for all."""
    library: Any = importlib.import_module("langgraph.graph")

    async def answer(_: Any) -> dict[str, Any]:
        return {"messages": [{"role": "ai", "content": "."}]}

    builder: Any = library.StateGraph(library.MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(library.START, "answer")
    request = {"steps": 5, "run_id": "warm", "input": {"messages": ["."]}}
    loop = asyncio.new_event_loop()
    loop.run_until_complete(run(builder, request, _ignore))
    loop.close()


def _ignore(kind: EventKind, data: Mapping[str, Any]) -> None:
    """Nobody listens to a warming run."""


async def run(target: Any, request: Mapping[str, Any], emit: Emit) -> Any:
    from cadenza.adapters.graphs.child import Question  # noqa: PLC0415 — it imports us

    async with AsyncExitStack() as stack:
        config: dict[str, Any] = {"recursion_limit": request["steps"], "configurable": {}}
        graph = await _graph_of(target, config, stack)
        resume = request.get("resume")
        saver, thread = stored_state.restore(resume) if resume else (None, request["run_id"])
        graph.checkpointer = saver or stored_state.new_saver()  # this process is the run's own
        config["configurable"] = {"thread_id": thread}
        begin = await _resumed(graph, config, resume) if resume else request["input"]
        output = await _stream(graph, begin, config, emit)
        state = await graph.aget_state(config)
        if state.next or state.interrupts:
            state_bytes = stored_state.serialise(graph.checkpointer, thread)
            return Question(_question(state), state_bytes)
        return output


async def _stream(graph: Any, begin: Any, config: Mapping[str, Any], emit: Emit) -> Any:
    output: Any = None
    tools = _Tools(emit)
    async for part in graph.astream(
        begin,
        config,
        stream_mode=MODES,
        output_keys=graph.output_channels,
        durability="exit",  # nothing reads a state in between
        subgraphs=True,
        version="v2",
    ):
        kind, data = part["type"], part["data"]
        if kind == "values" and not part["ns"]:
            output = data
        elif kind == "custom":
            emit(*as_custom(data))
        elif kind == "messages":
            _message(data[0], tools, emit)
        elif kind == "tools":
            tools.event(data)
    return _structured(output)


def as_custom(data: Any) -> tuple[EventKind, Mapping[str, Any]]:
    """A stream writer's text is no text of a model: it stays the graph's own event."""
    return as_event({"value": data} if isinstance(data, str) else data)


def _message(message: Any, tools: "_Tools", emit: Emit) -> None:
    if message.type == "tool":
        tools.result(message.tool_call_id, message.name, message.content)
    elif message.type in ("ai", "AIMessageChunk") and (text := str(message.text)):
        emit(EventKind.TEXT_DELTA, {"text": text})


class _Tools:
    """Calls of tools, each result told once: it comes from the tool, and again as a message."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._names: dict[str, str] = {}
        self._announced: set[str] = set()

    def event(self, data: Mapping[str, Any]) -> None:
        call = str(data["tool_call_id"])
        if data["event"] == "tool-started":
            self._names[call] = data["tool_name"]
            start = {"id": call, "name": data["tool_name"], "arguments": data.get("input")}
            self._emit(EventKind.TOOL_CALL_START, start)
        elif data["event"] == "tool-finished":
            output = data["output"]
            result = output.content if is_message(output) else output
            self.result(call, None, result)
        elif data["event"] == "tool-error":
            self.result(call, None, {"error": data["message"]})

    def result(self, call: str, name: str | None, result: Any) -> None:
        if call not in self._announced:
            self._announced.add(call)
            name = name or self._names.get(call)
            self._emit(EventKind.TOOL_CALL_RESULT, {"id": call, "name": name, "result": result})


def _structured(output: Any) -> Any:
    """The typed answer of an agent that was asked for one; otherwise the whole state."""
    is_state = isinstance(output, Mapping)
    answer = cast(Mapping[str, Any], output).get("structured_response") if is_state else None
    return output if answer is None else answer


def _question(state: Any) -> Any:
    """What the graph asks; where several nodes ask at once, each with the id to answer it by."""
    asked = [{"id": item.id, "question": item.value} for item in state.interrupts]
    if not asked:
        return {"before": list(state.next)}  # a breakpoint of the graph's own
    return asked[0]["question"] if len(asked) == 1 else asked


async def _resumed(graph: Any, config: Mapping[str, Any], resume: Mapping[str, Any]) -> Any:
    from langgraph.types import Command  # noqa: PLC0415 — an optional dependency

    state = await graph.aget_state(config)
    if not state.interrupts:
        return None  # from a breakpoint it goes on without an answer
    return Command(resume=resume["answer"])


async def _graph_of(target: Any, config: Mapping[str, Any], stack: AsyncExitStack) -> Any:
    for _ in range(MAX_FACTORIES):
        if hasattr(target, "astream") and hasattr(target, "checkpointer"):
            return target
        if hasattr(target, "compile"):
            target = target.compile()
        elif inspect.isawaitable(target):
            target = await target
        elif hasattr(target, "__aenter__"):
            target = await stack.enter_async_context(target)
        elif callable(target):
            takes = len(inspect.signature(target).parameters)
            target = target(config) if takes else target()
            if inspect.isawaitable(target):
                target = await target
    if hasattr(target, "astream") and hasattr(target, "checkpointer"):
        return target
    what = f"a {type(target).__name__} is neither a graph of LangGraph nor makes one"
    raise GraphFailed(ErrorCode.INTERNAL, what)
