"""Clients that keep us waiting, against the program's own server and over real sockets.

What a test waits for is the server's own deed (a closed connection, an answer), not a while.
"""

import asyncio
import json
import resource
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest

from cadenza.roots.serving import connection_limits
from cadenza.roots.settings import Settings
from cadenza.web.connections import ConnectionLimits
from tests.backends import MEMORY, new_backend
from tests.web.support import OPERATE, Site, bearer, served, site_over

SHORT = ConnectionLimits(
    head_seconds=0.3, body_seconds=0.3, idle_seconds=0.3, take_seconds=0.3, look_seconds=0.05
)
LONG = ConnectionLimits(head_seconds=600, body_seconds=600, idle_seconds=600)
HALF_A_HEAD = b"GET /healthz HTTP/1.1\r\nHost: cadenza\r\nX-Slow: "
HEALTHZ = b"GET /healthz HTTP/1.1\r\nHost: cadenza\r\n\r\n"
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
HALF_A_BODY = b"POST /x HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"
AT_MOST = 60  # seconds; far more than anything here takes


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    def send(self, data: bytes) -> None:
        self._writer.write(data)

    async def until_closed(self) -> bytes:
        """Whatever comes until the server closes."""
        async with asyncio.timeout(AT_MOST):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return b""

    async def until(self, word: bytes) -> None:
        async with asyncio.timeout(AT_MOST):
            await self._reader.readuntil(word)

    async def answer(self) -> tuple[int, dict[str, object]]:
        async with asyncio.timeout(AT_MOST):
            head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
            fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:-2])
            body = await self._reader.readexactly(int(fields["content-length"]))
        return int(head.split()[1]), json.loads(body)

    async def close(self) -> None:
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with new_backend(MEMORY) as backend, site_over(backend) as site:
        yield site


@asynccontextmanager
async def clients(
    port: int, count: int = 1, address: str = "127.0.0.1"
) -> AsyncIterator[list[Client]]:
    async with AsyncExitStack() as stack:
        opened = list[Client]()
        for _ in range(count):
            own = (address, 0)
            streams = await asyncio.open_connection("127.0.0.1", port, local_addr=own)
            client = Client(*streams)
            stack.push_async_callback(client.close)
            opened.append(client)
        yield opened


async def health(port: int) -> int:
    async with clients(port) as (client,):
        client.send(HEALTHZ)
        return (await client.answer())[0]


def request(site: Site, method: str, path: str, *more: str, body: bytes = b"") -> bytes:
    key = bearer(site.ours.keys[OPERATE])["Authorization"]
    first = f"{method} /api/v1{path} HTTP/1.1"
    lines = (first, "Host: cadenza", f"Authorization: {key}", JSON, *more)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


async def test_a_silent_connection_is_closed(site: Site) -> None:
    async with served(site.app, SHORT) as port, clients(port) as (silent,):
        assert await silent.until_closed() == b""


async def test_half_a_head_is_told_that_it_is_too_slow(site: Site) -> None:
    async with served(site.app, SHORT) as port, clients(port) as (slow,):
        slow.send(HALF_A_HEAD)
        status, problem = await slow.answer()
        assert (status, problem["type"]) == (408, "/problems/too-slow")
        assert await slow.until_closed() == b""


async def test_half_a_body_is_told_that_it_is_too_slow(site: Site) -> None:
    async with served(site.app, SHORT) as port, clients(port) as (slow,):
        slow.send(request(site, "POST", "/jobs", "Content-Length: 100", body=b'{"name": '))
        assert (await slow.answer())[0] == 408
        assert await slow.until_closed() == b""


async def test_a_body_that_drips_on_after_its_answer_is_closed(site: Site) -> None:
    async with served(site.app, SHORT) as port, clients(port) as (slow,):
        slow.send(b"POST /api/v1/jobs HTTP/1.1\r\nHost: cadenza\r\nContent-Length: 9000\r\n\r\n{")
        assert (await slow.answer())[0] == 401
        slow.send(b"{")
        assert await slow.until_closed() == b""


async def test_lines_between_requests_do_not_keep_a_connection(site: Site) -> None:
    async with served(site.app, SHORT) as port, clients(port) as (slow,):
        slow.send(HEALTHZ)
        assert (await slow.answer())[0] == 200
        slow.send(b"\r\n")
        assert await slow.until_closed() == b""


async def test_an_answer_that_nobody_takes_is_dropped(site: Site) -> None:
    """Far more than the buffers of both ends hold is asked for, and nothing read."""
    async with served(site.app, SHORT) as port:
        _reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
        one = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: cadenza\r\n\r\n"
        async with asyncio.timeout(AT_MOST):
            with suppress(ConnectionError):
                while True:
                    writer.write(one)
                    await writer.drain()
                    await asyncio.sleep(0.01)
        writer.close()


async def test_a_head_without_end_is_refused(site: Site) -> None:
    async with served(site.app, LONG) as port, clients(port) as (large,):
        large.send(HALF_A_HEAD + b"x" * 200_000)
        assert (await large.answer())[0] == 431


@pytest.mark.parametrize("endless", [b"0\r\n" + b"a: b\r\n" * 40_000, b"0\r\na: ", b"2;a="])
async def test_what_goes_with_a_body_in_chunks_has_an_end(site: Site, endless: bytes) -> None:
    """Trailers, a single one, or what is said of a chunk: none of it is body, and all would be
    kept for as long as a body may take."""
    async with served(site.app, LONG) as port, clients(port, 2) as (known, unknown):
        known.send(request(site, "POST", "/jobs", CHUNKED, body=b"2\r\n{}\r\n" + endless))
        known.send(b"x" * 600_000)
        assert (await known.answer())[0] == 431
        assert await known.until_closed() == b""
        unknown.send(f"POST /api/v1/jobs HTTP/1.1\r\nHost: cadenza\r\n{CHUNKED}\r\n\r\n".encode())
        assert (await unknown.answer())[0] == 401
        unknown.send(endless + b"x" * 600_000)
        assert await unknown.until_closed() == b""


async def test_a_body_in_countless_chunks_is_refused(site: Site) -> None:
    """Each is a call of Python and a copy of what came before: a megabyte of them took a second."""
    async with served(site.app, LONG) as port, clients(port, 2) as (known, unknown):
        known.send(request(site, "POST", "/jobs", CHUNKED, body=b"1\r\n \r\n" * 50_000))
        status, told = await known.answer()
        assert (status, told["title"]) == (413, "Too large")
        assert "10000 chunks" in str(told["detail"])
        assert await known.until_closed() == b""
        unknown.send(f"POST /api/v1/jobs HTTP/1.1\r\nHost: cadenza\r\n{CHUNKED}\r\n\r\n".encode())
        assert (await unknown.answer())[0] == 401
        unknown.send(b"1\r\n \r\n" * 50_000)
        assert await unknown.until_closed() == b""


async def test_a_body_in_many_chunks_is_read(site: Site) -> None:
    body = b"1\r\n \r\n" * 9_000 + b'd\r\n{"name": "a"}\r\n0\r\n\r\n'
    async with served(site.app, LONG) as port, clients(port) as (client,):
        for name in (b'"a"', b'"b"'):  # counted for each body
            whole = body.replace(b'"a"', name)
            client.send(request(site, "POST", "/jobs", CHUNKED, JSON, body=whole))
            assert (await client.answer())[0] == 201


async def test_a_trailer_is_no_header(site: Site) -> None:
    body = b'b\r\n{"name":"a"\r\n1\r\n}\r\n0\r\nAuthorization: Bearer x\r\nHost: y\r\n\r\n'
    async with served(site.app) as port, clients(port) as (client,):
        client.send(request(site, "POST", "/jobs", CHUNKED, body=body))
        assert (await client.answer())[0] == 201
        client.send(HEALTHZ)
        assert (await client.answer())[0] == 200


async def test_more_requests_than_anybody_has_before_their_answers_are_refused(site: Site) -> None:
    async with served(site.app, LONG) as port, clients(port) as (eager,):
        eager.send(HEALTHZ * 1000)
        assert b" 400 " in await eager.until_closed()


@pytest.mark.parametrize("sent", [b"", HALF_A_HEAD, HALF_A_BODY])
async def test_silent_sockets_by_the_hundred_do_not_keep_health_from_being_told(
    site: Site, sent: bytes
) -> None:
    async with (
        served(site.app, ConnectionLimits(in_all=300, per_address=100)) as port,
        clients(port, 600) as silent,
    ):
        for client in silent:
            client.send(sent)
        assert [await health(port) for _ in range(20)] == [200] * 20


async def test_where_every_connection_is_at_work_only_health_is_told(site: Site) -> None:
    limits = ConnectionLimits(in_all=5, per_address=5, reserved=2)
    stream = request(site, "GET", "/events")
    async with served(site.app, limits) as port, clients(port, 5) as streams:
        for client in streams:
            client.send(stream)
        for client in streams:
            await client.until(b"ready")
        assert await health(port) == 200
        async with clients(port) as (late,):
            late.send(request(site, "GET", "/jobs"))
            status, problem = await late.answer()
            assert (status, problem["type"]) == (503, "/problems/busy")


async def test_who_waits_longest_makes_room_for_the_next(site: Site) -> None:
    limits = ConnectionLimits(in_all=2, per_address=2, head_seconds=600)
    async with served(site.app, limits) as port, clients(port, 2) as (first, second):
        assert await health(port) == 200
        assert await first.until_closed() == b""
        second.send(HEALTHZ)
        assert (await second.answer())[0] == 200


async def test_one_address_leaves_room_for_the_others(site: Site) -> None:
    """On this machine every 127.0.0.x is an address of its own."""
    limits = ConnectionLimits(in_all=50, per_address=5, head_seconds=600)
    async with (
        served(site.app, limits) as port,
        clients(port) as (mine,),
        clients(port, 40, "127.0.0.7") as theirs,
    ):
        for client in theirs:
            client.send(HALF_A_HEAD)
        assert await theirs[0].until_closed() == b""
        mine.send(HEALTHZ)
        assert (await mine.answer())[0] == 200


async def test_many_addresses_together_have_as_many_as_there_are_for_all(site: Site) -> None:
    limits = ConnectionLimits(in_all=4, per_address=3, head_seconds=600)
    async with (
        served(site.app, limits) as port,
        clients(port, 3, "127.0.0.7") as (first, *_),
        clients(port, 2, "127.0.0.8"),
    ):
        assert await first.until_closed() == b""


async def test_a_body_over_the_limit_is_refused_before_it_is_sent(site: Site) -> None:
    async with served(site.app) as port, clients(port) as (polite,):
        asks = ("Expect: 100-continue", "Content-Length: 2000000")
        polite.send(request(site, "POST", "/jobs", *asks))
        assert (await polite.answer())[0] == 413
        assert await polite.until_closed() == b""


ONE, OTHER = "Idempotency-Key: one\r\n", "Idempotency-Key: other"


@pytest.mark.parametrize("twice", ["Host: other", "Authorization: Bearer other", ONE + OTHER])
async def test_a_header_that_is_said_twice_is_refused(site: Site, twice: str) -> None:
    async with served(site.app) as port, clients(port) as (unclear,):
        unclear.send(request(site, "GET", "/jobs", twice))
        status, problem = await unclear.answer()
        assert status == 400
        assert f"more than one {twice.split(':', maxsplit=1)[0]} header" in str(problem["detail"])


def test_there_are_no_more_connections_than_files_that_this_process_may_open() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(600, before[1]), before[1]))
        limits = connection_limits(Settings(api_connections=300, api_connections_per_address=500))
        assert (limits.in_all, limits.per_address) == (300, 300)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] >= 500
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
