"""Between the frames of a child and the words of the domain. A child may send anything."""

import base64
from collections.abc import Iterator, Mapping
from typing import Any, cast

from cadenza.adapters.graphs import link
from cadenza.adapters.graphs.python_graphs import OWN_KINDS
from cadenza.domain.graph import ErrorCode, EventKind, GraphEvent, GraphRequest, GraphResult

MAX_MESSAGE = 4000


def go_frame(request: GraphRequest) -> bytes:
    resume = request.resume
    state = base64.b64encode(resume.state).decode() if resume else None
    message = {
        "run_id": str(request.run_id),
        "graph_id": request.graph_id,
        "attempt": request.attempt,
        "slot_at": request.slot_at.isoformat() if request.slot_at else None,
        "input": dict(request.input),
        "steps": request.limits.steps,
        "environment": dict(request.environment),
        "resume": {"state": state, "answer": resume.answer} if resume else None,
    }
    return link.frame(message)


def understood(message: Mapping[str, Any]) -> GraphEvent | GraphResult:
    if "event" not in message:
        return _result(message)
    kind, data = message["event"], message.get("data")
    is_known = isinstance(kind, str) and kind in {*OWN_KINDS, EventKind.USAGE}
    if not is_known or not isinstance(data, dict):
        raise link.Rubbish(f"an event {str(kind)[:100]!r}")
    return GraphEvent(EventKind(kind), cast(dict[str, Any], data))


def closing(result: GraphResult) -> Iterator[GraphEvent]:
    """The events that every stream ends with."""
    if result.error is not None:
        data = {"code": result.error.value, "message": result.message}
        yield GraphEvent(EventKind.ERROR, data)
    elif result.state is not None:
        yield GraphEvent(EventKind.INTERRUPT, {"question": result.question})
    else:
        yield GraphEvent(EventKind.FINAL, {"output": result.output})
    yield GraphEvent(EventKind.DONE)


def _result(message: Mapping[str, Any]) -> GraphResult:
    if "output" in message:
        return GraphResult(output=message["output"])
    if "question" in message:
        return GraphResult(question=message["question"], state=_state(message.get("state")))
    code, text = message.get("error"), message.get("message")
    if not isinstance(code, str) or code not in set(ErrorCode) or not isinstance(text, str):
        raise link.Rubbish("neither an event nor a result")
    return GraphResult(error=ErrorCode(code), message=text[:MAX_MESSAGE])


def _state(text: Any) -> bytes:
    try:
        state = base64.b64decode(text, validate=True)
    except (TypeError, ValueError) as error:
        raise link.Rubbish("a question without a state") from error
    if len(state) > link.MAX_STATE:
        raise link.Rubbish(f"a state of {len(state)} bytes")
    return state
