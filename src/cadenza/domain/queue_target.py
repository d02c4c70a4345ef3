"""A message broker as the target of an endpoint: each slot is published as one message."""

from collections.abc import Mapping
from dataclasses import field
from datetime import timedelta
from enum import StrEnum
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from cadenza.domain.secret import Secret
from cadenza.domain.value import value

DEFAULT_PUBLISH_TIMEOUT = timedelta(seconds=30)
PASSWORD = "password"  # noqa: S105 - the name under which it is stored, not a password


class Broker(StrEnum):
    REDIS = "redis"
    RABBITMQ = "rabbitmq"
    NATS = "nats"
    KAFKA = "kafka"


class Scheme(NamedTuple):
    broker: Broker
    port: int  # the usual one
    is_tls: bool


SCHEMES = {
    "redis": Scheme(Broker.REDIS, 6379, is_tls=False),
    "rediss": Scheme(Broker.REDIS, 6379, is_tls=True),
    "amqp": Scheme(Broker.RABBITMQ, 5672, is_tls=False),
    "amqps": Scheme(Broker.RABBITMQ, 5671, is_tls=True),
    "nats": Scheme(Broker.NATS, 4222, is_tls=False),
    "nats+tls": Scheme(Broker.NATS, 4222, is_tls=True),
    "kafka": Scheme(Broker.KAFKA, 9092, is_tls=False),
    "kafka+tls": Scheme(Broker.KAFKA, 9093, is_tls=True),
}


@value
class BrokerAddress:
    """What a broker's address says, but for the password."""

    broker: Broker
    host: str
    port: int
    is_tls: bool
    user: str | None
    path: str  # the number of a Redis database, or a RabbitMQ virtual host


@value
class QueueTarget:
    url: str  # without a password
    topic: str  # a Redis stream, RabbitMQ routing key, NATS subject or Kafka topic
    exchange: str = ""  # RabbitMQ's; "" sends to the queue that the topic names
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: str | None = None
    password: Secret | None = None
    timeout: timedelta = DEFAULT_PUBLISH_TIMEOUT
    awaits_result: bool = False
    reply_to: str | None = None  # where consumers answer: a stream, queue or subject

    @property
    def host(self) -> str:
        """What the limit of messages in flight per host counts by."""
        return (urlsplit(self.url).hostname or "").lower()

    @property
    def origin(self) -> str:
        """Whose its password is."""
        address = broker_address(self.url)
        scheme = urlsplit(self.url).scheme.lower()
        return f"{scheme}://{address.user or ''}@{address.host}:{address.port}"

    @property
    def runs_on(self) -> str:
        return ""

    @property
    def waits(self) -> bool:
        """Whether a run is over only when a consumer has said how it went."""
        return self.awaits_result or self.reply_to is not None


def broker_address(url: str) -> BrokerAddress:
    """Of a URL that was checked."""
    parts = urlsplit(url)
    scheme = SCHEMES[parts.scheme.lower()]
    return BrokerAddress(
        scheme.broker,
        (parts.hostname or "").lower(),
        parts.port or scheme.port,
        scheme.is_tls,
        unquote(parts.username) if parts.username else None,
        unquote(parts.path.removeprefix("/")),
    )
