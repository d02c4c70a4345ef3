"""A `curl` line as an HTTP target, where the same request goes out: otherwise NotExact.

The same means: method, address, body and every header that the line names. How the answer is judged
is Cadenza's own (2xx is success); cron never judged it, with or without `-f`.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from cadenza.domain.target_validation import MAX_REDIRECTS, METHODS
from cadenza.manifest.durations import format_duration

LONGEST = 1800.0  # seconds; also where curl would wait for ever
FORM = "application/x-www-form-urlencoded"
_HARMLESS = frozenset(
    (
        "-s", "--silent", "-S", "--show-error", "-f", "--fail", "--fail-with-body", "-#",
        "--progress-bar", "--no-progress-meter", "-i", "--include", "-v", "--verbose",
        "--compressed",
    )
)  # fmt: skip
_LONG = {
    "-X": "--request", "-H": "--header", "-d": "--data", "-m": "--max-time", "-o": "--output",
    "-A": "--user-agent", "-e": "--referer", "-L": "--location", "-I": "--head",
}  # fmt: skip
_SECRET = re.compile(r"auth|cookie|token|secret|key|password|signature", re.IGNORECASE)
_GLOB = frozenset("[]{}")


class NotExact(Exception):
    """Why the line stays a command."""


@dataclass(slots=True)
class _Request:
    urls: list[str] = field(default_factory=list[str])
    method: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])
    data: list[str] = field(default_factory=list[str])
    as_json: bool = False
    head: bool = False
    follows: bool = False
    redirects: int = MAX_REDIRECTS
    seconds: float = LONGEST


def http_target(words: Sequence[str]) -> dict[str, Any]:
    """Fields of an endpoint's document; the secret ones hold their value."""
    request = _read(list(words[1:]))
    if len(request.urls) != 1:
        raise NotExact("it names no address, or several")
    url = request.urls[0]
    if not url.startswith(("http://", "https://")) or not _GLOB.isdisjoint(url):
        raise NotExact("its address is not written out, with http:// or https://")
    headers = _with_defaults(request)
    body = "&".join(request.data) if request.data else None
    if request.follows and (headers or request.method or body is not None):
        raise NotExact("what it sends after a redirect is curl's own affair")
    usual = "HEAD" if request.head else "GET" if body is None else "POST"
    document: dict[str, Any] = {
        "url": url,
        "method": request.method or usual,
        "headers": {name: text for name, text in headers.items() if not _SECRET.search(name)},
        "secret_headers": {name: text for name, text in headers.items() if _SECRET.search(name)},
        "body": body,
        "max_redirects": request.redirects if request.follows else None,
        "timeout": format_duration(timedelta(seconds=min(request.seconds, LONGEST))),
    }
    return {name: value for name, value in document.items() if value not in (None, {})}


def _with_defaults(request: _Request) -> dict[str, str]:
    """What curl adds for a body, unless the line says it."""
    added = {"Content-Type": FORM} if request.data else {}
    if request.as_json:
        added = {"Content-Type": "application/json", "Accept": "application/json"}
    given = {name.lower() for name in request.headers}
    return {
        **{name: text for name, text in added.items() if name.lower() not in given},
        **request.headers,
    }


# --- Options --------------------------------------------------------------------------------


def _read(words: list[str]) -> _Request:
    request = _Request()
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            request.urls.append(word)
        elif word.startswith("--"):
            _option(request, word, words)
        else:
            _cluster(request, word[1:], words)
    return request


def _cluster(request: _Request, letters: str, words: list[str]) -> None:
    """`-fsSo /dev/null`, `-XPOST`: the first that takes a value takes the rest."""
    while letters:
        option, letters = f"-{letters[0]}", letters[1:]
        name = _LONG.get(option, option)
        if name in _WITH_VALUE and letters:
            words.insert(0, letters)
            letters = ""
        _option(request, name, words)


def _option(request: _Request, name: str, words: list[str]) -> None:
    if name in _HARMLESS:
        return
    if name == "--location":
        request.follows = True
    elif name == "--head":
        request.head = True
    elif name not in _WITH_VALUE:
        raise NotExact(f"{name} has no counterpart")
    elif not words:
        raise NotExact(f"{name} has no value")
    else:
        _WITH_VALUE[name](request, words.pop(0))


def _method(request: _Request, value: str) -> None:
    if value not in METHODS:
        raise NotExact(f"the method {value!r} is not one of {', '.join(METHODS)}")
    request.method = value


def _header(request: _Request, value: str) -> None:
    name, colon, text = value.partition(":")
    if value.startswith("@") or not colon or not text.strip():
        raise NotExact("one of its headers is taken away, empty or from a file")
    if name.lower() in {each.lower() for each in request.headers}:
        raise NotExact(f"the header {name} is given twice")
    request.headers[name] = text.strip()


def _data(request: _Request, value: str) -> None:
    if value.startswith("@"):
        raise NotExact("its body comes from a file")
    request.data.append(value)


def _raw_data(request: _Request, value: str) -> None:
    request.data.append(value)


def _json(request: _Request, value: str) -> None:
    if request.data:
        raise NotExact("its body has several parts")
    request.as_json = True
    _data(request, value)


def _max_time(request: _Request, value: str) -> None:
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", value) or float(value) == 0:
        raise NotExact(f"--max-time {value} is not a number of seconds")
    request.seconds = float(value)


def _max_redirects(request: _Request, value: str) -> None:
    if not re.fullmatch("[0-9]{1,2}", value) or int(value) > MAX_REDIRECTS:
        raise NotExact(f"--max-redirs {value}: {MAX_REDIRECTS} are the most")
    request.redirects = int(value)


def _output(request: _Request, value: str) -> None:
    del request
    if value != "/dev/null":
        raise NotExact("it writes the answer to a file")


def _url(request: _Request, value: str) -> None:
    request.urls.append(value)


def _user_agent(request: _Request, value: str) -> None:
    _header(request, f"User-Agent: {value}")


def _referer(request: _Request, value: str) -> None:
    if value.endswith(";auto"):
        raise NotExact("--referer ;auto has no counterpart")
    _header(request, f"Referer: {value}")


_WITH_VALUE: dict[str, Callable[[_Request, str], None]] = {
    "--request": _method,
    "--header": _header,
    "--data": _data,
    "--data-ascii": _data,
    "--data-binary": _data,
    "--data-raw": _raw_data,
    "--json": _json,
    "--max-time": _max_time,
    "--max-redirs": _max_redirects,
    "--output": _output,
    "--url": _url,
    "--user-agent": _user_agent,
    "--referer": _referer,
}
