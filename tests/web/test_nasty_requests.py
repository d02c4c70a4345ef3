"""Requests as no client would send them, to the program's own server."""

import asyncio
import gzip
import json
import socket
from collections.abc import Callable

import pytest

from tests.web.support import ADMIN, Listening

JOBS = "/api/v1/jobs"
MEGABYTE = 1024 * 1024


def _head(server: Listening, method: str = "POST", path: str = JOBS, *lines: str) -> bytes:
    first = (f"{method} {path} HTTP/1.1", "Host: cadenza", "Connection: close")
    key = f"Authorization: Bearer {server.site.ours.keys[ADMIN]}"
    return "\r\n".join((*first, key, *lines, "", "")).encode("latin-1")


def _sent_raw(server: Listening, *chunks: bytes, end: bool = False) -> tuple[int, bytes]:
    """The status of the answer and what follows; 0 where the connection was closed without one."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        answer = b""
        try:
            for chunk in chunks:
                connection.sendall(chunk)
            if end:
                connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                answer += part
        except OSError:
            pass  # it did not want to hear more; what it said before counts
    return (int(answer.split(b" ", 2)[1]) if answer else 0), answer


def _sent(body: bytes, *lines: str) -> Callable[[Listening], tuple[int, bytes]]:
    length = f"Content-Length: {len(body)}"
    return lambda server: _sent_raw(server, _head(server, "POST", JOBS, length, *lines), body)


def _count(server: Listening) -> int:
    return len(server.wait_for(server.site.contents())["jobs"])


AS_JSON = "Content-Type: application/json"
GOOD = b'{"name": "a job"}'


@pytest.mark.parametrize(
    ("ask", "status"),
    [
        pytest.param(_sent(GOOD), 415, id="no content type"),
        pytest.param(_sent(GOOD, "Content-Type: text/plain"), 415, id="text"),
        pytest.param(
            _sent(GOOD, "Content-Type: application/x-www-form-urlencoded"), 415, id="form"
        ),
        pytest.param(_sent(GOOD, "Content-Type: multipart/form-data; boundary=x"), 415, id="parts"),
        pytest.param(_sent(GOOD, "Content-Type: application/jsonp"), 415, id="nearly json"),
        pytest.param(_sent(GOOD, "Content-Type: ;;;"), 415, id="no type at all"),
        pytest.param(_sent(GOOD, AS_JSON, "Content-Encoding: br"), 415, id="brotli"),
        pytest.param(_sent(b"", AS_JSON), 422, id="no body"),
        pytest.param(_sent(b"{", AS_JSON), 400, id="half an object"),
        pytest.param(_sent(GOOD + GOOD, AS_JSON), 400, id="two objects"),
        pytest.param(_sent(b"\xef\xbb\xbf" + GOOD, AS_JSON), 400, id="with a byte order mark"),
        pytest.param(_sent(b'{"name": "\xff"}', AS_JSON), 400, id="not UTF-8"),
        pytest.param(_sent(GOOD.decode().encode("utf-16"), AS_JSON), 400, id="UTF-16"),
        pytest.param(_sent(b"{'name': 'a'}", AS_JSON), 400, id="single quotes"),
        pytest.param(_sent(b'{"name": "a",}', AS_JSON), 400, id="a comma too many"),
        pytest.param(_sent(b'{"name": "a\nb"}', AS_JSON), 400, id="a bare newline"),
        pytest.param(_sent(b"\0" * 100, AS_JSON), 400, id="zeros"),
        pytest.param(_sent(b"[" * 100_000, AS_JSON), 400, id="100,000 brackets"),
        pytest.param(_sent(b'{"a":' * 100_000, AS_JSON), 400, id="100,000 braces"),
        pytest.param(_sent(b"[" * 100_000 + b"]" * 100_000, AS_JSON), 400, id="all closed again"),
        pytest.param(_sent(b'{"name": ' + b"9" * 500_000 + b"}", AS_JSON), 400, id="a long number"),
        pytest.param(_sent(b"[" + b"0," * 400_000 + b"0]", AS_JSON), 422, id="a long list"),
        pytest.param(
            _sent(gzip.compress(GOOD), AS_JSON, "Content-Encoding: gzip"), 415, id="gzipped"
        ),
        pytest.param(_sent(b"x" * (MEGABYTE + 1), AS_JSON), 413, id="a megabyte"),
        pytest.param(_sent(b'"' + b"x" * 4 * MEGABYTE + b'"', AS_JSON), 413, id="four megabytes"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused_as_a_problem(
    server: Listening, ask: Callable[[Listening], tuple[int, bytes]], status: int
) -> None:
    before = _count(server)
    answered, answer = ask(server)
    assert answered == status, answer[:500]
    assert b"application/problem+json" in answer
    problem = json.loads(answer.rpartition(b"\r\n\r\n")[2])
    assert problem["status"] == status
    assert b"Traceback" not in answer
    assert _count(server) == before


def test_a_body_without_a_length_is_stopped_at_the_limit(server: Listening) -> None:
    head = _head(server, "POST", JOBS, AS_JSON, "Transfer-Encoding: chunked")
    chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
    status, answer = _sent_raw(server, head, *[chunk] * 30, b"0\r\n\r\n")
    assert status == 413, answer[:300]


def test_a_length_that_lies_about_a_huge_body_does_not_make_us_wait_for_it(
    server: Listening,
) -> None:
    head = _head(server, "POST", JOBS, AS_JSON, "Content-Length: 99999999999")
    status, _ = _sent_raw(server, head, b"x" * (MEGABYTE + 65536))
    assert status == 413


def test_a_body_that_breaks_off_leaves_nothing_behind(server: Listening) -> None:
    before = _count(server)
    head = _head(server, "POST", JOBS, AS_JSON, "Content-Length: 1000")
    _sent_raw(server, head, GOOD, end=True)
    assert _count(server) == before


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Content-Length: 17"),
        ("Content-Length: 17", "Transfer-Encoding: chunked"),
        ("Content-Length: -1",),
        ("Content-Length: 0x11",),
        ("Content-Length: 17 ", "Transfer-Encoding : chunked"),
        ("Transfer-Encoding: xchunked",),
        ("Bad Header: x", "Content-Length: 17"),
        ("X: a\x00b", "Content-Length: 17"),
        (" folded: x", "Content-Length: 17"),
    ],
)
def test_a_request_that_could_be_read_in_two_ways_is_not_read_at_all(
    server: Listening, lines: tuple[str, ...]
) -> None:
    before = _count(server)
    status, answer = _sent_raw(server, _head(server, "POST", JOBS, AS_JSON, *lines), GOOD, end=True)
    assert status in (0, 400), answer[:300]
    assert _count(server) == before


def test_a_request_that_names_no_host_is_not_read(server: Listening) -> None:
    assert _sent_raw(server, b"GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n")[0] == 400
    assert _sent_raw(server, b"GET /healthz HTTP/1.0\r\n\r\n")[0] == 200


def test_an_address_that_is_far_too_long_is_refused(server: Listening) -> None:
    for path in (f"{JOBS}?search={'x' * 100_000}", f"{JOBS}/{'x' * 100_000}"):
        status, answer = _sent_raw(server, _head(server, "GET", path))
        assert status in (400, 414), answer[:300]


def test_headers_that_are_far_too_long_are_refused(server: Listening) -> None:
    status, answer = _sent_raw(server, _head(server, "GET", JOBS, f"X-Long: {'x' * 100_000}"))
    assert status in (400, 431), answer[:300]
    many = [f"X-{n}: {'y' * 50}" for n in range(2000)]
    status, answer = _sent_raw(server, _head(server, "GET", JOBS, *many))
    assert status in (400, 431), answer[:300]


@pytest.mark.parametrize(
    "path",
    [
        f"{JOBS}/%00", f"{JOBS}/..%2f..%2fetc", f"{JOBS}/%ff%fe", f"{JOBS}//", f"{JOBS}/", "//",
        f"{JOBS}/%c3%28",
        "/api/v1/../v1/jobs", "/api/v1/jobs;x=1", "/API/V1/JOBS", "/api/v2/jobs", "*",
        "http://elsewhere.example/api/v1/jobs/x", f"{JOBS}/%", f"{JOBS}/%zz",
    ],
)  # fmt: skip
def test_a_strange_path_leads_nowhere(server: Listening, path: str) -> None:
    status, answer = _sent_raw(server, _head(server, "GET", path))
    assert status in (400, 404, 422), answer[:300]
    assert b"Traceback" not in answer


@pytest.mark.parametrize("method", ["TRACE", "PROPFIND", "PURGE", "HEAD", "OPTIONS", "PUT"])
def test_a_method_that_a_path_does_not_take_gets_those_it_does(
    server: Listening, method: str
) -> None:
    status, answer = _sent_raw(server, _head(server, method))
    assert status == 405
    assert b"allow: GET, POST\r\n" in answer


async def test_many_at_once_are_all_answered(server: Listening) -> None:
    asked = [asyncio.to_thread(_sent(b"{broken", AS_JSON), server) for _ in range(40)]
    assert {status for status, _ in await asyncio.gather(*asked)} == {400}
