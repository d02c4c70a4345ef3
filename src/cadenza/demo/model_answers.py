"""What the example provider answers: a verse about what it was asked, in the shape of each API."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

Json = dict[str, Any]
_VERSE = "The hour is kept, the bell is small, a word on {topic} for one and all."
_SENT = ("system", "instructions", "messages", "input", "tools")
_DIMENSIONS = 8


@dataclass(frozen=True, slots=True)
class Answer:
    model: str
    words: tuple[str, ...]
    input_tokens: int
    cached_tokens: int = 0  # of them
    texts: int = 1  # to embed
    tells_usage: bool = False  # in a stream of chat completions, only where it was asked for

    @property
    def text(self) -> str:
        return " ".join(self.words)

    @property
    def pieces(self) -> list[str]:
        return [word if number == 0 else f" {word}" for number, word in enumerate(self.words)]

    @property
    def output_tokens(self) -> int:
        return len(self.words)


@dataclass(frozen=True, slots=True)
class Api:
    whole: Callable[[Answer], Json]
    events: Callable[[Answer], list[bytes]]

    def answer(self, body: Json) -> Answer:
        sent = [word for name in _SENT for word in _words(body.get(name))]
        model = str(body.get("model"))
        cached = 1 if sent and model.endswith("-cached") else 0
        options = cast("Json", body.get("stream_options") or {})
        if self is EMBEDDINGS:
            return Answer(model, (), len(sent), texts=_texts(body.get("input")))
        verse = _VERSE.format(topic=sent[-1].strip(".,;:!?") if sent else "nothing").split()
        limit = int(body.get("max_tokens") or len(verse))
        tells_usage = options.get("include_usage") is True
        return Answer(model, tuple(verse[:limit]), len(sent), cached, tells_usage=tells_usage)


def _words(value: Any) -> list[str]:
    """Of every text in it; a number is a word of a text that the client made tokens of."""
    if isinstance(value, str):
        return value.split()
    if isinstance(value, int):
        return [str(value)]
    if isinstance(value, dict):
        fields = cast("Json", value).items()
        return [w for name, item in fields if name not in ("role", "type") for w in _words(item)]
    return [word for item in cast("list[Any]", value or []) for word in _words(item)]


def _texts(value: Any) -> int:
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return 1 if items and isinstance(items[0], int) else len(items)


def _event(data: Json, name: str | None = None) -> bytes:
    head = f"event: {name}\n" if name else ""
    return f"{head}data: {json.dumps(data)}\n\n".encode()


def _chat_usage(answer: Answer) -> Json:
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": answer.input_tokens + answer.output_tokens,
        "prompt_tokens_details": {"cached_tokens": answer.cached_tokens},
    }


def _chat(answer: Answer) -> Json:
    message = {"role": "assistant", "content": answer.text}
    return {
        **_chat_head(answer, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": _chat_usage(answer),
    }


def _chat_head(answer: Answer, kind: str) -> Json:
    return {"id": "chatcmpl-example", "object": kind, "created": 0, "model": answer.model}


def _chat_events(answer: Answer) -> list[bytes]:
    head = _chat_head(answer, "chat.completion.chunk")
    deltas: list[tuple[Json, str | None]] = [({"role": "assistant", "content": ""}, None)]
    deltas += [({"content": piece}, None) for piece in answer.pieces]
    deltas.append(({}, "stop"))
    events = [
        _event({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})
        for delta, reason in deltas
    ]
    if answer.tells_usage:
        events.append(_event({**head, "choices": [], "usage": _chat_usage(answer)}))
    return [*events, b"data: [DONE]\n\n"]


def _response(answer: Answer) -> Json:
    content = {"type": "output_text", "text": answer.text, "annotations": list[Any]()}
    output = {"id": "msg-example", "type": "message", "role": "assistant", "status": "completed"}
    return {
        "id": "resp-example",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": answer.model,
        "output": [{**output, "content": [content]}],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": answer.input_tokens,
            "input_tokens_details": {
                "cached_tokens": answer.cached_tokens,
                "cache_write_tokens": 0,
            },
            "output_tokens": answer.output_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": answer.input_tokens + answer.output_tokens,
        },
    }


def _response_events(answer: Answer) -> list[bytes]:
    whole = _response(answer)
    begun: Json = {**whole, "status": "in_progress", "output": [], "usage": None}
    at: Json = {"item_id": "msg-example", "output_index": 0, "content_index": 0, "logprobs": []}
    item: Json = {**whole["output"][0], "status": "in_progress", "content": []}
    part: Json = {"type": "output_text", "text": "", "annotations": []}
    bodies: list[Json] = [
        {"type": "response.created", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {**at, "type": "response.content_part.added", "part": part},
        *({**at, "type": "response.output_text.delta", "delta": piece} for piece in answer.pieces),
        {**at, "type": "response.output_text.done", "text": answer.text},
        {"type": "response.output_item.done", "output_index": 0, "item": whole["output"][0]},
        {"type": "response.completed", "response": whole},
    ]
    return [
        _event({**body, "sequence_number": number}, body["type"])
        for number, body in enumerate(bodies)
    ]


def _embeddings(answer: Answer) -> Json:
    vector = [1.0, *([0.0] * (_DIMENSIONS - 1))]
    data = [
        {"object": "embedding", "index": index, "embedding": vector}
        for index in range(answer.texts)
    ]
    usage = {"prompt_tokens": answer.input_tokens, "total_tokens": answer.input_tokens}
    return {"object": "list", "data": data, "model": answer.model, "usage": usage}


def _message_usage(answer: Answer, output_tokens: int) -> Json:
    return {
        "input_tokens": answer.input_tokens - answer.cached_tokens,
        "cache_read_input_tokens": answer.cached_tokens,
        "cache_creation_input_tokens": 0,
        "output_tokens": output_tokens,
    }


def _message(answer: Answer) -> Json:
    return {
        "id": "msg-example",
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": [{"type": "text", "text": answer.text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": _message_usage(answer, answer.output_tokens),
    }


def _message_events(answer: Answer) -> list[bytes]:
    begun: Json = {**_message(answer), "content": [], "stop_reason": None}
    begun["usage"] = _message_usage(answer, 1)
    block = {"type": "text", "text": ""}
    ended = {"stop_reason": "end_turn", "stop_sequence": None}
    bodies: list[Json] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "ping"},
        *(
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": p}}
            for p in answer.pieces
        ),
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": ended,
            "usage": {"output_tokens": answer.output_tokens, "input_tokens": None},
        },
        {"type": "message_stop"},
    ]
    return [_event(body, body["type"]) for body in bodies]


EMBEDDINGS = Api(_embeddings, lambda answer: [_event(_embeddings(answer))])
APIS = {
    "/v1/chat/completions": Api(_chat, _chat_events),
    "/v1/responses": Api(_response, _response_events),
    "/v1/embeddings": EMBEDDINGS,
    "/v1/messages": Api(_message, _message_events),
}
