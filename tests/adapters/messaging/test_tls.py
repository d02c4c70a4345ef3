"""TLS to real brokers: whom they are trusted by, and that nothing is said to others."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import aio_pika
import nats
import pytest

from cadenza.adapters.messaging.connecting import tls_context
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import Outcome, RunStatus
from cadenza.domain.target import Secret
from tests.adapters.messaging.support import dispatching, slot
from tests.brokers import Server, nats_server, rabbitmq_server, redis_server
from tests.certificates import Certificate, certificate_of
from tests.factories import seconds

KINDS = ("redis", "rabbitmq", "nats")
TOPIC = "orders.secure"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return certificate_of("localhost", tmp_path_factory.mktemp("certificates"))


@pytest.fixture(scope="module", params=KINDS)
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    certificate: Certificate,
) -> Iterator[tuple[str, Server]]:
    folder = tmp_path_factory.mktemp(request.param)
    with _started(request.param, folder, certificate) as started:
        yield request.param, started


def _started(kind: str, folder: Path, certificate: Certificate) -> AbstractContextManager[Server]:
    if kind == "redis":
        return redis_server(folder, "sesame", certificate)
    if kind == "nats":
        return nats_server(folder, "shop", "sesame", certificate)
    return rabbitmq_server(folder, certificate)


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    """The authorities are read once in a process; here each test has its own."""
    tls_context.cache_clear()
    yield
    tls_context.cache_clear()


def target_of(kind: str, host: str, port: int) -> QueueTarget:
    password = Secret("sesame")
    if kind == "redis":
        return QueueTarget(f"rediss://{host}:{port}", TOPIC, password=password)
    if kind == "nats":
        return QueueTarget(f"nats+tls://shop@{host}:{port}", TOPIC, password=password)
    return QueueTarget(f"amqps://{host}:{port}", TOPIC)


async def _open(kind: str, port: int, certificate: Certificate) -> None:
    """Make what a message is published to, as a client that knows the authority."""
    context = ssl.create_default_context(cafile=certificate.authority)
    if kind == "nats":
        url = f"tls://localhost:{port}"
        client = await nats.connect(url, user="shop", password="sesame", tls=context)
        await client.jetstream().add_stream(name="secure", subjects=[TOPIC])
        await client.close()
    elif kind == "rabbitmq":
        url = f"amqps://guest:guest@localhost:{port}/"
        async with await aio_pika.connect(url, ssl_context=context) as connection:
            await (await connection.channel()).declare_queue(TOPIC, durable=True)


async def _published(target: QueueTarget) -> Outcome:
    async with dispatching() as queues:
        return await queues.dispatch(slot(replace(target, timeout=seconds(60))))


async def test_a_certificate_of_an_authority_that_the_worker_knows_is_taken(
    server: tuple[str, Server], certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, broker = server
    await _open(kind, broker.port, certificate)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.authority))
    outcome = await _published(target_of(kind, "localhost", broker.port))
    assert (outcome.status, outcome.error_message) == (RunStatus.SUCCESS, None)


async def test_one_of_an_authority_that_nobody_knows_is_a_failure_that_says_so(
    server: tuple[str, Server],
) -> None:
    kind, broker = server
    outcome = await _published(target_of(kind, "localhost", broker.port))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "tls"), outcome
    assert str(outcome.error_message).startswith("the certificate is not valid: ")


async def test_one_for_another_name_is_a_failure_that_says_so(
    server: tuple[str, Server], certificate: Certificate, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, broker = server
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate.authority))
    outcome = await _published(target_of(kind, "127.0.0.1", broker.port))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "tls"), outcome
    assert "IP address mismatch" in str(outcome.error_message)


@pytest.fixture
async def eavesdropper() -> AsyncIterator[tuple[int, list[bytes]]]:
    """Somebody who says to be a NATS server that has no TLS, and writes down what it is told."""
    heard: list[bytes] = []

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b'INFO {"server_id": "x", "version": "2.9.0", "auth_required": true}\r\n')
        while line := await reader.readline():
            heard.append(line)
            writer.write(b"PONG\r\n" if line.startswith(b"PING") else b"")
        writer.close()

    listening = await asyncio.start_server(listen, "127.0.0.1", 0)
    async with listening:
        yield listening.sockets[0].getsockname()[1], heard


async def test_no_password_goes_to_a_nats_server_that_denies_tls(
    eavesdropper: tuple[int, list[bytes]],
) -> None:
    port, heard = eavesdropper
    outcome = await _published(target_of("nats", "127.0.0.1", port))
    assert (outcome.status, outcome.error_kind) == (RunStatus.FAILURE, "tls"), outcome
    assert outcome.error_message == "no secure connection: the server offers none"
    assert heard == []
