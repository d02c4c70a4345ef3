"""The guard: a host becomes addresses that may be called, or nothing.

A host is judged before every request; a judgement is cached for half a minute. What the HTTP
library gets is not the name but the judged addresses, encoded as one word that our resolver reads:

- between judgement and connection there is no second look-up, because the name is gone;
- connections are pooled by that word, so that a name whose addresses change gets new ones.

A refused address refuses its whole name: a name with public and inner addresses is an attack or a
mistake. Only where the admin opened some of them, those are used and the others skipped
(`localhost` is 127.0.0.1 and ::1, and one of them may be open).
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address

from cadenza.adapters.http.addresses import Address, AddressPolicy, Verdict
from cadenza.adapters.http.look_up import LookUp, SystemLookUp

GOOD_FOR = 30.0  # seconds that a judgement holds
BAD_FOR = 5.0  # seconds that a refusal, or a name that does not resolve, holds
MAX_KNOWN = 10_000
MAX_ADDRESSES = 8  # of one name
MAX_NAME = 253
MAX_LABEL = 63
_NAME = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_INNER = frozenset(
    ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private")
)
_MARK = "at-"


class BlockedAddress(OSError):
    """Not an address that may be called. It says no more: the caller may be probing the network."""

    def __init__(self) -> None:
        super().__init__("the address is not one that may be called")


class UnknownName(OSError):
    """A name without addresses, or one whose name server does not answer."""


@dataclass(frozen=True, slots=True)
class _Known:
    until: float
    word: str | None = None  # None: refused, or unknown
    unknown: str | None = None  # why there are no addresses


class Guard:
    def __init__(
        self,
        policy: AddressPolicy,
        look_up: LookUp | None = None,
        good_for: float = GOOD_FOR,
        bad_for: float = BAD_FOR,
    ) -> None:
        self._policy = policy
        self._look_up = look_up or SystemLookUp()
        self._good_for = good_for
        self._bad_for = bad_for
        self._known: dict[str, _Known] = {}
        self._asked: dict[str, asyncio.Task[_Known]] = {}
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        for task in self._asked.values():
            task.cancel()

    async def admit(self, host: str, port: int) -> str:
        """The word for a host; BlockedAddress or UnknownName where there is none."""
        if not self._policy.allows_port(port):
            raise BlockedAddress
        known = self._known.get(host)
        if known is None or known.until <= self._loop.time():
            known = await self._judge_once(host)
        if known.unknown is not None:
            raise UnknownName(known.unknown)
        if known.word is None:
            raise BlockedAddress
        return known.word

    def admits(self, address: str, port: int) -> bool:
        """Whether a socket may be connected to this; asked again right before it is."""
        try:
            verdict = self._policy.verdict(ip_address(address))
        except ValueError:
            return False
        return verdict is not Verdict.REFUSED and self._policy.allows_port(port)

    async def _judge_once(self, host: str) -> _Known:
        """Requests that come for the same host meanwhile wait for the same answer."""
        task = self._asked.get(host)
        if task is None:
            task = self._asked[host] = asyncio.create_task(self._judge(host))
            task.add_done_callback(lambda _: self._asked.pop(host, None))
        # A request that is cancelled does not cancel the look-up for the others.
        return await asyncio.shield(task)

    async def _judge(self, host: str) -> _Known:
        try:
            # Judged addresses as one word, which looks like a host name to the library.
            addresses = self._judged(await self._addresses(host))
            word = _MARK + "-".join(address.packed.hex() for address in addresses)
            known = _Known(self._loop.time() + self._good_for, word)
        except BlockedAddress:
            known = _Known(self._loop.time() + self._bad_for)
        except OSError as error:
            why = error.strerror or "it does not resolve"
            known = _Known(self._loop.time() + self._bad_for, unknown=why)
        self._known.pop(host, None)
        self._known[host] = known
        if len(self._known) > MAX_KNOWN:
            del self._known[next(iter(self._known))]
        return known

    async def _addresses(self, host: str) -> Sequence[Address]:
        if (literal := address_of(host)) is not None:
            return [literal]
        name = host.removesuffix(".")
        if not self._policy.allowed_networks and _is_inner(name):
            raise BlockedAddress  # not even looked up: that would reveal which inner names exist
        addresses = await self._look_up(name)
        try:
            return [ip_address(address) for address in addresses]
        except ValueError as error:
            raise BlockedAddress from error

    def _judged(self, addresses: Sequence[Address]) -> Sequence[Address]:
        verdicts = {address: self._policy.verdict(address) for address in addresses}
        is_mixed = Verdict.REFUSED in verdicts.values()
        wanted = {Verdict.OPENED} if is_mixed else {Verdict.PUBLIC, Verdict.OPENED}
        good = [address for address in addresses if verdicts[address] in wanted]
        if not good:
            raise BlockedAddress
        return good[:MAX_ADDRESSES]


def address_of(host: str) -> Address | None:
    """The address that a host spells; None where it is a name. BlockedAddress where it is neither.

    A host whose last part is a number is an address to every resolver, in one of many spellings
    (127.1, 0x7f000001, 017700000001): only four plain decimal numbers are taken.
    """
    if "%" in host:  # a zone
        raise BlockedAddress
    if ":" in host:
        return _literal(IPv6Address, host)
    bare = host.removesuffix(".")
    labels = bare.split(".")
    is_name = _NAME.issuperset(bare) and len(bare) <= MAX_NAME
    if not is_name or not all(0 < len(label) <= MAX_LABEL for label in labels):
        raise BlockedAddress
    is_number = labels[-1].isdigit() or labels[-1].startswith("0x")
    return _literal(IPv4Address, bare) if is_number else None


def _literal(kind: type[Address], text: str) -> Address:
    try:
        return kind(text)
    except AddressValueError as error:
        raise BlockedAddress from error


def _is_inner(name: str) -> bool:
    _, dot, last = name.rpartition(".")
    return not dot or last in _INNER or name.endswith(".home.arpa")


def addresses_in(word: str) -> list[str]:
    """The addresses of a word that we made; BlockedAddress for any other host."""
    if not word.startswith(_MARK):
        raise BlockedAddress
    try:
        parts = word.removeprefix(_MARK).split("-")
        return [str(ip_address(bytes.fromhex(part))) for part in parts]
    except ValueError as error:
        raise BlockedAddress from error
