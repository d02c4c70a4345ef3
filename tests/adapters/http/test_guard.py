"""The guard: every spelling of a host, names with several addresses, and names that change."""

import asyncio
import socket
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from cadenza.adapters.http.addresses import AddressPolicy, parse_networks
from cadenza.adapters.http.guard import (
    MAX_ADDRESSES,
    BlockedAddress,
    Guard,
    UnknownName,
    address_of,
    addresses_in,
)
from cadenza.adapters.http.look_up import SystemLookUp
from cadenza.adapters.http.request import UnusableUrl, location_of

PUBLIC = "93.184.216.34"


class Names:
    """A resolver under our control, which counts how often it is asked."""

    def __init__(self, **names: Sequence[str]) -> None:
        self.names: dict[str, Sequence[str]] = dict(names)
        self.asked: list[str] = []

    def __setitem__(self, name: str, addresses: Sequence[str]) -> None:
        self.names[name] = addresses

    async def __call__(self, name: str) -> Sequence[str]:
        self.asked.append(name)
        if name not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return self.names[name]


def names(**known: str) -> Names:
    """`evil_example="10.0.0.1 8.8.8.8"`: underscores for dots, addresses with spaces between."""
    return Names(**{name.replace("_", "."): addresses.split() for name, addresses in known.items()})


async def admitted(url_host: str, guard: Guard) -> list[str]:
    """The addresses that a URL with this host would be connected to."""
    location = location_of(f"http://{url_host}/")
    return addresses_in(await guard.admit(location.host, location.port))


# --- Spellings ------------------------------------------------------------------------------

# Each is an address to some resolver, library or browser; here none of them leads anywhere.
SPELLINGS = [
    # loopback, plainly
    "127.0.0.1", "127.0.0.1.", "127.0.0.1:80", "127.0.0.1:443", "127.1.2.3", "[::1]", "[::1]:8080",
    # in fewer parts
    "127.1", "127.0.1", "127.65535", "127.0.257", "2130706433", "0", "1", "10.1", "10.0.1",
    # octal
    "0177.0.0.1", "0177.1", "017700000001", "0177.0.0.01", "00000177.0.0.1", "0177.0.0x0.1",
    "127.000.000.001", "127.0.0.01", "010.0.0.1", "0251.0376.0251.0376", "025177524776",
    # hexadecimal
    "0x7f.0.0.1", "0x7f.1", "0x7f000001", "0X7F000001", "0x7f.0x0.0x0.0x1", "0x0000007f.1",
    "0xa9.0xfe.0xa9.0xfe", "0xa9fea9fe", "0xA9FEA9FE", "0xa000001", "0x7F.1", "0x0",
    # decimal, of metadata and private addresses
    "2852039166", "169.16689662", "169.254.43518", "167772161", "3232235521", "2886729729",
    # numbers that run over
    "4294967296", "4294967295", "6425673729", "127.0.0.256", "256.0.0.1", "127.0.0.1.1",
    "0x100000000", "0x17f000001",
    # with trailing and doubled dots
    "127.1.", "2130706433.", "0x7f.1.", "127.0.0.1..", "127..1", ".127.0.0.1", "localhost..",
    # full-width, circled, superscript and other digits, and other dots
    "１２７.0.0.1", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "②130706433",
    "１２７。０。０。１", "¹²⁷.0.0.1", "𝟏𝟐𝟕.0.0.1", "０ｘ７ｆ.1", "١٢٧.0.0.1", "[::１]",
    # percent-encoding
    "127%2e0%2e0%2e1", "%31%32%37.0.0.1", "127.0.0.1%00", "127.0.0.1%0d%0a", "127.0.0.1%23",
    "loc%61lhost", "%6c%6f%63%61%6c%68%6f%73%74", "127.0.0.1%20",
    # IPv6, long and short
    "[::]", "[0:0:0:0:0:0:0:1]", "[0000:0000:0000:0000:0000:0000:0000:0001]", "[0::1]", "[::0001]",
    "[::0:1]", "[0:0::0:1]", "[::0.0.0.1]", "[::FFFF:7F00:1]",
    # IPv4 in IPv6
    "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
    "[2002:a9fe:a9fe::1]", "[2001:0:7f00:1::1]", "[::ffff:0x7f.1]", "[::ffff:127.1]",
    # zones
    "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1%25lo]", "[::1%lo]", "[::1%251]", "[fe80::1%251]",
    "[2606:4700::1%25eth0]",
    # other brackets
    "[127.0.0.1]", "[v1.127.0.0.1]", "[v6.::1]", "[[::1]]", "[::1", "::1", "[]",
    # metadata, private, link-local, multicast, and the others, plainly
    "169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192",
    "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::a9fe:a9fe]", "10.0.0.1", "172.16.0.1",
    "192.168.1.1", "100.64.0.1", "0.0.0.0", "255.255.255.255", "224.0.0.1", "240.0.0.1",
    "192.0.2.1", "198.18.0.1", "[ff02::1]", "[fc00::1]", "[fec0::1]", "[100::1]",
    # names that are inner ones by their form
    "localhost", "LOCALHOST", "LocalHost", "localhost.", "foo.localhost", "ｌｏｃａｌｈｏｓｔ",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "localhost.localdomain", "metadata.google.internal", "metadata", "db",
    "printer.local", "router.lan", "nas.home.arpa", "kubernetes.default.svc.cluster.local",
    "intranet",
    # not names at all
    "-", "_", "a..b", "1.2.3.4,8.8.8.8", "8.8.8.8;", "8.8.8.8 ", "8.8.8.8\t", "a" * 64 + ".com",
    ".".join(["a" * 60] * 5), "+127.0.0.1", "-127.0.0.1", "127.0.0.1e0", "0x", "0x.0x", "!", "*",
]  # fmt: skip


def test_the_table_of_spellings_is_large_enough_to_mean_something() -> None:
    assert len(set(SPELLINGS)) == len(SPELLINGS) > 150


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_no_spelling_of_an_inner_address_is_admitted(spelling: str) -> None:
    look_up = Names(**{"8.8.8.8": ["8.8.8.8"]})
    guard = Guard(AddressPolicy(), look_up)
    if spelling.strip() != spelling:
        # The URL is read without it, as browsers do; the door refuses it.
        assert await admitted(spelling.strip(), guard) == ["8.8.8.8"]
        return
    with pytest.raises((BlockedAddress, UnusableUrl, UnknownName)) as raised:
        await admitted(spelling, guard)
    if isinstance(raised.value, UnknownName):
        # It was taken for a name: it must not be an address to anybody.
        host = location_of(f"http://{spelling}/").host
        with pytest.raises((OSError, UnicodeError)):
            socket.getaddrinfo(host, 80, flags=socket.AI_NUMERICHOST)


@pytest.mark.parametrize(
    ("host", "addresses"),
    [
        ("8.8.8.8", ["8.8.8.8"]),
        ("８.8.8.8", ["8.8.8.8"]),
        ("8.8.8.8.", ["8.8.8.8"]),
        ("[2606:4700:4700::1111]", ["2606:4700:4700::1111"]),
        ("[2606:4700:4700:0:0:0:0:1111]", ["2606:4700:4700::1111"]),
        ("example.com", [PUBLIC]),
        ("EXAMPLE.com.", [PUBLIC]),
        ("xn--bcher-kva.example", [PUBLIC]),
        ("bücher.example", [PUBLIC]),
        ("under_score.example", [PUBLIC]),
        ("0x7f.example", [PUBLIC]),
        ("127.0.0.1.example", [PUBLIC]),
        ("1e3", []),
    ],
)
async def test_public_addresses_and_names_are_admitted(host: str, addresses: list[str]) -> None:
    known = "example.com xn--bcher-kva.example under_score.example 0x7f.example 127.0.0.1.example"
    guard = Guard(AddressPolicy(), Names(**{name: [PUBLIC] for name in known.split()}))
    if not addresses:
        with pytest.raises(BlockedAddress):
            await admitted(host, guard)
        return
    assert await admitted(host, guard) == addresses


def test_what_pythons_resolver_takes_for_an_address_is_one_to_us_or_refused() -> None:
    """Whatever `getaddrinfo` reads without asking anybody: we read the same, or nothing."""
    for spelling in SPELLINGS:
        host = spelling.strip("[]").lower()
        try:
            infos = socket.getaddrinfo(host, 80, flags=socket.AI_NUMERICHOST)
        except (OSError, UnicodeError, ValueError):
            continue
        try:
            ours = address_of(host)
        except BlockedAddress:
            continue
        theirs = {str(info[4][0]) for info in infos}
        assert ours is not None, spelling
        assert {str(ip_address(address)) for address in theirs} == {str(ours)}, spelling


# --- Names ----------------------------------------------------------------------------------


async def test_a_name_with_one_refused_address_is_refused_as_a_whole() -> None:
    look_up = names(
        evil_example=f"{PUBLIC} 10.0.0.1",
        mapped_example=f"{PUBLIC} ::ffff:127.0.0.1",
        linked_example="fe80::1%eth0 8.8.8.8",
        many_example=" ".join(f"8.8.8.{i}" for i in range(20)) + " 127.0.0.1",
        odd_example="8.8.8.8 not-an-address",
        none_example="",
    )
    guard = Guard(AddressPolicy(), look_up)
    for name in look_up.names:
        with pytest.raises(BlockedAddress):
            await admitted(name, guard)


async def test_where_the_admin_opened_some_addresses_only_those_are_used() -> None:
    look_up = names(here_example="::1 127.0.0.1", mixed_example=f"{PUBLIC} 127.0.0.1 10.0.0.1")
    guard = Guard(AddressPolicy(parse_networks("127.0.0.0/8")), look_up)
    assert await admitted("here.example", guard) == ["127.0.0.1"]
    assert await admitted("mixed.example", guard) == ["127.0.0.1"]
    opened = names(both_example=f"{PUBLIC} 127.0.0.1", localhost="127.0.0.1 ::1")
    guard = Guard(AddressPolicy(parse_networks("loopback")), opened)
    assert await admitted("both.example", guard) == [PUBLIC, "127.0.0.1"]
    assert await admitted("localhost", guard) == ["127.0.0.1", "::1"]


async def test_inner_names_are_not_even_looked_up_unless_something_is_open() -> None:
    look_up = names(db="10.0.0.1")
    with pytest.raises(BlockedAddress):
        await admitted("db", Guard(AddressPolicy(), look_up))
    assert look_up.asked == []
    assert await admitted("db", Guard(AddressPolicy(parse_networks("private")), look_up)) == [
        "10.0.0.1"
    ]


async def test_a_name_that_does_not_resolve_is_unknown_and_asked_for_again_only_later() -> None:
    look_up = names()
    guard = Guard(AddressPolicy(), look_up, bad_for=0.05)
    for _ in range(3):
        with pytest.raises(UnknownName, match="not known"):
            await admitted("gone.example", guard)
    assert len(look_up.asked) == 1
    look_up["gone.example"] = [PUBLIC]
    await asyncio.sleep(0.06)
    assert await admitted("gone.example", guard) == [PUBLIC]


async def test_a_name_that_changes_its_address_between_look_ups_is_judged_at_each() -> None:
    look_up = names(rebind_example=PUBLIC)
    guard = Guard(AddressPolicy(), look_up, good_for=0.05, bad_for=0.05)
    first = await guard.admit("rebind.example", 80)
    look_up["rebind.example"] = ["127.0.0.1"]
    # What was judged is what the word holds: no look-up comes between it and the connection.
    assert await guard.admit("rebind.example", 80) == first
    assert addresses_in(first) == [PUBLIC]
    await asyncio.sleep(0.06)
    with pytest.raises(BlockedAddress):
        await guard.admit("rebind.example", 80)
    look_up["rebind.example"] = ["8.8.4.4"]
    await asyncio.sleep(0.06)
    assert addresses_in(await guard.admit("rebind.example", 80)) == ["8.8.4.4"]


async def test_requests_for_one_name_share_a_look_up_and_one_that_gives_up_leaves_it() -> None:
    answer: asyncio.Future[Sequence[str]] = asyncio.get_running_loop().create_future()
    asked: list[str] = []

    async def slow(name: str) -> Sequence[str]:
        asked.append(name)
        return await answer

    guard = Guard(AddressPolicy(), slow)
    waiting = [asyncio.create_task(guard.admit("slow.example", 80)) for _ in range(5)]
    await asyncio.sleep(0)
    waiting.pop(0).cancel()
    await asyncio.sleep(0)
    answer.set_result([PUBLIC])
    assert len(set(await asyncio.gather(*waiting))) == 1
    assert asked == ["slow.example"]


async def test_a_closed_port_is_refused_for_every_host() -> None:
    guard = Guard(AddressPolicy(closed_ports=frozenset((25,))), names())
    for port in (25, 0, 70_000):
        with pytest.raises(BlockedAddress):
            await guard.admit("8.8.8.8", port)
    await guard.admit("8.8.8.8", 80)
    with pytest.raises(BlockedAddress):
        await guard.admit("8.8.8.8", 25)


async def test_only_so_many_addresses_of_a_name_are_tried() -> None:
    look_up = names(many_example=" ".join(f"8.8.8.{i}" for i in range(50)))
    assert len(await admitted("many.example", Guard(AddressPolicy(), look_up))) == MAX_ADDRESSES


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "example.com", "at-", "at-7f", "at-zz", "at-7f000001-", "", "::1"]
)
def test_a_host_that_is_not_the_guards_word_leads_nowhere(host: str) -> None:
    with pytest.raises(BlockedAddress):
        addresses_in(host)


async def test_a_refusal_says_nothing_about_what_was_refused() -> None:
    guard = Guard(AddressPolicy(), names(inner_example="10.20.30.40"))
    message: set[str] = set()
    for host in ("inner.example", "127.0.0.1", "localhost", "0x7f.1", "169.254.169.254"):
        with pytest.raises(BlockedAddress) as raised:
            await guard.admit(host, 80)
        message.add(str(raised.value))
    assert len(message) == 1
    assert not any(char.isdigit() for char in message.pop())


async def test_an_address_is_judged_again_right_before_it_is_connected_to() -> None:
    guard = Guard(AddressPolicy(parse_networks("127.0.0.1")), names())
    assert guard.admits("127.0.0.1", 80)
    assert guard.admits("8.8.8.8", 80)
    for address in ("127.0.0.2", "::1", "localhost", "8.8.8.8.", "", "127.1", "fe80::1%lo"):
        assert not guard.admits(address, 80)
    assert not guard.admits("8.8.8.8", 0)


# --- The system's resolver ------------------------------------------------------------------


async def test_the_systems_resolver_answers_and_fails_as_an_oserror() -> None:
    look_up = SystemLookUp()
    assert "127.0.0.1" in await look_up("localhost")
    for wrong in ("does-not-exist.invalid", "a" * 300, "a..b", "a\0b"):
        with pytest.raises(OSError):  # noqa: PT011 - of any kind
            await look_up(wrong)


async def test_look_ups_beyond_the_room_wait_and_those_that_give_up_free_theirs() -> None:
    look_up = SystemLookUp(at_once=1)
    tasks = [asyncio.create_task(look_up("localhost")) for _ in range(10)]
    await asyncio.sleep(0)
    tasks.pop(3).cancel()
    assert all("127.0.0.1" in outcome for outcome in await asyncio.gather(*tasks))
