"""Memory, processes and threads of every run, and what escaped from one.

Whatever descends from a run's process counts as the run, and so does an orphan in its session. An
orphan that is in nobody's session left its run on purpose, and is killed.
"""

import os
import signal
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass

from cadenza.adapters.graphs.processes import ProcessInfo, all_processes, proportional_memory

INTERVAL = 0.05  # seconds
SHARE = 10  # a look may take a tenth of the time at most
FAREWELL_ROUNDS = 20
MAX_TASKS = 256  # processes and threads of one run


@dataclass(frozen=True, slots=True)
class Watched:
    memory: int  # bytes
    inherited: int  # what the fork server's own memory adds to the number of each process


@dataclass(frozen=True, slots=True)
class Look:
    over: dict[int, str]  # process of the run: why it has to end
    strays: tuple[int, ...]


def look(runs: Mapping[int, Watched], server: int, spared: int = 0) -> Look:
    """By the process that leads each run; `spared` is a session that belongs to no run."""
    processes = all_processes()
    owned: dict[int, list[ProcessInfo]] = {leader: [] for leader in runs}
    strays: list[int] = []
    for info in _descendants(processes, server):
        top = _top(info, processes, server)
        leader = top.pid if top.pid in runs else info.session
        if leader in owned:
            owned[leader].append(info)
        elif info.session != spared:
            strays.append(info.pid)
    verdicts = {leader: _verdict(members, runs[leader]) for leader, members in owned.items()}
    return Look({leader: why for leader, why in verdicts.items() if why}, tuple(strays))


def end_descendants() -> None:
    """All that descends from this process; a killed one may have started another meanwhile."""
    for _ in range(FAREWELL_ROUNDS):
        seen = look({}, os.getpid())
        if not seen.strays:
            break
        kill_all(seen.strays)
        time.sleep(0.002)


def kill_all(pids: tuple[int, ...]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _verdict(members: list[ProcessInfo], allowed: Watched) -> str | None:
    tasks = sum(info.threads for info in members)
    if tasks > MAX_TASKS:
        return f"more than {MAX_TASKS} processes and threads at once"
    used = sum(max(0, info.resident - allowed.inherited) for info in members)
    if used > allowed.memory and _shares(members, used) > allowed.memory:
        return too_much_memory(allowed.memory)
    return None


def too_much_memory(limit: int) -> str:
    return f"more than {limit // 2**20} MB of memory"


def _shares(members: list[ProcessInfo], otherwise: int) -> int:
    """Several processes that share pages count them once; slow, so only on suspicion."""
    if len(members) == 1:
        return otherwise
    return sum(proportional_memory(info.pid) for info in members) or otherwise


def _descendants(processes: Mapping[int, ProcessInfo], server: int) -> Iterator[ProcessInfo]:
    children: dict[int, list[ProcessInfo]] = {}
    for info in processes.values():
        children.setdefault(info.parent, []).append(info)
    waiting = list(children.get(server, ()))
    while waiting:
        info = waiting.pop()
        yield info
        waiting += children.get(info.pid, ())


def _top(info: ProcessInfo, processes: Mapping[int, ProcessInfo], server: int) -> ProcessInfo:
    while info.parent != server and info.parent in processes:
        info = processes[info.parent]
    return info
