"""Ports for the servers of tests, that find theirs again after a restart.

The kernel gives a port below its own range to nobody who does not name it; of the tests beside this
one nobody names it, because a socket without a file holds its number for as long as this process
lives.
"""

import errno
import os
import socket
from pathlib import Path

from cadenza.adapters.system.listening import HOST, is_free

_LOWEST, _HIGHEST = 10_000, 65_535
_held: list[socket.socket] = []


def free_port() -> int:
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """One after the other."""
    numbers = _nobodys()
    begin = os.getpid() * 97 % len(numbers)
    row: list[int] = []
    for port in numbers[begin:] + numbers[:begin]:
        row = [*row, port] if row and port == row[-1] + 1 else [port]
        if not (_hold(port) and is_free(HOST, port)):
            row = []
        elif len(row) == count:
            return row
    raise AssertionError(f"there are no {count} free ports in a row")


def _nobodys() -> list[int]:
    """All but those that the kernel gives to whoever asks for any; all if that leaves none."""
    stated = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    first, last = map(int, stated)
    everything = range(_LOWEST, _HIGHEST)
    return [port for port in everything if not first <= port <= last] or list(everything)


def _hold(port: int) -> bool:
    holder = socket.socket(socket.AF_UNIX)
    try:
        holder.bind(f"\0cadenza-tests-port-{port}")
    except OSError as error:
        holder.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return False
    _held.append(holder)
    return True
