"""Graphs of LangGraph for the tests. Their model answers from a list, without a network."""

import os
from contextlib import asynccontextmanager
from operator import add
from typing import Annotated, TypedDict

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.config import get_stream_writer
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import interrupt


class Steps(TypedDict, total=False):
    seen: Annotated[list[str], add]
    rounds: int
    answer: str


async def _write(state):
    model = GenericFakeChatModel(messages=iter([AIMessage("roses are red")]))
    answer = await model.ainvoke([HumanMessage("a poem")])
    return {"messages": [answer]}


_poet = StateGraph(MessagesState)
_poet.add_node("write", _write)
_poet.add_edge(START, "write")
_poet.add_edge("write", END)
# The saver of its own would remember earlier runs.
poet = _poet.compile(checkpointer=InMemorySaver())
uncompiled = _poet


def factory():
    return _poet.compile()


def configured_factory(config):
    assert "configurable" in config
    return _poet


@asynccontextmanager
async def opened_factory(config):
    yield _poet.compile()


async def _loop(state):
    return {"rounds": state.get("rounds", 0) + 1}


_endless = StateGraph(Steps)
_endless.add_node("loop", _loop)
_endless.add_edge(START, "loop")
_endless.add_edge("loop", "loop")
endless = _endless.compile()


async def _report(state):
    write = get_stream_writer()
    write({"progress": 50})
    write("plain text")
    return {"seen": ["reported"]}


_inner = StateGraph(Steps)
_inner.add_node("report", _report)
_inner.add_edge(START, "report")
_outer = StateGraph(Steps)
_outer.add_node("inner", _inner.compile())
_outer.add_edge(START, "inner")
reporter = _outer.compile()


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


def _ask_tool(state):
    call = {"name": "weather", "args": {"city": "Graz"}, "id": "call-1"}
    return {"messages": [AIMessage("", tool_calls=[call])]}


_agent = StateGraph(MessagesState)
_agent.add_node("model", _ask_tool)
_agent.add_node("tools", ToolNode([weather]))
_agent.add_edge(START, "model")
_agent.add_edge("model", "tools")
agent = _agent.compile()


def _prepare(state):
    with open(os.path.join(state["answer"], "prepared"), "a") as file:
        file.write("x")
    return {"seen": ["prepared"]}


def _ask(state):
    first = interrupt({"ask": "publish?", "draft": "roses"})
    return {"seen": [f"asked:{first}"]}


def _ask_again(state):
    return {"seen": [f"again:{interrupt('really?')}"]}


_asker = StateGraph(Steps)
_asker.add_node("prepare", _prepare)
_asking = StateGraph(Steps)
_asking.add_node("ask", _ask)
_asking.add_edge(START, "ask")
_asker.add_node("ask", _asking.compile())
_asker.add_node("again", _ask_again)
_asker.add_edge(START, "prepare")
_asker.add_edge("prepare", "ask")
_asker.add_edge("ask", "again")
asker = _asker.compile()

_pair = StateGraph(Steps)
_pair.add_node("left", lambda _: {"seen": [f"left:{interrupt('left?')}"]})
_pair.add_node("right", lambda _: {"seen": [f"right:{interrupt('right?')}"]})
_pair.add_edge(START, "left")
_pair.add_edge(START, "right")
pair = _pair.compile()
stops_before = _endless.compile(interrupt_before=["loop"])


class Big(TypedDict, total=False):
    text: str


_big = StateGraph(Big)
_big.add_node("grow", lambda _: {"text": "x" * 2**21})
_big.add_node("ask", lambda _: {"text": interrupt("?")})
_big.add_edge(START, "grow")
_big.add_edge("grow", "ask")
big = _big.compile()


class Structured(TypedDict, total=False):
    structured_response: dict


_typed = StateGraph(Structured)
_typed.add_node("answer", lambda _: {"structured_response": {"score": 7}})
_typed.add_edge(START, "answer")
typed = _typed.compile()
