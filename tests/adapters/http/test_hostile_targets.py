"""Targets that do their worst: every attempt ends in its time, with an outcome that can be stored,
and without much memory."""

import asyncio
import json
import ssl
import time
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from itertools import repeat
from pathlib import Path
from typing import Any

import aiohttp.connector
import pytest

from cadenza.adapters.http.answer import MAX_BODY, RawBody
from cadenza.adapters.postgres.storable import to_json
from cadenza.domain.run import Outcome, RunStatus
from tests.adapters.http.support import (
    Behaviour,
    Done,
    Request,
    Talk,
    answering,
    both,
    calling,
    resolving,
    saying,
    serving,
)

HEAD = "HTTP/1.1 200 OK\r\n"
ENDS = "\r\n"
CHUNKED = f"{HEAD}Transfer-Encoding: chunked\r\n\r\n"
MEGABYTE = 1024 * 1024
CERTIFICATE = Path(__file__).with_name("certificate.pem")


def is_storable(outcome: Outcome) -> bool:
    """JSON that PostgreSQL takes as it is: nothing had to be mended on the way."""
    text = json.dumps(outcome.body, ensure_ascii=False, allow_nan=False)
    text.encode()
    assert text == to_json(outcome.body)
    assert "\0" not in (outcome.error_message or "")
    return len(text) <= 8 * MAX_BODY


async def ended(behaviour: Behaviour, within: float = 5, **fields: Any) -> Outcome:
    """The outcome of one attempt; it may take no longer than its time."""
    async with both() as (target, caller):
        url = target.on("/", behaviour)
        begun = time.perf_counter()
        outcome = await caller.call(url, within=within, **fields)
        assert time.perf_counter() - begun < within + 30
        # Whatever it did, the next one is not harmed by it.
        target.behaviours.clear()
        after = await caller.call(url)
        assert (after.status, after.body) == (RunStatus.SUCCESS, {"ok": True})
    assert is_storable(outcome)
    return outcome


def streaming(*head: str, chunk: Callable[[], bytes], pause: float = 0) -> Behaviour:
    """A head, and then one chunk after another for ever."""

    async def behaviour(talk: Talk, _: Request) -> None:
        await talk.say(*head)
        while True:
            await talk.say(chunk())
            await asyncio.sleep(pause)

    return behaviour


# --- Time -----------------------------------------------------------------------------------


async def _silent(talk: Talk, _: Request) -> None:
    await talk.reader.read()


SLOW: dict[str, Behaviour] = {
    "nothing at all": _silent,
    "a byte a second": streaming(HEAD, "Content-Length: 100\r\n\r\n", chunk=lambda: b"x", pause=1),
    "a byte often": streaming(HEAD, "Content-Length: 9999\r\n\r\n", chunk=lambda: b"x", pause=0.01),
    "a chunk often": streaming(CHUNKED, chunk=lambda: b"1\r\nx\r\n", pause=0.01),
    "a header often": streaming(HEAD, chunk=lambda: b"X-Y: z\r\n", pause=0.02),
    "a letter of a header often": streaming(HEAD, "X-Long: ", chunk=lambda: b"y", pause=0.01),
    "half a status line": saying("HTTP/1.", close=False),
    "headers without an end": saying(HEAD, "X-Y: z\r\n", close=False),
    "less than it promised": saying(HEAD, "Content-Length: 10\r\n\r\nhalf", close=False),
    "half a chunk": saying(CHUNKED, "ff\r\nabc", close=False),
    "not yet, not yet": streaming(chunk=lambda: b"HTTP/1.1 102 Processing\r\n\r\n", pause=0.05),
    "trailers": streaming(CHUNKED, "0\r\n", chunk=lambda: b"X-Y: z\r\n", pause=0.02),
    "packed, slowly": streaming(
        HEAD, "Content-Encoding: gzip\r\n\r\n", chunk=lambda: zlib.compress(b"")[:1], pause=0.5
    ),
}


@pytest.mark.parametrize("kind", SLOW)
async def test_a_slow_target_is_a_timeout(kind: str) -> None:
    outcome = await ended(SLOW[kind], within=0.4)
    if kind == "packed, slowly" and outcome.error_kind == "protocol":
        return  # it found out sooner that this is no gzip
    assert (outcome.status, outcome.error_kind) == (RunStatus.TIMEOUT, "timeout")
    assert outcome.error_message == "no complete answer within 0.4 s"


async def test_the_status_is_told_even_where_the_body_never_came() -> None:
    outcome = await ended(SLOW["a byte a second"], within=0.2)
    assert outcome.status_code == 200


async def test_a_redirect_takes_no_time_of_its_own() -> None:
    async with both() as (target, caller):

        async def slow_hop(talk: Talk, _: Request) -> None:
            await asyncio.sleep(0.15)
            await talk.answer("", "302 Found", Location="/")

        outcome = await caller.call(target.on("/", slow_hop), within=0.4, max_redirects=10)
    assert outcome.status is RunStatus.TIMEOUT
    assert len(target.requests) <= 3


# --- Size -----------------------------------------------------------------------------------


def gzip_bomb() -> Callable[[], bytes]:
    """10 GB of zeros in 10 MB, made as it is read."""
    packer, zeros = zlib.compressobj(9, wbits=31), bytes(MEGABYTE)
    return lambda: packer.compress(zeros) or packer.flush(zlib.Z_SYNC_FLUSH)


def empty_blocks() -> bytes:
    """Deflate blocks that hold nothing: they go on and on, and never fill anything."""
    return b"\0\0\0\xff\xff" * 2000


def layered(times: int) -> bytes:
    raw = b"hello"
    for _ in repeat(None, times):
        packer = zlib.compressobj(wbits=31)
        raw = packer.compress(raw) + packer.flush()
    return raw


LARGE: dict[str, tuple[Behaviour, str | None]] = {
    "a body without end": (streaming(HEAD, ENDS, chunk=lambda: b"x" * 65536), None),
    "chunks without end": (
        streaming(CHUNKED, chunk=lambda: b"8000\r\n" + b"x" * 32768 + b"\r\n"),
        None,
    ),
    "a terabyte announced": (
        streaming(HEAD, f"Content-Length: {10**12}\r\n\r\n", chunk=lambda: b"x" * 65536),
        None,
    ),
    "10 GB in 10 MB": (
        streaming(HEAD, "Content-Encoding: gzip\r\n\r\n", chunk=gzip_bomb()),
        None,
    ),
    "gzip of nothing": (
        streaming(
            HEAD,
            "Content-Encoding: deflate\r\n\r\n",
            "\x78\x01",
            chunk=empty_blocks,
        ),
        "protocol",
    ),
    "headers without end": (
        streaming(HEAD, chunk=lambda: b"X-Y: z\r\n" * 1000),
        "protocol",
    ),
    "100,000 headers": (
        saying(HEAD, *(f"X-{number}: y\r\n" for number in range(100_000)), ENDS),
        "protocol",
    ),
    "a header of 100 MB": (
        streaming(HEAD, "X-Long: ", chunk=lambda: b"x" * MEGABYTE),
        "protocol",
    ),
    "a header name of 100 MB": (streaming(HEAD, chunk=lambda: b"x" * MEGABYTE), "protocol"),
    "a status line of 100 MB": (
        streaming("HTTP/1.1 200 ", chunk=lambda: b"x" * MEGABYTE),
        "protocol",
    ),
    "100 Continue without end": (
        streaming(chunk=lambda: b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000),
        "protocol",
    ),
    "trailers without end": (
        streaming(CHUNKED, "0\r\n", chunk=lambda: b"X-Y: z\r\n" * 10_000),
        "any",
    ),
    "a chunk extension of 100 MB": (
        streaming(CHUNKED, "5;", chunk=lambda: b"x" * MEGABYTE),
        "any",
    ),
    "blank lines without end": (streaming(chunk=lambda: b"\r\n" * 100_000), "any"),
}


@pytest.mark.parametrize("kind", LARGE)
async def test_a_target_that_sends_without_end_is_stopped_early(kind: str) -> None:
    behaviour, expected = LARGE[kind]
    sent = 0

    async def counted(talk: Talk, request: Request) -> None:
        nonlocal sent
        say = talk.say

        async def say_and_count(*parts: bytes | str) -> None:
            nonlocal sent
            for part in parts:
                await say(part)
                sent += len(part)

        talk.say = say_and_count  # type: ignore[method-assign]
        await behaviour(talk, request)

    begun = time.perf_counter()
    tracemalloc.start()
    try:
        outcome = await ended(counted, within=10)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert time.perf_counter() - begun < 9
    assert peak < 16 * MEGABYTE
    assert sent < 16 * MEGABYTE  # what the system holds between us included
    if expected is None:
        assert outcome.status is RunStatus.SUCCESS
        assert isinstance(outcome.body, str)
        assert len(outcome.body) == MAX_BODY
    else:
        assert outcome.status is RunStatus.FAILURE
        assert expected in ("any", outcome.error_kind)


async def test_a_body_is_cut_between_characters() -> None:
    for lead in range(4):
        text = "x" * lead + "🦀" * 20_000
        outcome = await ended(answering(text, Content_Type="text/plain"))
        assert isinstance(outcome.body, str)
        assert text.startswith(outcome.body)
        assert MAX_BODY - 4 < len(outcome.body.encode()) <= MAX_BODY


async def test_a_body_of_exactly_the_limit_is_whole_and_one_more_is_cut() -> None:
    whole = json.dumps("x" * (MAX_BODY - 2))
    assert (await ended(answering(whole))).body == "x" * (MAX_BODY - 2)
    cut = json.dumps("x" * (MAX_BODY - 1))
    assert (await ended(answering(cut))).body == cut[:MAX_BODY]


# --- Encodings ------------------------------------------------------------------------------


def packed(raw: bytes, wbits: int) -> bytes:
    packer = zlib.compressobj(wbits=wbits)
    return packer.compress(raw) + packer.flush()


BODY = b'{"packed": true}'


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        ("gzip", packed(BODY, 31)),
        ("x-gzip", packed(BODY, 31)),
        ("GZIP", packed(BODY, 31)),
        ("deflate", packed(BODY, 15)),
        ("deflate", packed(BODY, -15)),
        ("identity", BODY),
        ("", BODY),
        ("identity, gzip", packed(BODY, 31)),
        ("utf-8", BODY),
        ("gzip", packed(BODY, 31) + b"left over"),
    ],
)
async def test_what_was_asked_for_is_unpacked(encoding: str, raw: bytes) -> None:
    outcome = await ended(answering(raw, Content_Encoding=encoding))
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, {"packed": True})


@pytest.mark.parametrize(
    ("encoding", "raw"),
    [
        (", ".join(["gzip"] * 50), layered(50)),
        ("gzip, gzip", layered(2)),
        ("br", b"\x0b\x02\x80hello\x03"),
        ("zstd", b"x"),
        ("gzip;q=1", layered(1)),
        ("x" * 5000, b"x"),
        ("gzip", b"this is not gzip"),
        ("gzip", layered(1)[:-9]),
        ("gzip", layered(1)[:12] + b"\xff" * 20),
        ("deflate", b"\xff\xff\xff\xff"),
        ("deflate", b"\x78"),
    ],
)
async def test_other_encodings_end_as_an_outcome(encoding: str, raw: bytes) -> None:
    outcome = await ended(answering(raw, Content_Encoding=encoding))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "protocol")
    assert (outcome.status_code, outcome.body) == (200, None)
    busy = await ended(answering(raw, "503 Busy", Content_Encoding=encoding, Retry_After="9"))
    assert (busy.error_kind, busy.status_code) == ("status", 503)
    assert busy.retry_after is not None


async def test_fifty_headers_of_encoding_are_fifty_encodings() -> None:
    head = HEAD + "Content-Encoding: gzip\r\n" * 50
    raw = layered(50)
    outcome = await ended(saying(head, f"Content-Length: {len(raw)}\r\n\r\n", raw))
    assert outcome.error_kind == "protocol"
    assert "50 times" in (outcome.error_message or "")


async def test_an_empty_body_needs_no_unpacking() -> None:
    for fields in ({"method": "HEAD"}, {}):
        head = "" if fields else "Content-Length: 0\r\n"
        say = saying(HEAD, head, "Content-Encoding: gzip\r\n\r\n", close=False)
        outcome = await ended(say, **fields)
        assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, None)


# --- JSON -----------------------------------------------------------------------------------

TEXT = object()  # it stays the text that it was


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ('{"a": [1, 2.5, null, true, "x"]}', {"a": [1, 2.5, None, True, "x"]}),
        ("", None),
        ("null", None),
        (" \n ", TEXT),
        ("[", TEXT),
        ("{'a': 1}", TEXT),
        ("hello", TEXT),
        ("\ufeff[1]", [1]),
        ('"\\u0000"', "\ufffd"),
        ('{"\\u0000k": ["a\\u0000b"]}', {"\ufffdk": ["a\ufffdb"]}),
        ('"\\\\u0000"', "\\u0000"),
        (b"a\0b", "a\ufffdb"),
        (b'"a\0b"', '"a\ufffdb"'),
        ('"\\ud800"', TEXT),
        ('"\\udc00\\ud800"', TEXT),
        ('"\\ud83e\\udd80"', "🦀"),
        (b'"\xed\xa0\x80"', "\ufffd\ufffd\ufffd"),
        ("NaN", TEXT),
        ("[NaN, Infinity, -Infinity]", TEXT),
        ("1e999", TEXT),
        ('{"a": [-1e999]}', TEXT),
        ("1" * 400 + ".0", TEXT),
        ("1e-999", 0.0),
        ("9" * 4000, int("9" * 4000)),
        ("9" * 5000, TEXT),
        ("-0", 0),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("[" * 100_000, TEXT),
        ("[" * 30_000 + "]" * 30_000, TEXT),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, TEXT),
        ("[" * 150 + "]" * 150, "deep"),
        (b"\xff\xfe\xfd", "\ufffd\ufffd\ufffd"),
        (b'{"a": "\xff"}', {"a": "\ufffd"}),
        ("[1,]", TEXT),
        ("[1] x", TEXT),
        ("// c\n1", TEXT),
        ("0x10", TEXT),
        ("01", TEXT),
        ('"tab\there"', TEXT),
        ("true", True),
        ("\u2028\u2029\u0085", TEXT),
    ],
)
async def test_a_body_of_every_horror_is_stored_as_json_or_as_text(
    raw: str | bytes, expected: Any
) -> None:
    outcome = await ended(answering(raw, Content_Type="application/json"))
    assert outcome.status is RunStatus.SUCCESS
    if expected is TEXT:
        expected = (raw if isinstance(raw, str) else raw.decode())[:MAX_BODY]
    elif expected == "deep":
        return
    assert outcome.body == expected


@pytest.mark.parametrize("piece", ["[],", "{},", '{"a":1},', '"ab",', "[[[[]]]],", '"",', "[1],"])
async def test_json_that_would_fill_our_memory_stays_text(piece: str) -> None:
    raw = "[" + piece * (MAX_BODY // len(piece) - 1) + "1]"
    tracemalloc.start()
    try:
        body = RawBody(raw.encode()).parsed()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert body == raw or json.dumps(body).replace(" ", "") == raw
    assert held < MEGABYTE


async def test_large_json_of_the_usual_kind_is_json() -> None:
    records = [
        {"id": n, "state": "paid", "amount": 12.5 * n, "tags": ["a", "b"], "at": f"2026-03-{n}"}
        for n in range(600)
    ]
    for value in (records, [n / 7 for n in range(3000)], list(range(9000))):
        raw = json.dumps(value)
        assert MAX_BODY / 2 < len(raw) < MAX_BODY
        assert (await ended(answering(raw))).body == value


async def test_horrors_do_not_break_an_assertion() -> None:
    for raw in ("9" * 4000, "[" * 150 + "]" * 150, "1e308", '{"a": "' + "x" * 60_000 + '"}'):
        outcome = await ended(answering(raw), success_when="body == 'x' || status == 200")
        assert outcome.error_kind in (None, "assertion")
    numbers = json.dumps(list(range(10_000)))
    outcome = await ended(
        answering(numbers), success_when="body.map(x, body.map(y, x + y)).size() > 0"
    )
    assert outcome.error_kind == "assertion"
    assert "50 ms of processor time" in (outcome.error_message or "")


async def test_old_western_text_is_read_as_its_header_says() -> None:
    outcome = await ended(
        answering("Grüße".encode("latin-1"), Content_Type='text/plain; charset="ISO-8859-1"')
    )
    assert outcome.body == "Grüße"
    hostile = await ended(answering(b"\xff", Content_Type="text/plain; charset=zip_codec"))
    assert hostile.body == "\ufffd"


# --- HTTP -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("HTTP/1.1 999 Whatever\r\nContent-Length: 2\r\n\r\n{}", 999),
        ("HTTP/1.1 600 \r\nContent-Length: 0\r\n\r\n", 600),
        ("HTTP/1.1 099 x\r\nContent-Length: 0\r\n\r\n", 99),
        ("HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n", 0),
        ("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nxyz", 101),
        ("HTTP/1.1 101 Switching\r\n\r\n", 101),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", 304),
        ("HTTP/1.0 500 Old\r\n\r\nclosing ends it", 500),
    ],
)
async def test_odd_status_codes_are_failures_with_their_code(message: str, code: int) -> None:
    outcome = await ended(saying(message))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "status")
    assert outcome.status_code == code
    assert outcome.error_message == f"HTTP {code}"


@pytest.mark.parametrize(
    "message",
    [
        "HTTP/1.1 1000 x\r\n\r\n",
        "HTTP/1.1 20 x\r\n\r\n",
        "HTTP/1.1 2x0 x\r\n\r\n",
        "HTTP/1.1 -200 x\r\n\r\n",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "hello",
        "GET / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02\x00\x01",
        "\0" * 1000,
        "<html>no head at all</html>\r\n\r\n",
        f"{HEAD}No colon here\r\n\r\n",
        f"{HEAD}: no name\r\n\r\n",
        f"{HEAD}X-Y: a\0b\r\n\r\n",
        f"{HEAD}Content-Length: -1\r\n\r\n",
        f"{HEAD}Content-Length: +5\r\n\r\nhello",
        f"{HEAD}Content-Length: 0x5\r\n\r\nhello",
        f"{HEAD}Content-Length: {'9' * 30}\r\n\r\nhello",
        f"{HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        f"{HEAD}Content-Length: 500\r\n\r\nhello",
        f"{CHUNKED}zz\r\nhello\r\n0\r\n\r\n",
        f"{CHUNKED}-5\r\nhello\r\n0\r\n\r\n",
        f"{CHUNKED}5\r\nhello, and more\r\n0\r\n\r\n",
        f"{CHUNKED}fffffffffffffffff\r\nhello\r\n0\r\n\r\n",
        f"{CHUNKED}5\r\nhe",
        f"{CHUNKED}5\r\nhello\r\n",
        f"{HEAD}Transfer-Encoding: gzip, chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        f"{HEAD}Transfer-Encoding: nonsense\r\n\r\nhello",
        f"{HEAD}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "",
    ],
)  # fmt: skip
async def test_what_is_not_http_ends_as_an_outcome(message: str) -> None:
    outcome = await ended(saying(message))
    assert outcome.status in (RunStatus.FAILURE, RunStatus.SUCCESS)
    if outcome.status is RunStatus.FAILURE:
        assert outcome.error_kind in ("protocol", "connection")
        assert (outcome.error_message or "").isprintable()
        assert len(outcome.error_message or "") < 300


async def test_a_connection_that_is_reset_is_an_outcome() -> None:
    async def reset(talk: Talk, _: Request) -> None:
        await talk.say(HEAD, "Content-Length: 100\r\n\r\n", b"half")
        await asyncio.sleep(0.02)
        talk.writer.transport.abort()
        raise Done

    outcome = await ended(reset)
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "connection")
    assert outcome.status_code == 200


FIRST = 'HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n"first"'
SECOND = 'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"second"'


async def test_a_second_answer_is_never_taken_for_the_next_one() -> None:
    said_more = asyncio.Event()

    async def at_once(talk: Talk, _: Request) -> None:
        await talk.say(FIRST, SECOND)

    async def later(talk: Talk, _: Request) -> None:
        await talk.say(FIRST)
        await asyncio.sleep(0.05)
        await talk.say(SECOND)
        said_more.set()

    async with both() as (target, caller):
        assert (await caller.call(target.on("/", at_once))).body == "first"
        target.on("/", answering('"next"'))
        assert (await caller.call(target.url())).body == "next"
        assert (await caller.call(target.on("/", later))).body == "first"
        await said_more.wait()
        await asyncio.sleep(0.05)
        target.on("/", answering('"next"'))
        assert (await caller.call(target.url())).body == "next"


async def test_unusual_headers_of_an_answer_do_no_harm() -> None:
    message = (
        HEAD.encode() + b"X-Bytes: \xff\xfe\r\nSet-Cookie: " + b"a" * 4000 + b"\r\n"
        b"Retry-After: \xff\r\nContent-Type: \xff\xfe\r\nLocation: http://[::1\r\n"
        b"Content-Length: 2\r\n\r\n{}"
    )
    outcome = await ended(saying(message, close=False), max_redirects=3)
    assert (outcome.status, outcome.body) == (RunStatus.SUCCESS, {})


async def test_a_target_that_never_reads_the_request_is_a_timeout() -> None:
    async def deaf(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await asyncio.sleep(1)
        writer.transport.abort()

    async with (
        await asyncio.start_server(deaf, "127.0.0.1", 0, limit=1) as server,
        calling() as caller,
    ):
        port = server.sockets[0].getsockname()[1]
        url = f"http://127.0.0.1:{port}/"
        outcome = await caller.call(url, within=0.3, method="POST", body="x" * 256 * 1024)
        assert outcome.status is RunStatus.TIMEOUT
        await asyncio.sleep(0.8)


# --- Others ---------------------------------------------------------------------------------


async def test_hostile_targets_do_not_delay_the_others() -> None:
    # The hostile server shares our loop, and others this machine: the best of three tries counts.
    longest = [await _longest_wait_beside_hostile_targets() for _ in range(3)]
    assert min(longest) < 1


async def _longest_wait_beside_hostile_targets() -> float:
    async with both() as (target, caller):
        hostile = [target.on(f"/{name}", behaviour) for name, behaviour in enumerate(SLOW.values())]
        hostile += [
            target.on(f"/l{name}", behaviour) for name, (behaviour, _) in enumerate(LARGE.values())
        ]
        attacks = [asyncio.create_task(caller.call(url, within=1.5)) for url in hostile]
        longest = 0.0
        while not all(task.done() for task in attacks):
            begun = time.perf_counter()
            assert (await caller.call(target.url("/good"))).status is RunStatus.SUCCESS
            longest = max(longest, time.perf_counter() - begun)
            await asyncio.sleep(0.01)
        outcomes: list[Outcome] = await asyncio.gather(*attacks)
    assert all(is_storable(outcome) for outcome in outcomes)
    return longest


# --- TLS ------------------------------------------------------------------------------------


@pytest.fixture
def trusted() -> None:
    """The test's certificate, trusted by the library in this process."""
    context: ssl.SSLContext = aiohttp.connector._SSL_CONTEXT_VERIFIED
    context.load_verify_locations(CERTIFICATE)


def _server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


Call = Callable[[str], Awaitable[Outcome]]


@pytest.mark.usefixtures("trusted")
async def test_a_certificate_must_be_for_the_name_that_was_written() -> None:
    names = resolving({"good.example": ["127.0.0.1"], "bad.example": ["127.0.0.1"]})
    async with serving(tls=_server_tls()) as target, calling(look_up=names) as caller:
        for host in ("good.example", "GOOD.example.", "127.0.0.1"):
            good = await caller.call(target.url(host=host, scheme="https"))
            assert good.status is RunStatus.SUCCESS
        assert target.requests[0].headers["host"] == f"good.example:{target.port}"
        bad = await caller.call(target.url(host="bad.example", scheme="https"))
    assert (bad.status, bad.error_kind) == (RunStatus.FAILURE, "tls")
    assert "certificate" in (bad.error_message or "")
