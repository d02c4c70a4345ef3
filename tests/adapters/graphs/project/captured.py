"""A client made at import, as most users have it: it must see the address of the run."""

import os

import settings_module
from langgraph.graph import START, StateGraph

ADDRESS = os.environ["OPENAI_BASE_URL"]
_builder = StateGraph(dict)
_builder.add_node("tell", lambda _: {"own": ADDRESS, "imported": settings_module.ADDRESS})
_builder.add_edge(START, "tell")
graph = _builder.compile()
