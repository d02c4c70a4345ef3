from collections.abc import Sequence
from typing import Protocol


class AddressRefused(Exception):
    """Not an address that may be called. It says no more: the caller may be probing the network."""


class NameUnknown(Exception):
    """A name without addresses; the text says why."""


class Addresses(Protocol):
    async def admitted(self, host: str, port: int) -> Sequence[str]:
        """The addresses of a host that may be connected to, at least one."""
        ...
