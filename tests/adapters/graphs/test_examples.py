"""The graphs of examples/graphs, as a worker loads them."""

import json
from pathlib import Path

from aiohttp import web

from cadenza.adapters.graphs.executor import ForkingExecutor
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.domain.graph import EventKind
from tests.adapters.graphs import harness
from tests.adapters.graphs.harness import request, run

EXAMPLES = Path(__file__).parents[3] / "examples" / "graphs"


async def _model(asked: web.Request) -> web.StreamResponse:
    assert asked.headers["Authorization"] == "Bearer token-of-the-run"
    answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await answer.prepare(asked)
    for word in ("the ", "sea"):
        choice = {"index": 0, "delta": {"role": "assistant", "content": word}}
        chunk = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        data = json.dumps({**chunk, "choices": [choice]})
        await answer.write(f"data: {data}\n\n".encode())
    await answer.write(b"data: [DONE]\n\n")
    return answer


async def test_the_examples_run() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", _model)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    sources = GraphSources(files=(str(EXAMPLES / "langgraph.json"),), python=("digest:digest",))
    graphs: ForkingExecutor = harness.executor(sources)
    await graphs.start()
    try:
        address = f"http://127.0.0.1:{port}/v1"
        gateway = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "token-of-the-run"}
        asked = request("langgraph:poet", {"topic": "the sea"}, environment=gateway)
        events, poem = await run(graphs, asked)
        texts = [event.data["text"] for event in events if event.kind is EventKind.TEXT_DELTA]
        assert (texts, poem.error) == (["the ", "sea"], None)
        assert poem.output == {"topic": "the sea", "poem": "the sea"}
        _, digest = await run(graphs, request("python:digest:digest", {"lines": ["a b", "a"]}))
        assert digest.output == {"lines": 2, "words": 3, "most": {"a": 2, "b": 1}}
    finally:
        await graphs.close()
        await runner.cleanup()
