"""Targets at the door: everything that nobody may ask us to call, with field, value and reason."""

from datetime import timedelta
from typing import Any

import pytest

from cadenza.domain.errors import InvalidInput
from cadenza.domain.secret import quotable
from cadenza.domain.target import HttpTarget, Secret, ShellTarget
from cadenza.domain.target_validation import (
    MAX_BODY,
    MAX_HEADERS,
    METHODS,
    check_http_target,
    check_shell_target,
)


def refused(url: str = "https://example.com/", **fields: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as raised:
        check_http_target(HttpTarget(url, **fields), closed_ports=(25, 6000))
    assert len(str(raised.value)) < 500
    return raised.value


# --- URLs -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com", "https://example.com/", "HTTPS://EXAMPLE.com/Path?q=1#part",
        "http://example.com:80/", "http://example.com:65535/x", "http://example.com./",
        "http://127.0.0.1/", "http://[::1]:8080/", "http://0x7f.1/", "http://localhost:3000/",
        "http://bücher.example/straße?q=ü", "http://xn--bcher-kva.example/", "http://a_b.example/",
        "http://example.com/%5C%20%00?x=%0d%0a", "http://example.com/a@b", "http://example.com?a=b",
        "http://例え.テスト/", "https://example.com/" + "x" * 2000, "http://a-b.c/;p=1,2!$&'()*+",
    ],
)  # fmt: skip
def test_an_ordinary_url_passes(url: str) -> None:
    check_http_target(HttpTarget(url), closed_ports=(25,))


@pytest.mark.parametrize(
    ("url", "told"),
    [
        # other schemes
        ("ftp://example.com/", "http://"), ("file:///etc/passwd", "http://"),
        ("javascript:alert(1)", "http://"), ("data:,x", "http://"), ("gopher://x/", "http://"),
        ("//example.com/", "http://"), ("example.com", "http://"), ("", "http://"),
        ("http:example.com", "http://"), ("http:/example.com", "http://"), ("ws://x/", "http://"),
        ("https//example.com", "http://"), ("httpx://example.com", "http://"),
        # user info
        ("http://user@example.com/", "user name"), ("http://user:pw@example.com/", "user name"),
        ("http://@example.com/", "user name"), ("http://:pw@example.com/", "user name"),
        ("http://a@b@example.com/", "user name"), ("http://example.com:80@evil.com/", "user name"),
        # control characters, spaces, what cannot be seen, backslashes
        ("http://example.com/\n", "control"), ("http://exa\nmple.com/", "U+000A"),
        ("http://example.com/\0", "U+0000"), ("\thttp://example.com/", "U+0009"),
        (" http://example.com/", "U+0020"), ("http://example.com/a b", "U+0020"),
        ("http://example.com/\x7f", "U+007F"), ("http://example.com/\x85", "U+0085"),
        ("http://example.com/\u2028", "U+2028"), ("http://example.com/\u200b", "U+200B"),
        ("http://example.com\u00ad/", "U+00AD"), ("http://example.com/\u202e", "U+202E"),
        ("http://example.com/\u00a0", "U+00A0"), ("http://example.com/\ud800", "U+D800"),
        ("http://example.com\\@evil.com/", "backslash"), ("http:\\\\example.com", "backslash"),
        ("http://example.com/\\", "backslash"),
        # ports
        ("http://example.com:0/", "65535"), ("http://example.com:65536/", "65535"),
        ("http://example.com:99999999/", "65535"), ("http://example.com:-1/", "65535"),
        ("http://example.com:http/", "65535"), ("http://example.com:/", "65535"),
        ("http://example.com:80:80/", "65535"), ("http://example.com:+80/", "65535"),
        ("http://example.com:８０/", "65535"), ("http://example.com:25/", "closed port 25"),
        ("http://example.com:0025/", "closed port 25"), ("https://[::1]:6000/", "closed port 6000"),
        # hosts
        ("http://", "no host"), ("http:///path", "no host"), ("http://:80/", "no host"),
        ("http://?q", "no host"), ("http://#x", "no host"), ("http://./", "two dots"),
        ("http://a..b/", "two dots"), ("http://.example.com/", "two dots"),
        ("http://\uff0eexample/", "two dots"), ("http://xn--/", "hyphen"),
        ("http://-a.b/", "hyphen"), ("http://a-.b/", "hyphen"),
        ("http://example.com../", "two dots"), ("http://" + "a" * 64 + ".com/", "too long"),
        ("http://" + ".".join(["a" * 50] * 6) + "/", "too long"), ("http://a%2eb/", "percent"),
        ("http://%31%32%37.0.0.1/", "percent"), ("http://exam,ple.com/", "','"),
        ("http://exam!ple.com/", "'!'"), ("http://<b>.com/", "'<'"), ("http://a|b/", "'|'"),
        ("http://[::1%25eth0]/", ""), ("http://[::1/", ""), ("http://::1/", ""),
        ("http://[v1.x]/", ""), ("http://a[::1]/", ""), ("http://[::1]a/", ""), ("http://[]/", ""),
        ("http://[::1]80/", ""), ("http://[example.com]/", ""), ("http://ex℀mple.com/", ""),
        ("http://example．com＠evil.com/", ""),
        # length
        ("http://example.com/" + "x" * 2048, "2048"),
    ],
)  # fmt: skip
def test_a_url_that_may_not_be_called_is_refused_with_the_reason(url: str, told: str) -> None:
    error = refused(url)
    assert error.field == "url"
    assert error.value == quotable("url", url)
    assert told in error.fix


def test_a_password_in_a_url_is_not_repeated_in_the_error() -> None:
    error = refused("https://jane:hunter2@example.com/a")
    assert "hunter2" not in str(error)
    assert "https://***@example.com/a" in str(error)


# --- Methods, headers, bodies ---------------------------------------------------------------


def test_the_usual_methods_pass_and_others_do_not() -> None:
    for method in METHODS:
        check_http_target(HttpTarget("http://x.example/", method=method))
    for method in ("get", "TRACE", "CONNECT", "", "GET ", "G\nET", "PROPFIND", "GET / HTTP/1.1"):
        error = refused(method=method)
        assert (error.field, error.value) == ("method", method)
        assert "PATCH" in error.fix


def test_ordinary_headers_pass() -> None:
    check_http_target(
        HttpTarget(
            "http://x.example/",
            headers={"X-Own": "a\tb", "Accept": "*/*", "User-Agent": "me", "x.y_z~1": "é", "E": ""},
            secret_headers={"Authorization": Secret("Bearer x"), "Cookie": Secret("a=b")},
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "Host", "host", "HOST", "Transfer-Encoding", "Content-Length", "Connection", "Keep-Alive",
        "Upgrade", "TE", "Trailer", "Expect", "Proxy-Authorization", "proxy-connection",
        "Proxy-Anything", "Idempotency-Key", "idempotency-key", "Cadenza-Slot", "cadenza-attempt",
        "CADENZA-X", "webhook-id", "Webhook-Timestamp", "webhook-signature", "Accept-Encoding",
        "HTTP2-Settings",
    ],
)  # fmt: skip
def test_a_header_that_is_not_the_owners_is_refused(name: str) -> None:
    for fields in ({"headers": {name: "x"}}, {"secret_headers": {name: Secret("hidden")}}):
        error = refused(**fields)
        assert error.field in fields
        assert error.value == name
        assert "Cadenza's" in error.fix


@pytest.mark.parametrize(
    "name",
    ["", " ", "X Y", "X:", "X\r\nY", "X\n", "X\0", "Ünique", "a(b)", "a,b", "é", "x" * 129, "X\tY"],
)
def test_a_header_name_that_is_none_is_refused(name: str) -> None:
    error = refused(headers={name: "x"})
    assert (error.field, error.value) == ("headers", name)


@pytest.mark.parametrize(
    "value",
    ["a\rb", "a\nb", "a\r\nX-Injected: b", "\0", "a\0", "\x01", "\x7f", "\x85", "日本", "€", "🦀",
     "\ud800", "x" * 8193],
)  # fmt: skip
def test_a_header_value_that_could_break_out_is_refused(value: str) -> None:
    error = refused(headers={"X-Own": value})
    assert (error.field, error.value) == ("headers.X-Own", value)
    hidden = refused(secret_headers={"X-Own": Secret(f"hidden{value}")})
    assert hidden.field == "secret_headers.X-Own"
    assert "hidden" not in str(hidden)


def test_headers_are_given_once_few_and_small() -> None:
    error = refused(headers={"X-Own": "1"}, secret_headers={"x-own": Secret("hidden")})
    assert "twice" in error.fix
    assert "hidden" not in str(error)
    assert "twice" in refused(headers={"X-A": "1", "x-a": "2"}).fix
    many = {f"X-{number}": "y" for number in range(MAX_HEADERS + 1)}
    assert str(MAX_HEADERS) in refused(headers=many).fix
    large = {f"X-{number}": "y" * 5000 for number in range(4)}
    assert "16384" in refused(headers=large).fix
    assert "empty" in refused(secret_headers={"X-Key": Secret(" ")}).fix


def test_a_body_is_for_methods_that_have_one_and_not_too_large() -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS"):
        check_http_target(HttpTarget("http://x.example/", method=method, body="x" * MAX_BODY))
    for method in ("GET", "HEAD"):
        assert "POST" in refused(method=method, body="x").fix
        assert "POST" in refused(method=method, body="").fix
    for body in ("x" * (MAX_BODY + 1), "ü" * (MAX_BODY // 2 + 1)):
        error = refused(method="POST", body=body)
        assert error.field == "body"
        assert str(MAX_BODY) in error.fix
    assert "NUL" in refused(method="POST", body="a\0b").fix
    assert "half" in refused(method="POST", body="a\ud800b").fix


# --- Time and answer ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "timeout",
    [timedelta(0), timedelta(seconds=-1), timedelta(microseconds=1), timedelta(minutes=31),
     timedelta.max, timedelta.min, timedelta(minutes=30, microseconds=1)],
)  # fmt: skip
def test_a_timeout_is_more_than_nothing_and_at_most_half_an_hour(timeout: timedelta) -> None:
    assert refused(timeout=timeout).field == "timeout"
    assert "30 min" in refused(timeout=timeout).fix
    with pytest.raises(InvalidInput, match="timeout"):
        check_shell_target(ShellTarget(("ls",), timeout=timeout))


def test_the_ends_of_every_range_pass() -> None:
    for timeout in (timedelta(milliseconds=1), timedelta(minutes=30)):
        check_http_target(HttpTarget("http://x.example/", timeout=timeout))
    for redirects in (0, 10):
        check_http_target(HttpTarget("http://x.example/", max_redirects=redirects))
    check_http_target(HttpTarget("http://x.example/", success_statuses=(100, 200, 599)))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_redirects", -1),
        ("max_redirects", 11),
        ("success_statuses", (99,)),
        ("success_statuses", (200, 600)),
        ("success_statuses", tuple(range(100, 300))),
    ],
)
def test_numbers_out_of_their_range_are_refused(field: str, value: Any) -> None:
    assert refused(**{field: value}).field == field


def test_an_assertion_is_read_by_whoever_can_read_it() -> None:
    asked: list[tuple[str, str]] = []

    def check(field: str, expression: str) -> None:
        asked.append((field, expression))
        raise InvalidInput(field, expression, "at column 3")

    target = HttpTarget("http://x.example/", success_when="1 +")
    with pytest.raises(InvalidInput, match=r"success_when.*column 3"):
        check_http_target(target, check_expression=check)
    assert asked == [("success_when", "1 +")]
    check_http_target(target)
    check_http_target(HttpTarget("http://x.example/"), check_expression=check)


def test_the_message_holds_field_value_and_reason() -> None:
    assert str(refused("ftp://example.com/")) == (
        "url: 'ftp://example.com/' is not valid: it must begin with http:// or https://"
    )


# --- Commands -------------------------------------------------------------------------------


def test_an_ordinary_command_passes() -> None:
    check_shell_target(ShellTarget(("ls", "-l", "", "ü", "a b; rm -rf /"), folder="jobs"))
    check_shell_target(ShellTarget(("/bin/true",)))


@pytest.mark.parametrize(
    ("command", "folder", "field"),
    [
        ((), None, "command"),
        (("",), None, "command"),
        (("ls\0",), None, "command[0]"),
        (("ls", "a", "b\0"), None, "command[2]"),
        (("ls", "\ud800"), None, "command[1]"),
        (("x",) * 257, None, "command"),
        (("x" * 70_000,), None, "command"),
        (("ls",), "", "folder"),
        (("ls",), "a\0", "folder"),
        (("ls",), "a" * 1025, "folder"),
        (("ls",), "\ud800", "folder"),
    ],
)
def test_a_command_that_cannot_be_started_is_refused(
    command: tuple[str, ...], folder: str | None, field: str
) -> None:
    with pytest.raises(InvalidInput) as raised:
        check_shell_target(ShellTarget(command, folder))
    assert raised.value.field == field
