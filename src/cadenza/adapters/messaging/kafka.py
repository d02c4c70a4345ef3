"""Kafka: a message counts as published when all replicas in sync have it (`acks=all`).

The first address is judged and connected to. The brokers that the cluster tells of are judged
before every message, too, but their names are looked up by the client: between the two a name may
change what it stands for. Tested with the cluster that librdkafka brings, not with a real one.
"""

from asyncio import Event
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from aiokafka import AIOKafkaProducer  # pyright: ignore[reportMissingTypeStubs]
from aiokafka.errors import (  # pyright: ignore[reportMissingTypeStubs]
    AuthenticationFailedError,
    ClusterAuthorizationFailedError,
    KafkaConnectionError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    SaslAuthenticationFailed,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)

from cadenza.adapters.messaging.connecting import first_that_connects, tls_context
from cadenza.adapters.messaging.failures import not_connected, short
from cadenza.application.ports.messages import BrokerFailure, BrokerGone, Message, Take
from cadenza.domain.queue_target import BrokerAddress

_REFUSED = (
    AuthenticationFailedError,
    SaslAuthenticationFailed,
    ClusterAuthorizationFailedError,
    TopicAuthorizationFailedError,
)


async def connect(
    address: BrokerAddress, password: str | None, addresses: Sequence[str]
) -> "KafkaBroker":
    # A certificate is asked for by the name, which this client takes from the address it goes to.
    places = [address.host] if address.is_tls else addresses
    return await first_that_connects(places, lambda one: _connected(address, password, one))


async def _connected(address: BrokerAddress, password: str | None, host: str) -> "KafkaBroker":
    place = f"[{host}]" if ":" in host else host
    options: dict[str, Any] = {"security_protocol": "SSL" if address.is_tls else "PLAINTEXT"}
    if address.is_tls:
        options["ssl_context"] = tls_context()
    if address.user is not None:
        options |= {
            "security_protocol": "SASL_SSL" if address.is_tls else "SASL_PLAINTEXT",
            "sasl_mechanism": "PLAIN",
            "sasl_plain_username": address.user,
            "sasl_plain_password": password or "",
        }
    producer = AIOKafkaProducer(
        bootstrap_servers=f"{place}:{address.port}",
        client_id="cadenza",
        acks="all",
        **options,
    )
    broker = KafkaBroker(producer)
    try:
        await producer.start()  # pyright: ignore[reportUnknownMemberType]
    except _REFUSED as error:
        await broker.close()
        raise BrokerFailure("refused", "Kafka refuses us: check user and password") from error
    except (KafkaError, OSError) as error:
        await broker.close()
        raise not_connected(error) from error
    except BaseException:
        await broker.close()
        raise
    return broker


class KafkaBroker:
    def __init__(self, producer: AIOKafkaProducer) -> None:
        self._producer: Any = producer

    @property
    def leads_to(self) -> list[tuple[str, int]]:
        """Host and port of each broker that the cluster told of."""
        brokers = self._producer.client.cluster.brokers()
        return [(broker.host, broker.port) for broker in brokers]

    async def publish(self, message: Message) -> str:
        headers = [(name, value.encode()) for name, value in message.headers.items()]
        try:
            confirmed = await self._producer.send_and_wait(
                message.topic, message.body, key=message.group.encode(), headers=headers
            )
        except UnknownTopicOrPartitionError as error:
            fix = f"there is no topic {message.topic!r}: create it"
            raise BrokerFailure("unroutable", fix) from error
        except (KafkaConnectionError, KafkaTimeoutError, OSError) as error:
            raise BrokerGone("connection", "the connection to Kafka broke") from error
        except _REFUSED as error:
            raise BrokerFailure("refused", "Kafka refuses us: check what we may do") from error
        except MessageSizeTooLargeError as error:
            raise BrokerFailure("rejected", "Kafka takes no message that large") from error
        except KafkaError as error:
            why = short(type(error).__name__)
            raise BrokerFailure("rejected", f"Kafka says: {why}") from error
        return f"{confirmed.partition}:{confirmed.offset}"

    async def take_replies(self, reply_to: str, take: Take, ready: Event) -> None:  # noqa: ARG002
        raise BrokerFailure("invalid_target", "replies are not read from Kafka")

    async def close(self) -> None:
        with suppress(Exception):
            await self._producer.stop()
