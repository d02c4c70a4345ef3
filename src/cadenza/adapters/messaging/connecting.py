"""A connection to a broker, by the adapter of its kind; each client library is an extra."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import cache
from importlib import import_module
from ssl import SSLContext, create_default_context
from typing import TypeVar

from cadenza.application.ports.messages import BrokerFailure, MessageBroker
from cadenza.domain.queue_target import Broker, BrokerAddress

T = TypeVar("T")
HANDSHAKE = 10.0  # seconds that TLS may take: a server without it may wait for more
PATIENCE = 5.0  # seconds with an address that says nothing, while there is another one
_ADAPTERS = {
    Broker.REDIS: "redis_streams",
    Broker.RABBITMQ: "rabbitmq",
    Broker.NATS: "nats_jetstream",
    Broker.KAFKA: "kafka",
}


async def connect(
    address: BrokerAddress, password: str | None, addresses: Sequence[str]
) -> MessageBroker:
    """To one of the addresses, which were judged; BrokerFailure where none of them answers."""
    broker = address.broker
    try:
        adapter = import_module(f"cadenza.adapters.messaging.{_ADAPTERS[broker]}")
    except ModuleNotFoundError as error:
        fix = f"pip install 'cadenza[{broker}]' where the workers run"
        message = f"this worker has no client for {broker}: {fix}"
        raise BrokerFailure("not_installed", message) from error
    made: MessageBroker = await adapter.connect(address, password, addresses)
    return made


async def first_that_connects(
    addresses: Sequence[str], attempt: Callable[[str], Awaitable[T]]
) -> T:
    """In the order of the system; what the last one said counts."""
    *others, last = addresses  # at least one was admitted
    for address in others:
        try:
            async with asyncio.timeout(PATIENCE):
                return await attempt(address)
        except TimeoutError:
            continue
        except BrokerFailure as failure:
            if failure.kind != "connect":
                raise
    return await attempt(last)


@cache
def tls_context() -> SSLContext:
    """By the system's authorities, as for HTTP targets; SSL_CERT_FILE names others."""
    return create_default_context()
