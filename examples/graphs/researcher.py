"""`langgraph:researcher`: looks what a wire brings about {"topic": …}, and sums it up.

It is the target of an endpoint (examples/researcher.yaml): what it returns is the response that
rules read. Where there is nothing to find no model is asked, and it costs nothing.

The wire is imaginary, so that the example needs no network: in every half hour there are ten
minutes with news. {"wire": "FILE"} reads a file instead, a story on each line.
"""

import time
from pathlib import Path
from typing import TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

# Stories in each minute of half an hour.
STORIES = [0] * 8 + [1, 2, 4, 5, 5, 4, 3, 2, 1, 1] + [0] * 12


class Research(TypedDict, total=False):
    topic: str
    model: str
    wire: str
    findings: int
    headlines: list[str]
    summary: str


def look(state: Research) -> Research:
    topic = state.get("topic", "the sea")
    if "wire" in state:
        headlines = [line for line in Path(state["wire"]).read_text().splitlines() if line]
    else:
        minute = int(time.time() // 60) % len(STORIES)
        headlines = [f"News {number + 1} of {topic}" for number in range(STORIES[minute])]
    return {"findings": len(headlines), "headlines": headlines}


def has_findings(state: Research) -> str:
    return "sum_up" if state.get("findings") else END


async def sum_up(state: Research) -> Research:
    model = ChatOpenAI(model=state.get("model", "cadenza-poet"), streaming=True)
    headlines = "\n".join(state.get("headlines", []))
    answer = await model.ainvoke(f"In one sentence, what is new?\n{headlines}")
    return {"summary": str(answer.text)}


builder = StateGraph(Research)
builder.add_node("look", look)
builder.add_node("sum_up", sum_up)
builder.add_edge(START, "look")
builder.add_conditional_edges("look", has_findings, ["sum_up", END])
builder.add_edge("sum_up", END)
graph = builder.compile()
