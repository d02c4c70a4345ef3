"""Graphs: user code that runs in a child process, what is asked of it and what it answers."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from cadenza.domain.errors import InvalidInput

DEFAULT_TIME = timedelta(minutes=10)
MAX_TIME = timedelta(hours=24)
DEFAULT_MEMORY_MB = 512
MAX_INPUT_BYTES = 65_536
MIN_MEMORY_MB, MAX_MEMORY_MB = 32, 1_048_576
MAX_STEPS = 10_000
MAX_CALLS = 1_000_000
MAX_TOKENS = 10**12
MAX_LIMIT_CREDITS = 10**15
MAX_CPUS, MAX_GPUS = 1024, 64
_GRAPH_ID = re.compile(r"[a-z][a-z0-9_-]{0,31}:[^\s\x00-\x1f\x7f]{1,200}")


class EventKind(StrEnum):
    TEXT_DELTA = "text_delta"  # {"text"}
    TOOL_CALL_START = "tool_call_start"  # {"id", "name", "arguments"}
    TOOL_CALL_RESULT = "tool_call_result"  # {"id", "name", "result"}
    USAGE = "usage"  # {"model", "input_tokens", …}: by the gateway, never by the child
    CUSTOM = "custom"  # whatever the graph's own stream writer sends
    INTERRUPT = "interrupt"  # {"question"}: the run ends, and waits for a person
    FINAL = "final"  # {"output"}
    ERROR = "error"  # {"code", "message"}
    DONE = "done"  # exactly once, and last


class ErrorCode(StrEnum):
    INVALID_REQUEST = "invalid_request"
    NOT_FOUND = "not_found"
    TIMEOUT = "timeout"
    ABORTED = "aborted"  # cancelled, replaced, or a limit of its owner was reached
    RATE_LIMIT = "rate_limit"
    INSUFFICIENT_CREDITS = "insufficient_credits"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    WORKER_LOST = "worker_lost"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class GraphLimits:
    """What one run may use; None: no limit but the account's credits."""

    time: timedelta = DEFAULT_TIME
    memory_mb: int = DEFAULT_MEMORY_MB
    steps: int = 25  # supersteps of a graph; the library's own default is 10,007
    calls: int | None = None  # of models
    tokens: int | None = None
    credits: int | None = None
    # Asked of a cluster, and with either of them memory_mb; a worker without one runs it anyway.
    cpus: float | None = None
    gpus: float | None = None


@dataclass(frozen=True, slots=True)
class GraphCaller:
    """On whose behalf, and at whose cost. Names, and no credential."""

    tenant_id: UUID
    user_id: UUID
    grant_id: UUID
    account_id: UUID


@dataclass(frozen=True, slots=True)
class Resume:
    """The answer of a person to a run that waits, and the state that was kept for it."""

    state: bytes
    answer: Any


@dataclass(frozen=True, slots=True)
class GraphRequest:
    run_id: UUID
    graph_id: str
    input: Mapping[str, Any]
    caller: GraphCaller
    limits: GraphLimits = field(default_factory=GraphLimits)
    slot_at: datetime | None = None
    attempt: int = 1
    resume: Resume | None = None
    schedule_id: UUID | None = None  # whose run it is: its charges say so
    endpoint_id: UUID | None = None
    environment: Mapping[str, str] = field(default_factory=dict[str, str])  # the gateway's address


@dataclass(frozen=True, slots=True)
class GraphEvent:
    kind: EventKind
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True)
class GraphResult:
    """How a run ended: with an output, with a question, or with an error."""

    output: Any = None
    error: ErrorCode | None = None
    message: str | None = None
    last_lines: str = ""  # of what the child printed
    question: Any = None
    state: bytes | None = None  # kept only where there is a question


def name_of(graph_id: str) -> str:
    return graph_id.partition(":")[2]


def check_graph_id(graph_id: str, path: str = "graph_id") -> None:
    if not _GRAPH_ID.fullmatch(graph_id):
        fix = "provider:name, such as langgraph:poet or python:shop.jobs:digest"
        raise InvalidInput(path, graph_id, fix)


def model_of(values: Mapping[str, Any]) -> str | None:
    """The model that an input asks for; its price must be known."""
    model = values.get("model")
    return model if isinstance(model, str) else None


def check_size(path: str, value: Any) -> None:
    """Of what a graph is given."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
    except (RecursionError, ValueError) as error:  # of a file: a request is read strictly
        fix = (
            "it cannot be written as JSON: no NaN, no infinity, no half character, no endless nest"
        )
        raise InvalidInput(path, "(an object)", fix) from error
    if size > MAX_INPUT_BYTES:
        raise InvalidInput(path, f"{size} bytes", f"at most {MAX_INPUT_BYTES} bytes of JSON")


def check_limits(limits: GraphLimits) -> None:
    if not timedelta(seconds=1) <= limits.time <= MAX_TIME:
        raise InvalidInput("limits.time", str(limits.time), "from 1 second to 24 hours")
    _check_between("memory_mb", limits.memory_mb, MIN_MEMORY_MB, MAX_MEMORY_MB)
    _check_between("steps", limits.steps, 1, MAX_STEPS)
    _check_between("calls", limits.calls, 1, MAX_CALLS)
    _check_between("tokens", limits.tokens, 1, MAX_TOKENS)
    _check_between("credits", limits.credits, 1, MAX_LIMIT_CREDITS)
    _check_between("cpus", limits.cpus, 0, MAX_CPUS)
    _check_between("gpus", limits.gpus, 0, MAX_GPUS)
    if limits.gpus is not None and limits.gpus > 1 and limits.gpus % 1:
        raise InvalidInput("limits.gpus", limits.gpus, "a part of one, like 0.5, or whole ones")


def _check_between(name: str, value: float | None, least: int, most: int) -> None:
    if value is not None and not least <= value <= most:
        raise InvalidInput(f"limits.{name}", value, f"from {least:,} to {most:,}")
