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

from cadenza.adapters.graphs import cgroups, discovery, link
from cadenza.adapters.graphs.cgroups import RunGroup, RunGroups
from cadenza.adapters.graphs.child import run_child
from cadenza.adapters.graphs.discovery import LoadedGraph
from cadenza.adapters.graphs.guardian import guard
from cadenza.adapters.graphs.input_schema import input_schema_of
from cadenza.adapters.graphs.processes import kill_group, own_children, resident_memory
from cadenza.adapters.graphs.sources import MODEL_VARIABLES, GraphSources
from cadenza.adapters.graphs.watchdog import (
    INTERVAL,
    SHARE,
    Watched,
    end_descendants,
    kill_all,
    look,
    too_much_memory,
)


@dataclass(slots=True)
class Run:
    run_id: str
    watched: Watched
    group: RunGroup | None
    why: str | None = None  # the watchdog ended it

    def kill(self, pid: int) -> None:
        kill_group(pid)
        if self.group is not None:
            self.group.kill()


class WorkerGone(Exception):
    pass


class ForkServer:
    def __init__(
        self,
        control: socket.socket,
        graphs: Mapping[str, LoadedGraph],
        guardian: int,
        groups: RunGroups | None,
    ) -> None:
        self._control = control
        self._graphs = graphs
        self._guardian = guardian
        self._groups = groups
        self._runs: dict[int, Run] = {}  # by process
        self._look_at: float | None = None
        self._inherited = resident_memory()
        self._woken, self._wake = os.pipe()
        for end in (self._woken, self._wake):
            os.set_blocking(end, False)

    def serve(self) -> None:
        signal.signal(signal.SIGCHLD, _only_wake)
        signal.signal(signal.SIGTERM, _only_wake)  # the guardian's end
        signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self._control.fileno(), select.POLLIN)
        poll.register(self._woken, select.POLLIN)
        try:
            while True:
                readable = [fd for fd, _ in poll.poll(self._patience_ms())]
                if self._woken in readable:
                    self._reap()
                    if os.getppid() != self._guardian:
                        raise WorkerGone
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
            self._send({"is": "pong"})

    def _fork(self, message: Mapping[str, Any], fds: list[int]) -> None:
        channel, output = fds
        server = os.getpid()
        watched = Watched(int(message["memory"]), self._inherited)
        group = None if self._groups is None else self._groups.new(watched.memory)
        try:
            pid = os.fork()
        except OSError as error:
            self._send({"is": "refused", "run": message["run"], "message": str(error)})
            os.close(channel)
            os.close(output)
            self._leave(group)
            return
        if pid == 0:
            graph = self._graphs[message["graph"]]
            run_child(graph, channel, output, self._own_descriptors(), server, watched, group)
        os.close(channel)
        os.close(output)
        self._runs[pid] = Run(message["run"], watched, group)
        self._look_at = self._look_at or time.monotonic() + INTERVAL

    def _own_descriptors(self) -> tuple[int, ...]:
        """That no child may hold."""
        lock = () if self._groups is None else (self._groups.lock,)
        return (self._control.fileno(), self._woken, self._wake, *lock)

    def _leave(self, group: RunGroup | None) -> None:
        if group is not None and self._groups is not None:
            self._groups.leave(group)

    def _kill(self, run_id: str) -> None:
        for pid, run in self._runs.items():
            if run.run_id == run_id:
                run.kill(pid)

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
            run.kill(pid)
        _, status = os.waitpid(pid, 0)
        if run is not None:
            if run.group is not None and run.group.is_out_of_memory():
                run.why = run.why or too_much_memory(run.watched.memory)
            self._leave(run.group)
            code = os.waitstatus_to_exitcode(status)
            self._send({"is": "exited", "run": run.run_id, "code": code, "why": run.why})
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
            self._runs[pid].kill(pid)
        kill_all(seen.strays)
        now = time.monotonic()
        is_quiet = not self._runs and not seen.strays
        self._look_at = None if is_quiet else now + max(INTERVAL, SHARE * (now - began))

    def _farewell(self) -> None:
        for pid, run in self._runs.items():
            run.kill(pid)
        end_descendants()
        if self._groups is not None:
            for run in self._runs.values():
                if run.group is not None:
                    self._groups.leave(run.group)
            self._groups.close()
        os._exit(0)

    def _send(self, message: Mapping[str, Any]) -> None:
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
    worker = int(sys.argv[2])
    guardian = guard(worker, control.fileno())
    groups = cgroups.of_this_process({worker, guardian, os.getpid()})
    os.environ.update(MODEL_VARIABLES)  # noqa: TID251 — the graphs', not our settings
    settings: dict[str, Any] = json.load(sys.stdin)
    graphs = load_graphs(control, settings)
    for name in {graph_id.partition(":")[0] for graph_id in graphs}:
        _warm(name)
    gc.collect()
    gc.freeze()  # so that a collection in a child does not copy every page
    isolation = groups if isinstance(groups, str) else _isolation(groups)
    usable = None if isinstance(groups, str) else groups
    server = ForkServer(control, graphs, guardian, usable)
    control.send(link.encode({"is": "ready", "isolation": isolation}))
    server.serve()


def _isolation(groups: RunGroups) -> str:
    memory = "with their memory limits" if groups.limits_memory else "without the memory controller"
    return f"control groups, {memory}"


def _warm(provider: str) -> None:
    """What every run of a provider imports."""
    if provider == "langgraph":
        with suppress(ImportError):
            from cadenza.adapters.graphs import langgraph_graphs  # noqa: PLC0415

            langgraph_graphs.warm()


if __name__ == "__main__":
    main()
