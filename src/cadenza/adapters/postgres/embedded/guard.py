"""Runs one command and ends it when the program that asked for it is gone.

This is a program of its own (`python -I -S guard.py ORDER`), so it imports nothing of Cadenza and
has one thread. Its standard input is a pipe that the asking program holds: a byte or the end of it
means "end the command". Its standard error becomes the output of the command; on its standard
output it writes the command's process id. Signals do not end it: a service manager that signals
every process at once must not take the database away from a program that is still finishing.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
import time

# Here and not where it is used: the user that we change to may not be able to read Python.
try:
    import ctypes
except ImportError:  # some builds of Python lack it: then the guard alone ends the server
    ctypes = None

LIFE, REPORT, OUTPUT = 0, 1, 2
TICK_SECONDS = 0.5
LOG_LIMIT, LOG_REST = 8 << 20, 1 << 20
# Fast shutdown; then the immediate one, after which PostgreSQL replays its log at the next start.
WAYS_TO_END = ((0, signal.SIGINT), (30, signal.SIGQUIT), (40, signal.SIGKILL))
SET_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>


class Order:
    """What the asking program wants; plain, because the guard has to start fast."""

    def __init__(self, text: str) -> None:
        order = json.loads(text)
        self.command: list[str] = order["command"]
        self.environment: dict[str, str] = order["environment"]
        self.data: str = order["data"]
        self.account: tuple[int, int] | None = order["account"]  # uid and gid to change to
        self.stdin: int | None = order["stdin"]
        self.lock: int = order["lock"]


def main() -> int:
    order = Order(sys.argv[1])
    wake = _watch_children()
    command = _start(order)
    os.write(REPORT, b"%d\n" % command)
    return _keep_until_ended(command, wake, order.lock)


def _watch_children() -> int:
    """A file descriptor that becomes readable when the command ends."""
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    readable, writable = os.pipe()
    os.set_blocking(readable, False)
    os.set_blocking(writable, False)
    signal.set_wakeup_fd(writable, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return readable


def _start(order: Order) -> int:
    environment = {**order.environment, "PGDATA": _path_of_data(order)}
    guard = os.getpid()
    command = os.fork()
    if command:
        return command
    try:
        _become_the_command(order, environment, guard)
    except OSError as error:
        os.write(OUTPUT, f"cannot run {order.command[0]}: {error}\n".encode())
    finally:
        os._exit(127)


def _path_of_data(order: Order) -> str:
    # Another user may not be able to walk to the folder (/root is 0700). A link to an open folder
    # needs no walk: every process of the server inherits the descriptor.
    if order.account is None or not os.path.exists("/proc/self/fd"):
        return order.data
    folder = os.open(order.data, os.O_RDONLY | os.O_DIRECTORY)
    os.set_inheritable(folder, True)
    return f"/proc/self/fd/{folder}"


def _become_the_command(order: Order, environment: dict[str, str], guard: int) -> None:
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
        signal.signal(number, signal.SIG_DFL)
    source = order.stdin
    os.dup2(os.open(os.devnull, os.O_RDONLY) if source is None else source, 0)
    os.dup2(OUTPUT, 1)
    os.chdir("/")
    if order.account is not None:
        uid, gid = order.account
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    _end_with(guard)
    os.execve(order.command[0], order.command, environment)  # noqa: S606 - no shell is meant


def _end_with(guard: int) -> None:
    # After the change of user, which clears it. The guard has one thread, so "parent" is the guard.
    if ctypes is not None and sys.platform == "linux":
        ctypes.CDLL(None).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGINT)
    if os.getppid() != guard:
        os._exit(127)


def _keep_until_ended(command: int, wake: int, lock: int) -> int:
    parent = os.getppid()
    asked_at: float | None = None
    ways = list(WAYS_TO_END)
    while True:
        watched = [wake] if asked_at is not None else [wake, LIFE]
        readable, _, _ = select.select(watched, [], [], TICK_SECONDS)
        if wake in readable:
            os.read(wake, 512)
        ended, status = os.waitpid(command, os.WNOHANG)
        if ended:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code
        # A forked child of the program may hold the pipe open after the program is gone.
        if asked_at is None and (LIFE in readable or os.getppid() != parent):
            asked_at = time.monotonic()
            _mark_as_ending(lock)
        while ways and asked_at is not None and time.monotonic() - asked_at >= ways[0][0]:
            os.kill(command, ways.pop(0)[1])
        _bound_the_log()


def _mark_as_ending(lock: int) -> None:
    with contextlib.suppress(OSError):  # on a full disk the next start waits a little less
        os.ftruncate(lock, 0)
        os.pwrite(lock, b"ending\n", 0)


def _bound_the_log() -> None:
    size = os.fstat(OUTPUT).st_size
    if size <= LOG_LIMIT:
        return
    with contextlib.suppress(OSError):
        rest = os.pread(OUTPUT, LOG_REST, size - LOG_REST)
        os.ftruncate(OUTPUT, 0)
        os.write(OUTPUT, rest)


if __name__ == "__main__":
    sys.exit(main())
