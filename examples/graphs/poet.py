"""`langgraph:poet`: writes a poem about {"topic": …}, token by token.

The address and the key of the model come from the environment of the run (OPENAI_BASE_URL,
OPENAI_API_KEY): Cadenza's gateway sets both, counts the tokens, and keeps the real key.
"""

from typing import TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph


class Poem(TypedDict, total=False):
    topic: str
    model: str
    poem: str


async def write(state: Poem) -> Poem:
    model = ChatOpenAI(model=state.get("model", "cadenza-poet"), streaming=True)
    answer = await model.ainvoke(f"Four lines about {state.get('topic', 'the sea')}.")
    return {"poem": str(answer.text)}


builder = StateGraph(Poem)
builder.add_node("write", write)
builder.add_edge(START, "write")
builder.add_edge("write", END)
graph = builder.compile()
