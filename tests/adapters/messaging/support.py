"""Each broker as its users know it: where to publish, and what a consumer finds there."""

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import aio_pika
import nats
from redis.asyncio import Redis

from cadenza.adapters.http.addresses import AddressPolicy, parse_networks
from cadenza.adapters.http.admission import GuardedAddresses
from cadenza.adapters.http.answer import RawBody
from cadenza.adapters.http.guard import Guard
from cadenza.adapters.messaging.connecting import connect
from cadenza.adapters.messaging.connections import Connections
from cadenza.adapters.messaging.dispatcher import QueueDispatcher
from cadenza.adapters.messaging.replies import Replies
from cadenza.adapters.signing.standard_webhooks import StandardWebhooksSigner
from cadenza.adapters.system.clock import SystemClock
from cadenza.domain.queue_target import QueueTarget
from cadenza.domain.run import Body, Claim
from cadenza.domain.signing import SigningKey
from cadenza.domain.target import Secret
from tests.adapters.messaging.conftest import PASSWORD
from tests.brokers import Server
from tests.factories import NOON, id_of, make_claim, make_endpoint, seconds
from tests.results import ResultDesk

ENDPOINT = make_endpoint("orders")
SECRET = "whsec_" + "c2VzYW1l" * 4
BODY = '{"do": "count"}'


class Keys:
    async def keys_of(self, tenant_id: UUID) -> Sequence[SigningKey]:
        return [SigningKey(id_of("key"), tenant_id, Secret(SECRET), NOON)]


@dataclass(frozen=True)
class Received:
    headers: dict[str, str]  # names in lower case
    body: str


class Place(ABC):
    """A topic of a broker that takes messages."""

    def __init__(self, server: Server, topic: str) -> None:
        self.server = server
        self.topic = topic

    @property
    @abstractmethod
    def target(self) -> QueueTarget: ...

    @abstractmethod
    async def open(self) -> None:
        """Make what a message is published to."""

    @abstractmethod
    async def received(self) -> list[Received]:
        """Whatever a consumer finds there, taken away."""


class RedisPlace(Place):
    @property
    def target(self) -> QueueTarget:
        url = f"redis://127.0.0.1:{self.server.port}/3"
        return QueueTarget(url, self.topic, body=BODY, password=Secret(PASSWORD))

    async def open(self) -> None:
        """A stream is there when it has an entry."""

    async def received(self) -> list[Received]:
        client = Redis(port=self.server.port, db=3, password=PASSWORD, decode_responses=True)
        async with client:
            entries: Any = await client.xrange(self.topic)
            if entries:
                await client.xdel(self.topic, *(entry for entry, _ in entries))
        return [Received(fields, fields.pop("body")) for _, fields in entries]


class RabbitPlace(Place):
    @property
    def target(self) -> QueueTarget:
        return QueueTarget(f"amqp://127.0.0.1:{self.server.port}", self.topic, body=BODY)

    async def open(self) -> None:
        async with await aio_pika.connect(self._url) as connection:
            await (await connection.channel()).declare_queue(self.topic, durable=True)

    async def received(self) -> list[Received]:
        found: list[Received] = []
        async with await aio_pika.connect(self._url) as connection:
            queue = await (await connection.channel()).get_queue(self.topic)
            while (message := await queue.get(no_ack=True, fail=False)) is not None:
                headers = {name.lower(): str(value) for name, value in message.headers.items()}
                found.append(Received(headers, message.body.decode()))
        return found

    @property
    def _url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.server.port}/"


class NatsPlace(Place):
    @property
    def target(self) -> QueueTarget:
        url = f"nats://shop@127.0.0.1:{self.server.port}"
        return QueueTarget(url, self.topic, body=BODY, password=Secret(PASSWORD))

    async def open(self) -> None:
        async with self._client() as client:
            await client.jetstream().add_stream(name=self._stream, subjects=[self.topic])

    async def received(self) -> list[Received]:
        async with self._client() as client:
            stream = client.jetstream()
            info = await stream.stream_info(self._stream)
            found: list[Received] = []
            if not info.state.messages:
                return found
            for number in range(info.state.first_seq, info.state.last_seq + 1):
                message = await stream.get_msg(self._stream, number)
                headers = {name.lower(): text for name, text in (message.headers or {}).items()}
                found.append(Received(headers, (message.data or b"").decode()))
            await stream.purge_stream(self._stream, seq=info.state.last_seq + 1)
            return found

    @property
    def _stream(self) -> str:
        return self.topic.replace(".", "-")

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Any]:
        url = f"nats://127.0.0.1:{self.server.port}"
        client = await nats.connect(url, user="shop", password=PASSWORD)
        try:
            yield client
        finally:
            await client.close()


@asynccontextmanager
async def dispatching(
    networks: str = "loopback",
    desk: ResultDesk | None = None,
    closed_ports: frozenset[int] = frozenset(),
) -> AsyncIterator[QueueDispatcher]:
    """With a desk, runs wait for what is reported to it."""
    addresses = GuardedAddresses(Guard(AddressPolicy(parse_networks(networks), closed_ports)))
    connections = Connections(connect, addresses)
    signer, clock = StandardWebhooksSigner(Keys()), SystemClock()
    results = None if desk is None else desk.waiting
    replies = None if desk is None else Replies(connections, desk.reported.report, _parsed)
    try:
        yield QueueDispatcher(connections, signer, clock, results, replies)
    finally:
        if replies is not None:
            await replies.close()
        await connections.close()
        addresses.close()


def _parsed(raw: bytes) -> Body:
    return RawBody(raw).parsed()


def slot(target: QueueTarget, number: int = 0, **fields: Any) -> Claim:
    return make_claim(ENDPOINT, NOON + seconds(number), target=target, **fields)
