"""The first processes of the programs, forked from `cadenza up` once it has loaded what they share:
an interpreter for each of them would load it five times.

They are forked while `up` has one thread and nothing open. Each loads the rest beside the start of
the database, and begins when it is sent its environment; where `up` ends before that, so does it.
"""

import asyncio
import ctypes
import gc
import json
import os
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

from cadenza.up.supervisor import STDIN, Program

LENGTH = struct.Struct("!Q")
ARGUMENTS_BEGIN, ARGUMENTS_END = 45, 46  # in /proc/PID/stat, after the name

Load = Callable[[str], object]
Run = Callable[[Sequence[str], Mapping[str, str]], None]


class Forked:
    """A process that waits to begin; then what `Supervisor` asks of a process."""

    def __init__(self, pid: int, stdin: int) -> None:
        self._pid = pid
        self._stdin = stdin  # held open by us: it ends when we do
        self._code: asyncio.Future[int] | None = None

    def begin(self, environment: Mapping[str, str]) -> None:
        loop = asyncio.get_running_loop()
        self._code = loop.create_future()
        threading.Thread(target=self._await_end, args=(loop,), daemon=True).start()
        content = json.dumps(dict(environment)).encode()
        with suppress(BrokenPipeError), open(self._stdin, "wb", closefd=False) as pipe:
            pipe.write(LENGTH.pack(len(content)) + content)

    def close(self) -> None:
        """One that has not begun ends."""
        os.close(self._stdin)

    async def wait(self) -> int:
        assert self._code is not None
        return await asyncio.shield(self._code)

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self._code is None or self._code.done():
            raise ProcessLookupError
        os.kill(self._pid, number)

    def _await_end(self, loop: asyncio.AbstractEventLoop) -> None:
        # Not reaped here: until `_ended` has done that, its number is its own.
        os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOWAIT)
        with suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(self._ended)

    def _ended(self) -> None:
        assert self._code is not None
        _, status = os.waitpid(self._pid, 0)
        self._code.set_result(os.waitstatus_to_exitcode(status))


def can_fork() -> bool:
    """Elsewhere the libraries of the system do not bear it, and neither do other threads."""
    return sys.platform == "linux" and threading.active_count() == 1


def forked(programs: Iterable[Program], load: Load, run: Run) -> dict[str, Forked]:
    """By name. `load` and `run` are called there."""
    made: dict[str, Forked] = {}
    ours: list[int] = []
    gc.freeze()  # so that a collection in a process does not copy every page
    for program in programs:
        readable, writable = os.pipe()
        ours.append(writable)
        if (pid := os.fork()) == 0:
            for end in ours:
                os.close(end)
            _become(program, readable, load, run)
        os.close(readable)
        made[program.name] = Forked(pid, writable)
    return made


def _become(program: Program, readable: int, load: Load, run: Run) -> NoReturn:
    os.setsid()  # a Ctrl-C is for `up` to pass on
    os.dup2(readable, STDIN)
    os.close(readable)
    _show_in_lists(["cadenza", *program.arguments])
    load(program.name)
    environment = _sent()
    if environment is not None:
        run(program.arguments, environment)
    sys.exit()


def _sent() -> Mapping[str, str] | None:
    """None where `up` has ended. Read past Python's own buffer: `end_with_parent` reads on."""
    header = _exactly(LENGTH.size)
    content = _exactly(LENGTH.unpack(header)[0]) if header else b""
    return json.loads(content) if content else None


def _exactly(length: int) -> bytes:
    data = b""
    while len(data) < length:
        more = os.read(STDIN, length - len(data))
        if not more:
            return b""
        data += more
    return data


def _show_in_lists(words: Sequence[str]) -> None:
    """What `ps` shows is the memory in which the arguments of `up` came."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        begin, end = int(fields[ARGUMENTS_BEGIN]), int(fields[ARGUMENTS_END])
        shown = "\0".join(words).encode()[: max(0, end - begin - 1)]
        if begin and shown:
            ctypes.memmove(begin, shown.ljust(end - begin, b"\0"), end - begin)
