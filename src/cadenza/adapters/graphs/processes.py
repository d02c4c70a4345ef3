"""Processes as the kernel shows them, and the few calls that Python has no word for."""

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
PAGE = resource.getpagesize()
# Stacks of threads are reserved and hardly used, but the kernel counts them as data.
RESERVED = 512 * 1024 * 1024
_LIBC: Any = ctypes.CDLL(None, use_errno=True) if sys.platform.startswith("linux") else None


@dataclass(frozen=True, slots=True)
class ProcessInfo:
    pid: int
    parent: int
    session: int
    threads: int
    resident: int  # bytes, including what is shared with the fork server


def die_with_parent(parent: int, with_signal: signal.Signals = signal.SIGKILL) -> None:
    """Of the thread that started us; if it is gone already, end at once."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_PDEATHSIG, int(with_signal), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def adopt_orphans() -> None:
    """What our children leave behind becomes ours, instead of init's, and can be found."""
    if _LIBC is not None:
        _LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def limit_memory(limit: int) -> None:
    """A first line: one huge allocation fails at once. The watchdog measures what is used."""
    data = _reserved_now()
    if data is not None:
        most = data + limit + RESERVED
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("500")  # rather this one than the worker


def kill_group(leader: int) -> None:
    """A child that has not made its own group yet has run nothing, and is killed alone."""
    for kill in (os.kill, os.killpg):
        with suppress(ProcessLookupError, PermissionError):
            kill(leader, signal.SIGKILL)


def all_processes() -> dict[int, ProcessInfo]:
    processes: dict[int, ProcessInfo] = {}
    with suppress(OSError):
        for name in os.listdir("/proc"):
            if name.isdecimal():
                info = _process(int(name))
                if info is not None:
                    processes[info.pid] = info
    return processes


def proportional_memory(pid: int) -> int:
    """What it uses alone, and its share of what it shares; 0 where the kernel does not say."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            lines = [line.split() for line in file]
    except OSError:
        return 0
    counted = (b"Pss_Anon:", b"Pss_Shmem:")
    return sum(int(words[1]) * 1024 for words in lines if words and words[0] in counted)


def own_children() -> set[int]:
    """Cheaper than a look at everything; empty where the kernel does not list them."""
    pid = os.getpid()
    with suppress(OSError), open(f"/proc/{pid}/task/{pid}/children", "rb") as file:
        return {int(child) for child in file.read().split()}
    return set()


def resident_memory() -> int:
    info = _process(os.getpid())
    return 0 if info is None else info.resident


def _process(pid: int) -> ProcessInfo | None:
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            raw = file.read(2048)
    except OSError:
        return None
    words = raw[raw.rfind(b")") + 2 :].split()  # the name before it may hold anything
    if len(words) < 22 or words[0] in (b"Z", b"X"):
        return None
    return ProcessInfo(pid, int(words[1]), int(words[3]), int(words[17]), int(words[21]) * PAGE)


def _reserved_now() -> int | None:
    with suppress(OSError, ValueError), open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[5]) * PAGE
    return None
