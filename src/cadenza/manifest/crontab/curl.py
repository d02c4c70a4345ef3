"""A `curl` line as an HTTP target, where the same request goes out: otherwise NotExact.

The same means: method, address, body and every header that the line names. How the answer is judged
is Cadenza's own (2xx is success); cron never judged it, with or without `-f`.
"""

import re
from argparse import ArgumentParser
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, NoReturn

from cadenza.domain.target_validation import MAX_REDIRECTS, METHODS
from cadenza.manifest.durations import format_duration

LONGEST = 1800.0  # seconds; also where curl would wait for ever
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_JSON = {"Content-Type": "application/json", "Accept": "application/json"}
_OF_OUTPUT = (
    "-s", "--silent", "-S", "--show-error", "-f", "--fail", "--fail-with-body", "-#",
    "--progress-bar", "--no-progress-meter", "-i", "--include", "-v", "--verbose", "--compressed",
)  # fmt: skip
_SECRET = re.compile(r"auth|cookie|token|secret|key|password|signature", re.IGNORECASE)
_GLOB = frozenset("[]{}")


class NotExact(Exception):
    """Why the line stays a command."""


def http_target(words: Sequence[str]) -> dict[str, Any]:
    """Fields of an endpoint's document; the secret ones hold their value."""
    options, unknown = _PARSER.parse_known_intermixed_args(words[1:])
    # What argparse reads otherwise than curl: `--option=value`, and the end of the options.
    unknown += [word for word in words if re.match(r"--(\S*=|$)", word)]
    if unknown:
        raise NotExact(f"{unknown[0]} has no counterpart")
    urls: list[str] = options.addresses + options.url
    if len(urls) != 1:
        raise NotExact("it names no address, or several")
    [url] = urls
    if not url.startswith(("http://", "https://")) or not _GLOB.isdisjoint(url):
        raise NotExact("its address is not written out, with http:// or https://")
    data: list[str] = options.json + options.data
    if options.json and len(data) > 1:
        raise NotExact("its body has several parts")
    body = "&".join(data) if data else None
    headers = _headers(options.headers, (_JSON if options.json else _FORM) if data else {})
    if options.location and (headers or options.request or body is not None):
        raise NotExact("what it sends after a redirect is curl's own affair")
    usual = "HEAD" if options.head else "GET" if body is None else "POST"
    document: dict[str, Any] = {
        "url": url,
        "method": options.request or usual,
        "headers": {name: text for name, text in headers.items() if not _SECRET.search(name)},
        "secret_headers": {name: text for name, text in headers.items() if _SECRET.search(name)},
        "body": body,
        "max_redirects": options.max_redirs if options.location else None,
        "timeout": format_duration(timedelta(seconds=min(options.max_time, LONGEST))),
    }
    return {name: value for name, value in document.items() if value not in (None, {})}


def _headers(pairs: Sequence[tuple[str, str]], added: dict[str, str]) -> dict[str, str]:
    """Those of the line, and before them what curl adds for a body, unless the line has it."""
    headers: dict[str, str] = {}
    for name, text in pairs:
        if name.lower() in map(str.lower, headers):
            raise NotExact(f"the header {name} is given twice")
        headers[name] = text
    lower = {name.lower() for name in headers}
    return {name: text for name, text in added.items() if name.lower() not in lower} | headers


# --- Options: each function reads a value, or says why there is no counterpart ----------------


def _method(value: str) -> str:
    if value not in METHODS:
        raise NotExact(f"the method {value!r} is not one of {', '.join(METHODS)}")
    return value


def _header(value: str) -> tuple[str, str]:
    name, colon, text = value.partition(":")
    if value.startswith("@") or not colon or not text.strip():
        raise NotExact("one of its headers is taken away, empty or from a file")
    return name, text.strip()


def _user_agent(value: str) -> tuple[str, str]:
    return _header(f"User-Agent: {value}")


def _referer(value: str) -> tuple[str, str]:
    if value.endswith(";auto"):
        raise NotExact("--referer ;auto has no counterpart")
    return _header(f"Referer: {value}")


def _data(value: str) -> str:
    if value.startswith("@"):
        raise NotExact("its body comes from a file")
    return value


def _max_time(value: str) -> float:
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,3})?", value) or float(value) == 0:
        raise NotExact(f"--max-time {value} is not a number of seconds")
    return float(value)


def _max_redirects(value: str) -> int:
    if not re.fullmatch("[0-9]{1,2}", value) or int(value) > MAX_REDIRECTS:
        raise NotExact(f"--max-redirs {value}: {MAX_REDIRECTS} are the most")
    return int(value)


def _output(value: str) -> str:
    if value != "/dev/null":
        raise NotExact("it writes the answer to a file")
    return value


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise NotExact(message)


def _parser() -> ArgumentParser:
    parser = _Parser(add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("addresses", nargs="*")
    add("--url", action="append", default=[])
    add("-X", "--request", type=_method)
    add("-I", "--head", action="store_true")
    add("-L", "--location", action="store_true")
    add("--max-redirs", type=_max_redirects, default=MAX_REDIRECTS)
    add("-m", "--max-time", type=_max_time, default=LONGEST)
    add("-o", "--output", type=_output)
    add("-H", "--header", dest="headers", action="append", default=[], type=_header)
    add("-A", "--user-agent", dest="headers", action="append", type=_user_agent)
    add("-e", "--referer", dest="headers", action="append", type=_referer)
    add("-d", "--data", dest="data", action="append", default=[], type=_data)
    add("--data-ascii", "--data-binary", dest="data", action="append", type=_data)
    add("--data-raw", dest="data", action="append")
    add("--json", action="append", default=[], type=_data)
    add(*_OF_OUTPUT, dest="of_output", action="store_true")
    return parser


_PARSER = _parser()
