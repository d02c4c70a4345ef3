"""Which addresses may be called, in every spelling: a table, and what the admin opens."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.http.addresses import (
    AddressPolicy,
    Verdict,
    carried,
    parse_networks,
    parse_ports,
)
from cadenza.domain.errors import InstallationError

CLOSED = AddressPolicy()
repeatable = settings(max_examples=300, derandomize=True, deadline=None, database=None)

REFUSED = [
    # this network, and the unspecified address
    "0.0.0.0", "0.0.0.1", "0.255.255.255", "::",
    # private
    "10.0.0.0", "10.0.0.1", "10.255.255.255", "172.16.0.0", "172.16.0.1", "172.31.255.255",
    "192.168.0.0", "192.168.0.1", "192.168.255.255",
    # carrier-grade NAT
    "100.64.0.0", "100.64.0.1", "100.100.100.200", "100.127.255.255",
    # loopback
    "127.0.0.0", "127.0.0.1", "127.0.0.53", "127.1.2.3", "127.255.255.255", "::1",
    # link-local
    "169.254.0.0", "169.254.0.1", "169.254.255.255", "fe80::", "fe80::1", "fe80::1%eth0",
    "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    # metadata and other inner servers of clouds
    "168.63.129.16", "169.254.0.23", "169.254.42.42", "169.254.169.123", "169.254.169.253",
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "192.0.0.192", "fd00:42::42",
    "fd00:ec2::23", "fd00:ec2::123", "fd00:ec2::253", "fd00:ec2::254", "fd20:ce::254",
    "fd00:c1::a9fe:a9fe", "fe80::a9fe:a9fe",
    # protocol assignments, relays, AS112
    "192.0.0.0", "192.0.0.8", "192.0.0.9", "192.0.0.170", "192.0.0.255", "192.31.196.1",
    "192.52.193.1", "192.88.99.1", "192.175.48.6", "2620:4f:8000::6",
    # documentation
    "192.0.2.0", "192.0.2.1", "192.0.2.255", "198.51.100.1", "203.0.113.1", "2001:db8::",
    "2001:db8::1", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::", "3fff:fff::1",
    # benchmarking
    "198.18.0.0", "198.18.0.1", "198.19.255.255", "2001:2::1",
    # multicast
    "224.0.0.0", "224.0.0.1", "224.0.0.251", "232.1.2.3", "239.255.255.250", "239.255.255.255",
    "ff00::", "ff02::1", "ff05::1:3", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    # reserved and broadcast
    "240.0.0.0", "240.0.0.1", "254.1.2.3", "255.255.255.254", "255.255.255.255",
    # IPv4 in IPv6: mapped, compatible, translated
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe", "::ffff:0.0.0.0", "::ffff:192.168.0.1", "::ffff:8.8.8.8",
    "0:0:0:0:0:ffff:127.0.0.1", "::127.0.0.1", "::7f00:1", "::10.0.0.1", "::8.8.8.8",
    "::ffff:0:127.0.0.1", "::ffff:0:8.8.8.8",
    # NAT64
    "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254",
    "64:ff9b::8.8.8.8", "64:ff9b:1::1", "64:ff9b:1::10.0.0.1", "64:ff9b:1:a00:0:100::",
    # 6to4
    "2002::", "2002:7f00:1::", "2002:a00:1::1", "2002:a9fe:a9fe::1", "2002:808:808::1",
    # Teredo
    "2001::", "2001::1", "2001:0:4136:e378:8000:63bf:3fff:fdd2", "2001:0:7f00:1::",
    "2001:0:808:808:0:0:80ff:fffe",
    # other protocol assignments: ORCHID, AMT, AS112, DETs
    "2001:1::1", "2001:3::1", "2001:4:112::1", "2001:10::1", "2001:20::1", "2001:30::1",
    "2001:1ff:ffff::1",
    # unique local, site-local, discard, the 6bone, segment routing, and what is not handed out
    "fc00::", "fc00::1", "fd00::1", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1",
    "feff::1", "100::", "100::1", "100:0:0:1::1", "3ffe::1", "5f00::1", "200::1", "400::1",
    "1000::1", "1fff::1", "4000::1", "6000::1", "8000::1", "a000::1", "c000::1", "e000::1",
    "f000::1", "f800::1", "fe00::1",
    # ISATAP in a public prefix
    "2a00:1450::5efe:10.0.0.1", "2a00:1450::200:5efe:127.0.0.1",
]  # fmt: skip

PUBLIC = [
    "1.1.1.1", "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "93.184.216.34",
    "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15",
    "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "191.255.255.255", "192.0.1.0", "192.0.3.0", "192.88.98.255", "192.88.100.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255",
    "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255",
    "2000::1", "2001:200::1", "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::1",
    "2003::1", "2606:4700:4700::1111", "2620:4f:8001::1", "2a00:1450:4001:81b::200e",
    "2a00:1450::5efe:8.8.8.8", "3ffd::1", "3fff:1000::1",
]  # fmt: skip


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len(set(REFUSED)) == len(REFUSED) > 150
    assert len(set(PUBLIC)) == len(PUBLIC) > 40


@pytest.mark.parametrize("address", REFUSED)
def test_an_address_that_is_not_of_the_public_internet_is_refused(address: str) -> None:
    assert CLOSED.verdict(ip_address(address)) is Verdict.REFUSED


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_public_internet_may_be_called(address: str) -> None:
    assert CLOSED.verdict(ip_address(address)) is Verdict.PUBLIC


@repeatable
@given(st.integers(2, 2**32 - 1))
def test_an_inner_ipv4_address_is_refused_inside_every_ipv6_address(number: int) -> None:
    outer = {
        "mapped": 0xFFFF << 32 | number,
        "compatible": number,
        "translated": 0xFFFF << 48 | number,
        "NAT64": 0x64FF9B << 96 | number,
        "local NAT64": 0x64FF9B0001 << 80 | number,
        "6to4": 0x2002 << 112 | number << 80 | 1,
        "Teredo server": 0x20010000 << 96 | number << 64 | 0xF7F7F7F7,
        "Teredo client": 0x20010000 << 96 | 0x08080808 << 64 | (number ^ 0xFFFFFFFF),
        "ISATAP": 0x2A001450 << 96 | 0x5EFE << 32 | number,
    }
    open_wide = AddressPolicy(parse_networks("::/0"))
    judged = CLOSED.verdict(IPv4Address(number))
    for kind, value in outer.items():
        address = IPv6Address(value)
        assert IPv4Address(number) in set(carried(address)), kind
        if judged is Verdict.REFUSED:
            # Even where the admin opened all of IPv6, and not this network of IPv4.
            assert open_wide.verdict(address) is Verdict.REFUSED, kind
        if kind != "ISATAP":
            assert CLOSED.verdict(address) is Verdict.REFUSED, kind


# --- What the admin opens -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opened", "inside", "outside"),
    [
        ("127.0.0.0/8", ["127.0.0.1", "127.255.255.255"], ["10.0.0.1", "::1", "::ffff:127.0.0.1"]),
        ("127.0.0.1", ["127.0.0.1"], ["127.0.0.2", "127.0.0.0"]),
        ("10.1.0.0/16", ["10.1.0.0", "10.1.255.255"], ["10.0.255.255", "10.2.0.0", "2002:a01::1"]),
        ("::1", ["::1"], ["::2", "127.0.0.1"]),
        ("fd12:3456::/32", ["fd12:3456::1"], ["fd12:3457::1", "fe80::1"]),
        ("loopback", ["127.0.0.1", "::1"], ["10.0.0.1", "0.0.0.0", "169.254.1.1"]),
        ("private", ["10.9.8.7", "172.20.1.1", "192.168.4.4", "fd00::1"], ["127.0.0.1", "::1"]),
        ("LOOPBACK,private", ["127.0.0.1", "192.168.4.4"], ["100.64.0.1", "169.254.1.1"]),
        (" 10.0.0.0/8 ,, 192.168.7.0/24\n", ["10.0.0.1", "192.168.7.9"], ["192.168.8.1"]),
        ("64:ff9b::/96", ["64:ff9b::8.8.8.8"], ["64:ff9b::10.0.0.1", "64:ff9b:1::8.8.8.8"]),
        ("64:ff9b::/96 10.0.0.0/8", ["64:ff9b::10.0.0.1"], ["64:ff9b::127.0.0.1"]),
        ("::ffff:0:0/96", ["::ffff:8.8.8.8"], ["::ffff:127.0.0.1", "::8.8.8.8"]),
        ("", [], ["127.0.0.1", "10.0.0.1"]),
    ],
)  # fmt: skip
def test_allowed_networks_open_exactly_what_they_say(
    opened: str, inside: list[str], outside: list[str]
) -> None:
    policy = AddressPolicy(parse_networks(opened))
    for address in inside:
        assert policy.verdict(ip_address(address)) is Verdict.OPENED, address
    for address in outside:
        assert policy.verdict(ip_address(address)) is Verdict.REFUSED, address
    assert policy.verdict(ip_address("8.8.8.8")) is Verdict.PUBLIC


@pytest.mark.parametrize(
    ("network", "address"),
    [
        ("169.254.0.0/16", "169.254.169.254"),
        ("0.0.0.0/0", "169.254.169.254"),
        ("0.0.0.0/0", "168.63.129.16"),
        ("100.64.0.0/10", "100.100.100.200"),
        ("private", "fd00:ec2::254"),
        ("fc00::/7", "fd20:ce::254"),
        ("::/0", "fd00:ec2::254"),
    ],
)
def test_a_metadata_server_is_opened_only_by_its_own_address(network: str, address: str) -> None:
    at = ip_address(address)
    assert AddressPolicy(parse_networks(network)).verdict(at) is Verdict.REFUSED
    assert AddressPolicy(parse_networks(f"{network},{address}")).verdict(at) is Verdict.OPENED


def test_a_zone_is_refused_even_where_its_network_is_open() -> None:
    policy = AddressPolicy(parse_networks("fe80::/10"))
    assert policy.verdict(ip_address("fe80::1")) is Verdict.OPENED
    assert policy.verdict(ip_address("fe80::1%lo")) is Verdict.REFUSED


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10.0.0.1/8", "10.0.0.0/8"),  # what was meant
        ("10.0.0.0/33", "10.0.0.0/33"),
        ("10.0.0.0/8, banana", "banana"),
        ("010.0.0.1", "010.0.0.1"),
        ("0x7f.1", "0x7f.1"),
        ("fe80::1%eth0", "zone"),
        ("example.com", "example.com"),
        ("10.0.0.0-10.0.0.9", "10.0.0.0-10.0.0.9"),
        ("*", "'*'"),
    ],
)
def test_a_network_that_is_none_is_told_to_the_admin(text: str, message: str) -> None:
    with pytest.raises(InstallationError, match="CADENZA_ALLOWED_NETWORKS") as raised:
        parse_networks(text)
    assert message in str(raised.value)
    assert "10.1.0.0/16" in str(raised.value)  # how it is written


def test_closed_ports_are_read_one_by_one_and_as_ranges() -> None:
    assert parse_ports("25, 465 6000-6002") == {25, 465, 6000, 6001, 6002}
    policy = AddressPolicy(closed_ports=parse_ports("25"))
    assert not policy.allows_port(25)
    assert not policy.allows_port(0)
    assert not policy.allows_port(65536)
    assert policy.allows_port(443)
    for wrong in ("0", "65536", "http", "9-3", "-", "25-", "٢٥", "1-2-3"):
        with pytest.raises(InstallationError, match="CADENZA_CLOSED_PORTS"):
            parse_ports(wrong)
