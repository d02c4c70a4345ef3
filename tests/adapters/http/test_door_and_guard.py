"""The door and the dispatcher read URLs with different libraries: they must not disagree."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cadenza.adapters.http.request import UnusableUrl, location_of
from cadenza.domain.errors import InvalidInput
from cadenza.domain.target import HttpTarget
from cadenza.domain.target_validation import check_http_target

PIECES = [
    "http://", "https://", "//", "/", "\\", "@", ":", "?", "#", "[", "]", "%", "%2e", "%40", ".",
    "example.com", "127.0.0.1", "::1", "80", "65536", "evil.com", "user", "。", "．", "＠", "：",
    "／", "＃", "é", "ß", "℀", "①", "a", "-", "_", ";", "&", "=", "+", "xn--", "xn--a",
    "\u0130", "K",
]  # fmt: skip


@settings(max_examples=1000, derandomize=True, deadline=None, database=None)
@given(st.lists(st.sampled_from(PIECES), max_size=8).map("".join))
def test_what_the_door_admits_leads_to_the_host_that_it_saw(rest: str) -> None:
    url = f"http://{rest}"
    try:
        check_http_target(HttpTarget(url))
    except InvalidInput:
        return
    seen = urlsplit(url)
    try:
        location = location_of(url)
    except UnusableUrl:
        return  # refused later; as an outcome, not as an accident
    assert location.port == (seen.port or 80)
    if seen.hostname is not None and seen.hostname.isascii():
        host = seen.hostname
        assert location.host == host or ":" in host


@settings(max_examples=400, derandomize=True, deadline=None, database=None)
@given(st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=10).map("".join))
def test_any_text_is_a_place_or_unusable(text: str) -> None:
    for url in (text, f"http://{text}", f"https://example.com{text}"):
        try:
            location = location_of(url)
        except UnusableUrl:
            continue
        assert location.host
        assert 0 < location.port < 65536
        assert location.url.scheme in ("http", "https")


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.com#@evil.com/", "example.com"),
        ("http://example.com?@evil.com/", "example.com"),
        ("http://example.com/@evil.com", "example.com"),
        ("http://example.com;evil.com/", None),
        ("http://example.com\\.evil.com/", None),
        ("http://example.com／.evil.com/", None),
        ("http://example.com＠evil.com/", None),
    ],
)
def test_well_known_disagreements_lead_to_the_first_host_or_nowhere(
    url: str, host: str | None
) -> None:
    try:
        check_http_target(HttpTarget(url))
    except InvalidInput:
        assert host is None
        return
    assert location_of(url).host == host
