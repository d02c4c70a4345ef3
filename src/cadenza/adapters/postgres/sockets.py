"""Sockets that notice by themselves when nobody is at the other end any more."""

import socket
from typing import TYPE_CHECKING, Any

import asyncpg

if TYPE_CHECKING:
    Base = asyncpg.Connection[asyncpg.Record]
else:
    Base = asyncpg.Connection

# As the server does it for its end, see SESSION in database.py.
OPTIONS = {"TCP_KEEPIDLE": 15, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 15_000}


class WatchedConnection(Base):
    def __init__(self, protocol: Any, transport: Any, *about: Any) -> None:
        super().__init__(protocol, transport, *about)
        watch(transport.get_extra_info("socket"))


def watch(connected: socket.socket) -> None:
    """Some systems have only some of the options; a socket of the same machine needs none."""
    if connected.family not in (socket.AF_INET, socket.AF_INET6):
        return
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in OPTIONS.items():
        if hasattr(socket, name):
            connected.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
