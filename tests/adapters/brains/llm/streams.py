"""A whole answer of each protocol as the events of a stream, in the order they come in."""

import json
from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
Event = tuple[str | None, Any]  # its name, where the protocol has names, and its data
PIECES = 4
DONE: Event = (None, "[DONE]")
PING: Event = ("ping", {"type": "ping"})


def on_the_wire(event: Event) -> bytes:
    name, data = event
    text = data if isinstance(data, str) else json.dumps(data)
    lines = (f"event: {name}\n" if name else "") + f"data: {text}\n\n"
    return lines.encode("utf-8", "surrogatepass")


def pieces(text: str) -> list[str]:
    size = max(1, -(-len(text) // PIECES))
    return [text[start : start + size] for start in range(0, len(text), size)]


def openai_events(answer: Json) -> list[Event]:
    (choice,) = answer["choices"]
    deltas = [*_openai_deltas(choice["message"]), {}]
    chunk = {key: answer[key] for key in ("id", "created", "model")}
    chunk |= {"object": "chat.completion.chunk", "usage": None}
    choices: list[Json] = [{"index": 0, "delta": delta, "finish_reason": None} for delta in deltas]
    choices[-1]["finish_reason"] = choice["finish_reason"]
    events: list[Event] = [(None, {**chunk, "choices": [choice]}) for choice in choices]
    if "usage" in answer:
        events.append((None, {**chunk, "choices": [], "usage": answer["usage"]}))
    return [*events, DONE]


def _openai_deltas(message: Json) -> Iterator[Json]:
    yield {"role": "assistant", "content": None if message.get("tool_calls") else ""}
    for field in ("content", "refusal"):
        for piece in pieces(message[field] or ""):
            yield {field: piece}
    for index, call in enumerate(message.get("tool_calls", ())):
        named = {"name": call["function"]["name"], "arguments": ""}
        yield {"tool_calls": [{**call, "index": index, "function": named}]}
        for piece in pieces(call["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def anthropic_events(answer: Json) -> list[Event]:
    usage = answer["usage"]
    begun = {**answer, "content": [], "stop_reason": None, "usage": {**usage, "output_tokens": 1}}
    ended = {"stop_reason": answer["stop_reason"], "stop_sequence": None}
    events: list[Json] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for index, block in enumerate(answer["content"]):
        events += _anthropic_block(index, block)
    used = {"output_tokens": usage["output_tokens"]}
    events.append({"type": "message_delta", "delta": ended, "usage": used})
    events.append({"type": "message_stop"})
    return [(event["type"], event) for event in events]


def _anthropic_block(index: int, block: Json) -> Iterator[Json]:
    if block["type"] == "text":
        empty = {**block, "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    else:
        empty = {**block, "input": {}}
        arguments = (
            block["input"] if isinstance(block["input"], str) else json.dumps(block["input"])
        )
        written = ["", *pieces(arguments)]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in written]
    yield {"type": "content_block_start", "index": index, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def google_events(answer: Json) -> list[Event]:
    """Google's calls come whole, each in an event."""
    (candidate,) = answer["candidates"]
    parts: list[list[Json]] = [[part] for part in candidate["content"]["parts"]] or [[]]
    chunks: list[Json] = [
        {**answer, "candidates": [{"content": {"role": "model", "parts": part}, "index": 0}]}
        for part in parts
    ]
    chunks[-1]["candidates"][0]["finishReason"] = candidate["finishReason"]
    return [(None, chunk) for chunk in chunks]


def openai_error(kind: str) -> Event:
    return None, {"error": {"message": "it broke", "type": kind, "code": None, "param": None}}


def anthropic_error(kind: str) -> Event:
    return "error", {"type": "error", "error": {"type": kind, "message": "it broke"}}


def google_error(kind: str) -> Event:
    return None, {"error": {"code": 503, "message": "it broke", "status": kind}}
