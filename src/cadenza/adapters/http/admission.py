"""The guard for clients that are not HTTP's, such as those of brokers."""

from collections.abc import Sequence

from cadenza.adapters.http.guard import BlockedAddress, Guard, UnknownName, addresses_in
from cadenza.application.ports.addresses import AddressRefused, NameUnknown


class GuardedAddresses:
    def __init__(self, guard: Guard) -> None:
        self._guard = guard

    async def admitted(self, host: str, port: int) -> Sequence[str]:
        try:
            return addresses_in(await self._guard.admit(host, port))
        except BlockedAddress as error:
            raise AddressRefused from error
        except UnknownName as error:
            raise NameUnknown(str(error)) from error

    def close(self) -> None:
        self._guard.close()
