"""Connections for clients that call by name, such as the run gateway: only to admitted addresses.

Unlike those of the dispatcher they do not bound what is received: the answers of models are long,
and whoever reads them has a bound of its own.
"""

import socket
from typing import Any

from aiohttp import TCPConnector
from aiohttp.abc import AbstractResolver, ResolveResult

from cadenza.adapters.http.guard import BlockedAddress, Guard, addresses_in

KEEP_ALIVE = 15.0  # seconds


class ProviderConnector(TCPConnector):
    def __init__(self, guard: Guard) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            limit=0,
            resolver=_JudgingResolver(guard),
            use_dns_cache=False,  # the guard has its own
            keepalive_timeout=KEEP_ALIVE,
            socket_factory=self._checked_socket,
        )
        self._guard = guard

    def _checked_socket(self, info: tuple[int, int, int, str, tuple[Any, ...]]) -> socket.socket:
        """Also where the address was written as a number, which no resolver is asked for."""
        family, kind, proto, _, address = info
        if not self._guard.admits(str(address[0]), int(address[1])):
            raise BlockedAddress
        return socket.socket(family, kind, proto)


class _JudgingResolver(AbstractResolver):
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        return [
            ResolveResult(hostname=host, host=address, port=port, family=family, proto=0, flags=0)
            for address in addresses_in(await self._guard.admit(host, port))
        ]

    async def close(self) -> None:
        self._guard.close()
