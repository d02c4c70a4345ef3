"""In the child: from the fork to the one message that says how it ended."""

import asyncio
import base64
import os
import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

from cadenza.adapters.graphs import link, python_graphs
from cadenza.adapters.graphs.cgroups import RunGroup
from cadenza.adapters.graphs.discovery import LoadedGraph
from cadenza.adapters.graphs.failure import GraphFailed, code_of, message_of
from cadenza.adapters.graphs.json_safe import plain
from cadenza.adapters.graphs.processes import die_with_parent, limit_memory
from cadenza.adapters.graphs.sources import MODEL_VARIABLES
from cadenza.adapters.graphs.watchdog import Watched
from cadenza.domain.graph import ErrorCode, EventKind


@dataclass(frozen=True, slots=True)
class Question:
    """The graph waits for a person; the state goes on from there."""

    question: Any
    state: bytes


class Emitter:
    """Where a graph's events leave the child."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def __call__(self, kind: EventKind, data: Mapping[str, Any]) -> None:
        self._send({"event": kind.value, "data": plain(data)}, link.MAX_EVENT, "an event")

    def end(self, outcome: Any) -> None:
        if isinstance(outcome, Question):
            if len(outcome.state) > link.MAX_STATE:
                size = f"{len(outcome.state)} bytes; at most {link.MAX_STATE} can be kept"
                raise GraphFailed(ErrorCode.ABORTED, f"the state of the graph has {size}")
            state = base64.b64encode(outcome.state).decode()
            message = {"question": plain(outcome.question), "state": state}
            self._send(message, link.MAX_FRAME, "a question")
        else:
            self._send({"output": plain(outcome)}, link.MAX_OUTPUT, "an output")

    def fail(self, error: BaseException) -> None:
        message = {"error": code_of(error).value, "message": message_of(error)}
        self._send(message, link.MAX_FRAME, "an error")

    def ready(self) -> None:
        self._channel.sendall(link.frame({"ready": os.getpid()}))

    def _send(self, message: Mapping[str, Any], limit: int, what: str) -> None:
        raw = link.frame(message)
        if len(raw) > limit:
            size = f"{len(raw)} bytes; at most {limit}"
            raise GraphFailed(ErrorCode.ABORTED, f"{what} of the graph has {size}")
        self._channel.sendall(raw)


def run_child(
    graph: LoadedGraph,
    channel_fd: int,
    output_fd: int,
    foreign: Sequence[int],
    server: int,
    watched: Watched,
    group: RunGroup | None,
) -> NoReturn:
    """Never returns, whatever the user's code does: the stack above is the fork server's."""
    status = 1
    try:
        os.setsid()
        die_with_parent(server)
        _own_descriptors(output_fd, foreign)
        _own_signals()
        os.set_inheritable(channel_fd, False)
        channel = socket.socket(fileno=channel_fd)
        if group is not None:
            group.join()
        limit_memory(watched.memory)
        emitter = Emitter(channel)
        emitter.ready()
        request = link.receive_frame(channel)
        if request is not None:
            _run(graph, request, emitter)
            status = 0
    except BaseException:  # noqa: BLE001 — nothing may pass into the fork server's code
        with suppress(BaseException):
            traceback.print_exc()
            sys.stderr.flush()
    finally:
        os._exit(status)


def _run(graph: LoadedGraph, request: Mapping[str, Any], emitter: Emitter) -> None:
    try:
        _own_environment(request["environment"])
        # Not asyncio.run: it would wait for threads that never end, and this process ends anyway.
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
        outcome = loop.run_until_complete(_execute(graph, request, emitter))
        _flush()
        emitter.end(outcome)
    except BaseException as error:  # noqa: BLE001 — user code: also sys.exit, and worse
        if not isinstance(error, GraphFailed):
            traceback.print_exc()
        _flush()
        emitter.fail(error)


async def _execute(graph: LoadedGraph, request: Mapping[str, Any], emitter: Emitter) -> Any:
    target = graph.for_this_run()
    if graph.graph_id.startswith("langgraph:"):
        from cadenza.adapters.graphs import langgraph_graphs  # noqa: PLC0415 — only with LangGraph

        return await langgraph_graphs.run(target, request, emitter)
    return await python_graphs.run(target, request, emitter)


def _own_descriptors(output: int, foreign: Sequence[int]) -> None:
    for fd in foreign:
        os.close(fd)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(nothing)
    os.close(output)
    # Line by line, so that the last ones are there also when it is killed.
    sys.stdout = open(1, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="replace", closefd=False)  # noqa: SIM115


def _own_environment(gateway: Mapping[str, str]) -> None:
    """No placeholder stays: one that the gateway does not set would be used as an address."""
    environment = os.environ  # noqa: TID251 — the graph's, not our settings
    for name in MODEL_VARIABLES:
        environment.pop(name, None)
    environment.update(gateway)


def _own_signals() -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        with suppress(Exception):
            stream.flush()  # type: ignore[union-attr]
