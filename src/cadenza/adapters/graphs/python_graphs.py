"""`python:` — any callable of the user: async or not, a generator or not."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from cadenza.adapters.graphs.failure import GraphFailed
from cadenza.domain.graph import ErrorCode, EventKind

Emit = Callable[[EventKind, Mapping[str, Any]], None]
OWN_KINDS = {
    EventKind.TEXT_DELTA,
    EventKind.TOOL_CALL_START,
    EventKind.TOOL_CALL_RESULT,
    EventKind.CUSTOM,
}
_END = object()


@dataclass(frozen=True, slots=True)
class RunContext:
    """The second argument, for callables that take two."""

    run_id: str
    graph_id: str
    attempt: int
    slot_at: str | None


async def run(target: Any, request: Mapping[str, Any], emit: Emit) -> Any:
    """The output: what was returned, or the last value that a generator yielded."""
    if not callable(target):
        raise GraphFailed(ErrorCode.INTERNAL, f"{type(target).__name__} cannot be called")
    if request.get("resume") is not None:
        raise GraphFailed(ErrorCode.INVALID_REQUEST, "a python graph asks no questions")
    arguments = _arguments(target, request)
    call = getattr(target, "__call__") if not inspect.isroutine(target) else target  # noqa: B004,B009
    if inspect.isasyncgenfunction(call) or inspect.iscoroutinefunction(call):
        outcome = call(*arguments)
    else:
        outcome = await asyncio.to_thread(call, *arguments)
    if inspect.isawaitable(outcome):
        outcome = await outcome
    if isinstance(outcome, AsyncIterator):
        return await _emit_all(cast(AsyncIterator[Any], outcome), emit)
    if isinstance(outcome, Iterator):
        return await _emit_all(_in_thread(cast(Iterator[Any], outcome)), emit)
    return outcome


def _arguments(target: Any, request: Mapping[str, Any]) -> tuple[Any, ...]:
    context = RunContext(
        request["run_id"], request["graph_id"], request["attempt"], request["slot_at"]
    )
    try:
        inspect.signature(target).bind(request["input"], context)
    except TypeError:
        return (request["input"],)
    except ValueError:  # a builtin that does not say what it takes
        return (request["input"],)
    return request["input"], context


async def _emit_all(values: AsyncIterator[Any], emit: Emit) -> Any:
    last: Any = None
    async for value in values:
        emit(*as_event(value))
        last = value
    return last


def as_event(value: Any) -> tuple[EventKind, Mapping[str, Any]]:
    """Text is text; {"kind", "data"} is the event that it says; all else is custom."""
    if isinstance(value, str):
        return EventKind.TEXT_DELTA, {"text": value}
    if not isinstance(value, Mapping):
        return EventKind.CUSTOM, {"value": value}
    values = cast(Mapping[str, Any], value)
    kind, data = values.get("kind"), values.get("data")
    has_form = set(values) == {"kind", "data"} and isinstance(kind, str)
    if has_form and kind in OWN_KINDS and isinstance(data, Mapping):
        return EventKind(kind), cast(Mapping[str, Any], data)
    return EventKind.CUSTOM, values


async def _in_thread(values: Iterator[Any]) -> AsyncIterator[Any]:
    """A generator that is not async may block; it says so to its own thread."""
    while (value := await asyncio.to_thread(next, values, _END)) is not _END:
        yield value
