"""The fork server: imports the graphs once, then forks a child for each run that is asked for.

It has one thread, no event loop and no secret. It kills what it is told to kill and what uses too
much, and when its worker is gone it ends, and everything that descends from it.
"""

import gc
import json
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from cadenza.adapters.graphs import discovery, link
from cadenza.adapters.graphs.child import run_child
from cadenza.adapters.graphs.discovery import LoadedGraph
from cadenza.adapters.graphs.input_schema import input_schema_of
from cadenza.adapters.graphs.processes import (
    adopt_orphans,
    die_with_parent,
    kill_group,
    own_children,
    resident_memory,
)
from cadenza.adapters.graphs.sources import MODEL_VARIABLES, GraphSources
from cadenza.adapters.graphs.watchdog import INTERVAL, SHARE, Watched, kill_all, look

FAREWELL_ROUNDS = 20


@dataclass(slots=True)
class Run:
    run_id: str
    watched: Watched
    why: str | None = None  # the watchdog ended it


class WorkerGone(Exception):
    pass


class ForkServer:
    def __init__(self, control: socket.socket, graphs: Mapping[str, LoadedGraph]) -> None:
        self._control = control
        self._graphs = graphs
        self._runs: dict[int, Run] = {}  # by process
        self._look_at: float | None = None
        self._inherited = resident_memory()
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)

    def serve(self) -> None:
        signal.signal(signal.SIGCHLD, _only_wake)
        signal.signal(signal.SIGTERM, _only_wake)  # the worker's end; its socket says so, too
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        try:
            while True:
                readable = [fd for fd, _ in poll.poll(self._patience_ms())]
                if self._woken in readable:
                    self._reap()
                if self._control.fileno() in readable:
                    self._obey()
                if self._look_at is not None and time.monotonic() >= self._look_at:
                    self._watch()
        except (WorkerGone, OSError):
            self._farewell()

    def _patience_ms(self) -> float | None:
        if self._look_at is None:
            return None
        return max(0.0, self._look_at - time.monotonic()) * 1000

    def _obey(self) -> None:
        raw, fds, _, _ = socket.recv_fds(self._control, link.MAX_DATAGRAM, 2)
        if not raw:
            raise WorkerGone
        message = link.decode(raw)
        if message["do"] == "fork":
            self._fork(message, fds)
        elif message["do"] == "kill":
            self._kill(message["run"])
        elif message["do"] == "ping":
            self._tell({"is": "pong"})

    def _fork(self, message: Mapping[str, Any], fds: list[int]) -> None:
        channel, output = fds
        server = os.getpid()
        watched = Watched(int(message["memory"]), self._inherited)
        try:
            pid = os.fork()
        except OSError as error:
            self._tell({"is": "refused", "run": message["run"], "message": str(error)})
            os.close(channel)
            os.close(output)
            return
        if pid == 0:
            ours = (self._control.fileno(), self._woken, self._wake)
            run_child(self._graphs[message["graph"]], channel, output, ours, server, watched)
        os.close(channel)
        os.close(output)
        self._runs[pid] = Run(message["run"], watched)
        self._look_at = self._look_at or time.monotonic() + INTERVAL

    def _kill(self, run_id: str) -> None:
        for pid, run in self._runs.items():
            if run.run_id == run_id:
                kill_group(pid)

    def _reap(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._woken, 4096):
                pass
        # Looked at before it is reaped: until then its number, which names its group, is its own.
        with suppress(ChildProcessError):
            flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
            while (ended := os.waitid(os.P_ALL, 0, flags)) is not None:
                self._ended(ended.si_pid)

    def _ended(self, pid: int) -> None:
        run = self._runs.pop(pid, None)
        if run is not None:
            kill_group(pid)
        _, status = os.waitpid(pid, 0)
        if run is not None:
            code = os.waitstatus_to_exitcode(status)
            self._tell({"is": "exited", "run": run.run_id, "code": code, "why": run.why})
            has_orphans = not own_children() <= self._runs.keys()
            soon = time.monotonic() + (0 if has_orphans else INTERVAL)
            self._look_at = soon if self._look_at is None else min(self._look_at, soon)

    def _watch(self) -> None:
        began = time.monotonic()
        runs = {pid: run.watched for pid, run in self._runs.items()}
        # What an import started is in our own session, and stays.
        seen = look(runs, os.getpid(), spared=os.getsid(0))
        for pid, why in seen.over.items():
            self._runs[pid].why = self._runs[pid].why or why
            kill_group(pid)
        kill_all(seen.strays)
        now = time.monotonic()
        is_quiet = not self._runs and not seen.strays
        self._look_at = None if is_quiet else now + max(INTERVAL, SHARE * (now - began))

    def _farewell(self) -> None:
        for pid in self._runs:
            kill_group(pid)
        for _ in range(FAREWELL_ROUNDS):
            seen = look({}, os.getpid())
            if not seen.strays:
                break
            kill_all(seen.strays)
            time.sleep(0.002)
        os._exit(0)

    def _tell(self, message: Mapping[str, Any]) -> None:
        self._control.send(link.encode(message))


def _only_wake(*_: object) -> None:
    """The loop looks for itself what happened."""


def load_graphs(control: socket.socket, settings: Mapping[str, Any]) -> dict[str, LoadedGraph]:
    """Named before it is imported: if that ends this process, the worker knows which it was."""
    places, problems = discovery.find(GraphSources.from_json(settings["sources"]))
    graphs: dict[str, LoadedGraph] = {}
    problems |= {name: why for name, why in settings["broken"].items() if name in places}
    for graph_id, place in places.items():
        if graph_id in problems:
            continue
        control.send(link.encode({"is": "loading", "graph": graph_id}))
        loaded = discovery.load(graph_id, place)
        if isinstance(loaded, str):
            problems[graph_id] = loaded
        else:
            graphs[graph_id] = loaded
    for graph_id, graph in graphs.items():
        schema = input_schema_of(graph_id, graph.target)
        control.send(link.encode(_listed(graph_id, None, schema)))
    for graph_id, problem in problems.items():
        control.send(link.encode(_listed(graph_id, problem, None)))
    return graphs


def _listed(graph_id: str, problem: str | None, schema: Any) -> dict[str, Any]:
    return {"is": "graph", "graph": graph_id, "problem": problem, "schema": schema}


def main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    os.set_inheritable(control.fileno(), False)
    die_with_parent(int(sys.argv[2]), signal.SIGTERM)
    adopt_orphans()
    os.environ.update(MODEL_VARIABLES)  # noqa: TID251 — the graphs', not our settings
    settings: dict[str, Any] = json.load(sys.stdin)
    graphs = load_graphs(control, settings)
    for name in {graph_id.partition(":")[0] for graph_id in graphs}:
        _warm(name)
    gc.collect()
    gc.freeze()  # so that a collection in a child does not copy every page
    server = ForkServer(control, graphs)
    control.send(link.encode({"is": "ready"}))
    server.serve()


def _warm(provider: str) -> None:
    """What every run of a provider imports."""
    if provider == "langgraph":
        with suppress(ImportError):
            from cadenza.adapters.graphs import langgraph_graphs  # noqa: PLC0415

            langgraph_graphs.warm()


if __name__ == "__main__":
    main()
