"""Whatever reads hostile bytes. Each reader takes any bytes, and may end only as it says it does.

A reader that returns has kept its word about what it returns; one that refuses does so with an
error of ours. Everything else is a bug.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from yarl import URL

from cadenza.adapters.http.answer import MAX_BODY, RawBody
from cadenza.adapters.http.request import UnusableUrl, location_of
from cadenza.adapters.http.retry_after import MOST, retry_after
from cadenza.application.ports.event_log import Position
from cadenza.domain.errors import CadenzaError, InvalidCron
from cadenza.manifest.crontab.convert import convert
from cadenza.manifest.crontab.curl import NotExact, http_target
from cadenza.manifest.crontab.shell_words import plain_words, split_input
from cadenza.manifest.durations import parse_duration
from cadenza.manifest.yaml_loading import read_tree
from cadenza.web.api.parsing.cursors import (
    read_cursor,
    read_name_cursor,
    read_time_cursor,
    write_cursor,
)
from cadenza.web.api.parsing.headers import _if_match
from cadenza.web.api.parsing.strict_json import parse
from tests.factories import CRON, NOON
from tests.manifest.policy import CHECKS

LONGEST_CRON = 128


@dataclass(frozen=True, slots=True)
class Reader:
    read: Callable[[bytes], None]
    samples: Sequence[bytes]


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape" if raw[:1] == b"\xff" else "replace")


def answer(raw: bytes) -> None:
    """A body is text without NUL, or JSON that can be written again."""
    for is_cut, kind in ((False, ""), (True, ""), (False, "text/html; charset=latin1")):
        body = RawBody(raw[:MAX_BODY], is_cut, kind).parsed()
        assert "\0" not in json.dumps(body, allow_nan=False)


def headers(raw: bytes) -> None:
    text = raw.decode("latin-1")
    wait = retry_after(text, NOON)
    assert wait is None or timedelta(0) < wait <= MOST
    with suppress(UnusableUrl):
        assert isinstance(location_of(text[:4096]).url, URL)
    waiting = _if_match(text[:1000])
    with suppress(CadenzaError, StopIteration):
        waiting.send(None)


def cron(raw: bytes) -> None:
    with suppress(InvalidCron):
        assert CRON.next_after(_text(raw)[:LONGEST_CRON], "Europe/Berlin", NOON) > NOON


def zone(raw: bytes) -> None:
    with suppress(InvalidCron):
        assert CRON.next_after("*/5 * * * *", _text(raw), NOON) > NOON


def yaml(raw: bytes) -> None:
    tree = read_tree("jobs.yaml", raw.decode("utf-8", "replace"))  # as files and requests are
    json.dumps(tree.value, default=str)


def curl(raw: bytes) -> None:
    command, _ = split_input(_text(raw))
    words = plain_words(command)
    if words:
        with suppress(NotExact):
            assert http_target(["curl", *words])["url"].startswith("http")


def crontab(raw: bytes) -> None:
    with suppress(CadenzaError):
        convert(_text(raw), CHECKS, system=False, timezone="UTC")


def cursor(raw: bytes) -> None:
    for read in (read_cursor, read_name_cursor, read_time_cursor):
        with suppress(CadenzaError):
            read(_text(raw))


def event_id(raw: bytes) -> None:
    text = _text(raw)
    position = Position.read(text)
    assert position is None or Position.read(str(position)) == position


def duration(raw: bytes) -> None:
    with suppress(ValueError):
        assert parse_duration(_text(raw)) > timedelta(0)


def body(raw: bytes) -> None:
    with suppress(CadenzaError):
        json.dumps(parse(raw))


READERS = {
    "answer": Reader(
        answer, [b'{"a": [1, 2.5, "x\\u0000"]}', b"\xef\xbb\xbfplain", b"1e999", b"\xff\xfe"]
    ),
    "headers": Reader(
        headers,
        [
            b"120",
            b"Wed, 21 Oct 2026 07:28:00 GMT",
            b'W/"3", "4"',
            b"http://a:b@[::1]:80/x",
            b"http://u@[]@",
        ],
    ),
    "cron": Reader(cron, [b"*/5 0-3,7 1 * MON", b"@hourly", b"0 0 31 2 *", b"* * L * 5#3"]),
    "zone": Reader(zone, [b"Europe/Berlin", b"../etc/passwd", b"UTC\0", b"Factory"]),
    "yaml": Reader(
        yaml,
        [
            b"jobs:\n  - name: a\n    endpoints: [{url: 'http://x', every: 5m}]",
            b"a: &a [*a]",
            b"? {}\n: !!binary x",
            b'{"a": "\\ud83d\\ude00"}',
        ],
    ),
    "curl": Reader(
        curl,
        [
            b"-X POST -H 'A: b' -d x=%41 https://example.org/a",
            b"--json '{}' http://h",
            b"-m 1e9 http://h",
        ],
    ),
    "crontab": Reader(
        crontab,
        [b"*/5 * * * * curl -s https://example.org\n", b"CRON_TZ=UTC\n@daily echo hi%there\n"],
    ),
    "cursor": Reader(
        cursor,
        [write_cursor("2026-03-02T12:00:00Z", UUID(int=7)).encode(), b"W10", b"////", b"W1tdXQ"],
    ),
    "event-id": Reader(event_id, [b"12-34", b"0-0", b"9223372036854775808-1", "١-٢".encode()]),
    "duration": Reader(duration, [b"1h 30m", b"5m", b"0s", b"999999999999d"]),
    "body": Reader(
        body, [b'{"name": "a", "every_ms": 1e3}', b"[" * 300, b'{"a": 1, "a": 2}', b'"\\ud800"']
    ),
}
