"""RabbitMQ: persistent messages with publisher confirms; one that no queue takes comes back.

Connections go to the address that was judged; TLS still asks for the certificate of the name.
"""

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from aio_pika import Connection, DeliveryMode
from aio_pika import Message as PikaMessage
from aio_pika.abc import AbstractChannel, AbstractIncomingMessage
from aio_pika.exceptions import (
    AMQPConnectionError,
    AMQPException,
    AuthenticationError,
    ChannelInvalidStateError,
    DeliveryError,
    ProbableAuthenticationError,
    PublishError,
)
from aiormq.connection import TransportFactory
from aiormq.exceptions import AMQPChannelError, ChannelClosed, ConnectionClosed
from yarl import URL

from cadenza.adapters.messaging.connecting import HANDSHAKE, first_that_connects, tls_context
from cadenza.adapters.messaging.failures import not_connected, short
from cadenza.application.ports.messages import BrokerFailure, BrokerGone, Message, Take
from cadenza.domain.queue_target import BrokerAddress

AT_ONCE = 50
_GONE = (AMQPConnectionError, ChannelInvalidStateError, ConnectionError, OSError, RuntimeError)


class _JudgedTransport(TransportFactory):
    def __init__(self, host: str, address: BrokerAddress) -> None:
        self._host = host
        self._address = address

    async def create(self, url: URL, **_: Any) -> tuple[StreamReader, StreamWriter]:  # noqa: ARG002
        if not self._address.is_tls:
            return await asyncio.open_connection(self._host, self._address.port)
        return await asyncio.open_connection(
            self._host,
            self._address.port,
            ssl=tls_context(),
            ssl_handshake_timeout=HANDSHAKE,
            server_hostname=self._address.host,
        )


async def connect(
    address: BrokerAddress, password: str | None, addresses: Sequence[str]
) -> "RabbitBroker":
    return await first_that_connects(addresses, lambda one: _connected(address, password, one))


async def _connected(address: BrokerAddress, password: str | None, host: str) -> "RabbitBroker":
    url = URL.build(
        scheme="amqp",
        user=address.user or "guest",
        password=password or "guest",
        host=address.host,
        port=address.port,
        path=f"/{address.path}",
    )
    connection = Connection(url)
    connection.kwargs["transport_factory"] = _JudgedTransport(host, address)
    try:
        await connection.connect()
    except (AuthenticationError, ProbableAuthenticationError) as error:
        fix = "check user, password and virtual host"
        raise BrokerFailure("refused", f"RabbitMQ refuses us: {fix}") from error
    except ConnectionClosed as error:  # such as NOT_ALLOWED, for a virtual host
        raise BrokerFailure("refused", f"RabbitMQ refuses us: {_reason(error)}") from error
    except (AMQPException, OSError, EOFError, RuntimeError) as error:
        raise not_connected(error) from error
    return RabbitBroker(connection)


class RabbitBroker:
    """A channel for each exchange: one that is not there closes its channel, not the others'."""

    leads_to: Sequence[tuple[str, int]] = ()

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._channels: dict[str, AbstractChannel] = {}
        self._opening = asyncio.Lock()

    async def publish(self, message: Message) -> str:
        sent = PikaMessage(
            message.body,
            headers=dict(message.headers),
            message_id=message.key,
            delivery_mode=DeliveryMode.PERSISTENT,
            content_type=message.headers.get("Content-Type"),
        )
        try:
            channel = await self._channel(message.exchange)
            exchange = (
                await channel.get_exchange(message.exchange, ensure=False)
                if message.exchange
                else channel.default_exchange
            )
            await exchange.publish(sent, message.topic, mandatory=True)
        except PublishError as error:  # it came back
            where = f"exchange {message.exchange!r}" if message.exchange else "queue of that name"
            fix = f"no {where} takes {message.topic!r}: declare and bind a queue"
            raise BrokerFailure("unroutable", fix) from error
        except DeliveryError as error:
            fix = "a queue refused it, perhaps at its length limit"
            raise BrokerFailure(
                "rejected", f"RabbitMQ did not confirm the message: {fix}"
            ) from error
        except (ChannelClosed, AMQPChannelError) as error:
            raise BrokerFailure("rejected", f"RabbitMQ says: {_reason(error)}") from error
        except _GONE as error:
            if isinstance(error, ChannelInvalidStateError) and not self._connection.is_closed:
                # Another message to this exchange was refused: that is not the other exchanges'.
                raise BrokerFailure("rejected", "RabbitMQ closed the channel") from error
            raise BrokerGone("connection", "the connection to RabbitMQ broke") from error
        return message.key

    async def take_replies(self, reply_to: str, take: Take, ready: asyncio.Event) -> None:
        """What a reader that was lost had not acknowledged goes to another."""
        try:
            async with self._connection.channel() as channel:
                await channel.set_qos(prefetch_count=AT_ONCE)
                queue = await channel.declare_queue(reply_to, durable=True)
                ready.set()  # it keeps what comes
                async with queue.iterator() as replies:
                    async for reply in replies:
                        async with reply.process(requeue=True):
                            await take(_fields(reply))
        except (ChannelClosed, AMQPChannelError) as error:  # not ours to read, or of another kind
            raise BrokerFailure("rejected", f"RabbitMQ says: {_reason(error)}") from error
        except (AMQPException, *_GONE) as error:
            raise BrokerGone("connection", "the connection to RabbitMQ broke") from error

    async def _channel(self, exchange: str) -> AbstractChannel:
        async with self._opening:
            channel = self._channels.get(exchange)
            if channel is None or channel.is_closed:
                channel = self._connection.channel(publisher_confirms=True, on_return_raises=True)
                await channel.initialize()
                self._channels[exchange] = channel
            return channel

    async def close(self) -> None:
        with suppress(Exception):
            await self._connection.close()


def _fields(reply: AbstractIncomingMessage) -> dict[str, str]:
    headers = {str(name).lower(): str(value) for name, value in reply.headers.items()}
    return {**headers, "body": reply.body.decode("utf-8", "replace")}


def _reason(error: BaseException) -> str:
    texts = [text for text in error.args if isinstance(text, str)]
    return short(texts[-1] if texts else type(error).__name__)
