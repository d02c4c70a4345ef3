"""What a child that sends one message may do: connect where the guard allows it, and little else.

The URLs of channels are their owners', and the library opens connections, and for some services
files, by itself. Python tells of each of these before it happens (PEP 578), and a hook that was
added cannot be taken away. It holds what is written in Python, which all the services are.
"""

import os
import sys
import sysconfig
from collections.abc import Callable
from typing import Any

Admits = Callable[[str, int], bool]  # whether an address and port may be connected to

READABLE = (
    *("/etc/ssl", "/etc/pki", "/usr/lib/ssl", "/usr/share/ca-certificates", "/etc/ca-certificates"),
    *("/etc/hosts", "/etc/resolv.conf", "/etc/localtime", "/etc/mime.types"),
    *("/usr/share/zoneinfo", "/dev/urandom", "/dev/null"),
)
_STARTS_PROGRAMS = (
    *("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork"),
    *("os.forkpty", "pty.spawn"),
)
_CHANGES_FILES = (
    *("os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.truncate"),
    *("os.chmod", "os.chown", "sqlite3.connect"),
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_TRUNC


class NotAllowed(PermissionError):
    """Something that sending a message does not need."""


def hold_back(admits: Admits) -> list[str]:
    """From now on, for the rest of this process. Gives a list of why connections are refused, which
    services do not say."""
    refusals: list[str] = []
    sys.dont_write_bytecode = True
    paths = [path for path in (*sys.path, *sysconfig.get_paths().values()) if path]
    roots = tuple(os.path.realpath(path) for path in (*paths, *READABLE))

    def judge(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
            try:
                _check_address(arguments[1], admits)
            except NotAllowed as refused:
                refusals.append(str(refused))
                raise
        elif event == "open":
            _check_file(arguments[0], arguments[2], roots)
        elif event in _STARTS_PROGRAMS:
            raise NotAllowed("no other program is started")
        elif event in _CHANGES_FILES:
            raise NotAllowed("no file is changed")

    sys.addaudithook(judge)
    return refusals


def _check_address(address: Any, admits: Admits) -> None:
    if not isinstance(address, tuple):
        raise NotAllowed("only connections over the network")
    host, port = str(address[0]), int(address[1])  # type: ignore[arg-type]
    if not admits(host, port):
        raise NotAllowed("Its address is not one that may be called.")


def _check_file(path: Any, flags: Any, roots: tuple[str, ...]) -> None:
    if isinstance(path, int):
        return
    real = os.path.realpath(os.fsdecode(path))
    is_inside = any(real == root or real.startswith(root + os.sep) for root in roots)
    if not is_inside or (isinstance(flags, int) and flags & _WRITES and real != "/dev/null"):
        raise NotAllowed("no file is opened")
