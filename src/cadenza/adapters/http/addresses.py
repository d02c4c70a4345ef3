"""Which addresses may be called: an explicit table, and what the admin opened.

Python's own `is_global` is not used. It calls 168.63.129.16 (Azure's inner server), 192.88.99.1,
64:ff9b::10.0.0.1, 2002:7f00:1::, fec0::1 and ::ffff:0:10.0.0.1 global, among others.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from cadenza.domain.errors import InstallationError

Address = IPv4Address | IPv6Address
ALLOWED = "CADENZA_ALLOWED_NETWORKS"
OPEN_NETWORKS = "loopback,private"  # under `cadenza up`, where nothing else is said
Network = IPv4Network | IPv6Network


def _networks(*networks: str) -> tuple[Network, ...]:
    return tuple(map(ip_network, networks))


LOOPBACK = ("127.0.0.0/8", "::1/128")
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7")

_REFUSED_V4 = _networks(
    "0.0.0.0/8",  # this network; Linux connects 0.0.0.0 to itself
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # carrier-grade NAT; Alibaba's metadata at 100.100.100.200
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local, and nearly every cloud's metadata
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments; Oracle's metadata at 192.0.0.192
    "192.0.2.0/24",  # documentation
    "192.31.196.0/24",  # AS112: answers for private names
    "192.52.193.0/24",  # AMT relays
    "192.88.99.0/24",  # 6to4 relays
    "192.168.0.0/16",  # private
    "192.175.48.0/24",  # AS112
    "198.18.0.0/15",  # benchmarking
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/4",  # multicast
    "240.0.0.0/4",  # reserved, and the broadcast address
)

# Outside of it nothing is handed out to anybody on the Internet: unspecified, loopback, mapped,
# compatible, translated and NAT64 addresses, discard, unique and site local, link-local, multicast,
# segment routing, and what is reserved for the future.
_GLOBAL_V6 = IPv6Network("2000::/3")
_REFUSED_V6 = _networks(
    "2001::/23",  # protocol assignments: Teredo, benchmarking, ORCHID, AMT, AS112
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4
    "2620:4f:8000::/48",  # AS112
    "3ffe::/16",  # the 6bone of old
    "3fff::/20",  # documentation
)

# Inner servers of clouds, some of them inside networks that a self-hoster opens with good reason.
# Only an entry for exactly this address opens one.
_METADATA = frozenset(
    ip_address(address)
    for address in (
        "100.100.100.200",  # Alibaba
        "168.63.129.16",  # Azure
        "169.254.0.23",  # Tencent
        "169.254.42.42",  # Scaleway
        "169.254.169.123",  # AWS, time
        "169.254.169.249",  # AWS, licences
        "169.254.169.250",
        "169.254.169.251",
        "169.254.169.253",  # AWS, names
        "169.254.169.254",  # AWS, Google, Azure, DigitalOcean, OpenStack, IBM, …
        "169.254.170.2",  # AWS, containers
        "169.254.170.23",  # AWS, EKS
        "192.0.0.192",  # Oracle
        "fd00:42::42",  # Scaleway
        "fd00:c1::a9fe:a9fe",  # Oracle
        "fd00:ec2::23",  # AWS, EKS
        "fd00:ec2::123",  # AWS, time
        "fd00:ec2::249",  # AWS, licences
        "fd00:ec2::250",
        "fd00:ec2::253",  # AWS, names
        "fd00:ec2::254",  # AWS
        "fd20:ce::254",  # Google
        "fe80::a9fe:a9fe",  # OpenStack
    )
)

# IPv6 prefixes that carry an IPv4 address in their last 32 bits.
_CARRY_V4_AT_THE_END = _networks(
    "::/96",  # compatible
    "::ffff:0:0/96",  # mapped
    "::ffff:0:0:0/96",  # translated
    "64:ff9b::/96",  # NAT64
)
_UNSPECIFIED, _LOOPBACK = IPv6Address("::"), IPv6Address("::1")  # look like compatible ones
_NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
_SIX_TO_FOUR = IPv6Network("2002::/16")
_TEREDO = IPv6Network("2001::/32")
_ISATAP = (0x00005EFE, 0x02005EFE)


class Verdict(Enum):
    PUBLIC = "public"
    OPENED = "opened"  # by the admin
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """What may be connected to: only the public Internet, unless the admin opens more."""

    allowed_networks: tuple[Network, ...] = ()
    closed_ports: frozenset[int] = frozenset()

    def verdict(self, address: Address) -> Verdict:
        if isinstance(address, IPv6Address) and address.scope_id is not None:
            return Verdict.REFUSED  # a zone belongs to this machine's own interfaces
        opened = any(
            address in network
            and (address not in _METADATA or network.prefixlen == network.max_prefixlen)
            for network in self.allowed_networks
        )
        if not opened and (address in _METADATA or _is_special(address)):
            return Verdict.REFUSED
        if any(self.verdict(inner) is Verdict.REFUSED for inner in carried(address)):
            return Verdict.REFUSED
        return Verdict.OPENED if opened else Verdict.PUBLIC

    def allows_port(self, port: int) -> bool:
        return 0 < port < 65536 and port not in self.closed_ports


def _is_special(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return any(address in network for network in _REFUSED_V4)
    return address not in _GLOBAL_V6 or any(address in network for network in _REFUSED_V6)


def carried(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 addresses inside an IPv6 address, to which a gateway may forward what is sent."""
    if isinstance(address, IPv4Address) or address in (_UNSPECIFIED, _LOOPBACK):
        return
    number = int(address)
    low = number & 0xFFFFFFFF
    if any(address in network for network in _CARRY_V4_AT_THE_END):
        yield IPv4Address(low)
    elif address in _NAT64_LOCAL:
        yield IPv4Address(low)  # a prefix of 96 bits, the usual one
        # RFC 6052: after a prefix of 48 bits the address goes around the eight bits in the middle.
        yield IPv4Address((number >> 64 & 0xFFFF) << 16 | number >> 40 & 0xFFFF)
    elif address in _SIX_TO_FOUR:
        yield IPv4Address(number >> 80 & 0xFFFFFFFF)
    elif address in _TEREDO:
        yield IPv4Address(number >> 64 & 0xFFFFFFFF)  # its server
        yield IPv4Address(low ^ 0xFFFFFFFF)  # itself
    elif number >> 32 & 0xFFFFFFFF in _ISATAP:
        yield IPv4Address(low)


def parse_networks(text: str, setting: str = ALLOWED) -> tuple[Network, ...]:
    """`10.1.0.0/16, fd12::/48, 192.168.1.7`; `loopback` and `private` stand for theirs."""
    named = {"loopback": LOOPBACK, "private": PRIVATE}
    words = text.replace(",", " ").split()
    parts = [part for word in words for part in named.get(word.lower(), (word,))]
    return tuple(_network(part, setting) for part in parts)


def _network(text: str, setting: str) -> Network:
    try:
        network = ip_network(text, strict=False)
    except ValueError as error:
        raise _no_network(text, str(error)[:100], setting) from error
    if "%" in text:
        raise _no_network(text, "a zone cannot be opened", setting)
    if int(network.network_address) != int(ip_address(text.partition("/")[0])):
        raise _no_network(text, f"the network would be {network}", setting)
    return network


def _no_network(text: str, why: str, setting: str) -> InstallationError:
    return InstallationError(
        f"{setting}: {text[:60]!r} is not a network ({why}). Write networks like "
        "10.1.0.0/16 or fd12::/48, single addresses, or the words loopback and private, with "
        "commas between them."
    )


def parse_ports(text: str) -> frozenset[int]:
    """`25, 465, 6000-6010`."""
    return frozenset(port for word in text.replace(",", " ").split() for port in _ports(word))


def _ports(word: str) -> range:
    first, dash, last = word.partition("-")
    ends = (first, last if dash else first)
    numbers = [int(end) for end in ends if re.fullmatch("[0-9]{1,5}", end)]
    if len(numbers) != 2 or not 0 < numbers[0] <= numbers[1] < 65536:
        raise InstallationError(
            f"CADENZA_CLOSED_PORTS: {word[:60]!r} is not a port from 1 to 65535. Write ports like "
            "25 or 6000-6010, with commas between them."
        )
    return range(numbers[0], numbers[1] + 1)
