"""Checks of a target before it is stored: what may not be called, and why.

Only the text of a target is judged here. Where its address leads is judged when it is called.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import NoReturn
from urllib.parse import urlsplit

from cadenza.domain.errors import InvalidInput
from cadenza.domain.instants import humanize
from cadenza.domain.target import MAX_TIMEOUT, HttpTarget, Secret, ShellTarget

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
WITHOUT_BODY = ("GET", "HEAD")
MAX_URL = 2048
MAX_HOST = 253
MAX_LABEL = 63
MAX_BODY = 256 * 1024
MAX_HEADERS = 50
MAX_HEADER_NAME = 128
MAX_HEADER_VALUE = 8 * 1024
MAX_HEADERS_SIZE = 16 * 1024
MAX_REDIRECTS = 10
MAX_STATUSES = 100
MAX_ARGUMENTS = 256
MAX_COMMAND = 64 * 1024
MAX_FOLDER = 1024
MAX_RESULT_TIME = timedelta(days=1)  # of a run that waits for its result

_TOKEN = frozenset("!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_DOTS = dict.fromkeys(map(ord, "\u3002\uff0e\uff61"), ".")  # which names are taken apart at, too
_HOST = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_.")
_ADDRESS_V6 = frozenset("0123456789abcdef:.")
_RESERVED = frozenset(
    (
        # of one connection, which is not the owner's to steer
        "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "te",
        "trailer", "transfer-encoding", "upgrade",
        # what we send ourselves
        "accept-encoding", "idempotency-key", "webhook-id", "webhook-signature",
        "webhook-timestamp",
    )
)  # fmt: skip
_RESERVED_BEGINNINGS = ("proxy-", "cadenza-")


def check_http_target(
    target: HttpTarget,
    *,
    closed_ports: Collection[int] = (),
    check_expression: Callable[[str, str], None] | None = None,
) -> None:
    """InvalidInput with the field, the value and the reason, for the first thing that is wrong."""
    for check in http_checks(target, closed_ports, check_expression):
        check()


def http_checks(
    target: HttpTarget,
    closed_ports: Collection[int],
    check_expression: Callable[[str, str], None] | None,
) -> Iterator[Callable[[], None]]:
    """One for each field or two, so that all that are wrong can be told at once."""
    longest = MAX_RESULT_TIME if target.awaits_result else MAX_TIMEOUT
    yield partial(_check_url, target.url, closed_ports)
    yield partial(_check_method, target)
    yield partial(check_headers, target.headers, target.secret_headers)
    yield partial(check_body, target.body)
    yield partial(check_timeout, target.timeout, longest)
    yield partial(_check_redirects, target.max_redirects)
    yield partial(_check_statuses, target.success_statuses)
    if target.success_when is not None and check_expression is not None:
        yield partial(check_expression, "success_when", target.success_when)


def check_shell_target(target: ShellTarget) -> None:
    """Whether a command may be stored; whether commands may run at all is the admin's decision."""
    command = target.command
    if not command or not command[0]:
        raise InvalidInput("command", command, "name a program, as the first of the list")
    if len(command) > MAX_ARGUMENTS:
        fix = f"{len(command)} arguments; {MAX_ARGUMENTS} are the most"
        raise InvalidInput("command", command, fix)
    for index, argument in enumerate(command):
        check_storable(f"command[{index}]", argument)
    size = sum(len(argument.encode()) for argument in command)
    if size > MAX_COMMAND:
        raise InvalidInput("command", command, f"{size} bytes; {MAX_COMMAND} are the most")
    if target.folder is not None:
        check_storable("folder", target.folder)
        if not target.folder or len(target.folder) > MAX_FOLDER:
            fix = f"give a path of 1 to {MAX_FOLDER} characters, or leave it out"
            raise InvalidInput("folder", target.folder, fix)
    check_timeout(target.timeout)


def _check_url(url: str, closed_ports: Collection[int]) -> None:
    if len(url) > MAX_URL:
        _bad_url(url, f"{len(url)} characters; {MAX_URL} are the most")
    for char in url:
        if char.isspace() or not char.isprintable():
            _bad_url(url, f"it holds a space or a control character (U+{ord(char):04X}): encode it")
    if "\\" in url:
        _bad_url(url, "it holds a backslash: write / or %5C")
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError as error:
        _bad_url(url, f"it cannot be read: {error}")
    if parts.scheme not in ("http", "https") or not url[len(parts.scheme) :].startswith("://"):
        _bad_url(url, "it must begin with http:// or https://")
    if "@" in parts.netloc:
        _bad_url(url, "it holds a user name or a password: an endpoint sends it in secret_headers")
    if not host:
        _bad_url(url, "it names no host")
    _check_host(url, host, parts.netloc)
    _check_port(url, parts.netloc, closed_ports)


def _check_host(url: str, host: str, netloc: str) -> None:
    if "[" in netloc or "]" in netloc:
        around = netloc.partition("]")[2]
        if not netloc.startswith("[") or around[:1] not in ("", ":"):
            _bad_url(url, "its brackets are in the wrong place")
        if not _ADDRESS_V6.issuperset(host):
            _bad_url(url, "what stands in the brackets is not a plain IPv6 address")
        return
    if "%" in host:
        _bad_url(url, "its host is percent-encoded: write it plainly")
    bare = host.translate(_DOTS).removesuffix(".")
    if len(bare) > MAX_HOST or any(len(label) > MAX_LABEL for label in bare.split(".")):
        _bad_url(url, f"its host is too long: {MAX_HOST} characters, {MAX_LABEL} between dots")
    if not all(bare.split(".")):
        _bad_url(url, "its host has nothing between two dots")
    if any(label == "xn--" or label[0] == "-" or label[-1] == "-" for label in bare.split(".")):
        _bad_url(url, "a part of its host begins or ends with a hyphen")
    strange = next((char for char in bare if char.isascii() and char not in _HOST), None)
    if strange is not None:
        _bad_url(url, f"its host holds {strange!r}")


def _check_port(url: str, netloc: str, closed_ports: Collection[int]) -> None:
    _, colon, port = netloc.rpartition("]")[2].partition(":")
    if not colon:
        return
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and 0 < int(port) < 65536):
        _bad_url(url, "its port must be a number from 1 to 65535")
    if int(port) in closed_ports:
        _bad_url(url, f"the installation's admin has closed port {int(port)}")


def _bad_url(url: str, fix: str) -> NoReturn:
    raise InvalidInput("url", url, fix)


def _check_method(target: HttpTarget) -> None:
    if target.method not in METHODS:
        raise InvalidInput("method", target.method, f"use one of {', '.join(METHODS)}")
    if target.body is not None and target.method in WITHOUT_BODY:
        fix = f"a {target.method} has none: leave it out, or use POST"
        raise InvalidInput("body", target.body[:40], fix)


def check_headers(headers: Mapping[str, str], secret_headers: Mapping[str, Secret]) -> None:
    count = len(headers) + len(secret_headers)
    if count > MAX_HEADERS:
        raise InvalidInput("headers", f"{count} of them", f"{MAX_HEADERS} are the most")
    seen: set[str] = set()
    size = 0
    plain = [("headers", name, value) for name, value in headers.items()]
    secret = [("secret_headers", name, value) for name, value in secret_headers.items()]
    for field, name, value in (*plain, *secret):
        _check_header_name(field, name)
        if name.lower() in seen:
            raise InvalidInput(field, name, "it is given twice; upper and lower case are the same")
        seen.add(name.lower())
        text = value.value if isinstance(value, Secret) else value
        _check_header_value(f"{field}.{name}", text, value)
        size += len(name) + len(text)
    if size > MAX_HEADERS_SIZE:
        raise InvalidInput("headers", f"{size} bytes", f"{MAX_HEADERS_SIZE} are the most")


def _check_header_name(field: str, name: str) -> None:
    if not name or len(name) > MAX_HEADER_NAME or not _TOKEN.issuperset(name):
        fix = f"a name of 1 to {MAX_HEADER_NAME} letters, digits and hyphens"
        raise InvalidInput(field, name, fix)
    lower = name.lower()
    if lower in _RESERVED or lower.startswith(_RESERVED_BEGINNINGS):
        raise InvalidInput(field, name, "this header is Cadenza's to set, or of the connection")


def _check_header_value(field: str, text: str, value: str | Secret) -> None:
    """Errors quote the value, which masks itself where it is a secret."""
    if len(text) > MAX_HEADER_VALUE:
        raise InvalidInput(field, value, f"{len(text)} characters; {MAX_HEADER_VALUE} are the most")
    for char in text:
        if char != "\t" and (char < " " or "\x7f" <= char < "\xa0" or char > "\xff"):
            fix = f"it holds U+{ord(char):04X}; letters of ISO-8859-1, spaces and tabs are allowed"
            raise InvalidInput(field, value, fix)
    if isinstance(value, Secret) and not text.strip():
        raise InvalidInput(field, value, "a secret cannot be empty")


def check_body(body: str | None) -> None:
    if body is None:
        return
    if len(body) > MAX_BODY:  # before it is encoded, which takes time
        raise InvalidInput("body", body[:40], f"longer than {MAX_BODY} bytes")
    check_storable("body", body)
    if (size := len(body.encode())) > MAX_BODY:
        raise InvalidInput("body", body[:40], f"{size} bytes; {MAX_BODY} are the most")


def check_storable(field: str, text: str) -> None:
    if "\0" in text:
        raise InvalidInput(field, text, "it holds a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(field, text, "it holds half of a character pair") from error


def check_timeout(timeout: timedelta, most: timedelta = MAX_TIMEOUT) -> None:
    if not timedelta(milliseconds=1) <= timeout <= most:
        raise InvalidInput("timeout", humanize(timeout), f"from 1 ms to {humanize(most)}")


def _check_redirects(redirects: int) -> None:
    if not 0 <= redirects <= MAX_REDIRECTS:
        raise InvalidInput("max_redirects", redirects, f"from 0 to {MAX_REDIRECTS}")


def _check_statuses(statuses: Sequence[int]) -> None:
    if len(statuses) > MAX_STATUSES:
        count = f"{len(statuses)} of them"
        raise InvalidInput("success_statuses", count, f"{MAX_STATUSES} are the most")
    for status in statuses:
        if not 100 <= status <= 599:
            raise InvalidInput("success_statuses", status, "a status is from 100 to 599")
