"""Redis: a message is an entry of a stream; its headers are fields beside `body`.

Every connection goes to the address that was judged; TLS still asks for the certificate of the
name. Answers that lead to another server (MOVED, ASK) are not followed.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis
from redis.asyncio.connection import Connection, SSLConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    NoPermissionError,
    RedisError,
    ResponseError,
)
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from cadenza.adapters.messaging.connecting import HANDSHAKE, first_that_connects, tls_context
from cadenza.adapters.messaging.failures import not_connected, short
from cadenza.application.ports.messages import BrokerFailure, BrokerGone, Message, Take
from cadenza.domain.queue_target import BrokerAddress

MOST_CONNECTIONS = 20
# Of those who read replies, and of each: a name of its own would be left there by every one.
GROUP = READER = "cadenza"
BLOCK_MS = 5000
AT_ONCE = 50
STALE_MS = 60_000  # a reply that a reader took and did not answer for goes to another
_REFUSED = (AuthenticationError, AuthorizationError, NoPermissionError)


class _NamedSSLConnection(SSLConnection):
    """Goes to an address, and asks it for the certificate of a name."""

    def __init__(self, server_name: str, **options: Any) -> None:
        self._server_name = server_name
        super().__init__(**options)  # pyright: ignore[reportUnknownMemberType]

    def _connection_arguments(self) -> Mapping[str, Any]:
        arguments = cast("Mapping[str, Any]", super()._connection_arguments())  # pyright: ignore
        tls = {"ssl": tls_context(), "ssl_handshake_timeout": HANDSHAKE}
        return {**arguments, **tls, "server_hostname": self._server_name}


async def connect(
    address: BrokerAddress, password: str | None, addresses: Sequence[str]
) -> "RedisBroker":
    return await first_that_connects(addresses, lambda one: _connected(address, password, one))


async def _connected(address: BrokerAddress, password: str | None, host: str) -> "RedisBroker":
    options: dict[str, Any] = {
        "host": host,
        "port": address.port,
        "db": int(address.path or 0),
        "username": address.user,
        "password": password,
        "protocol": 2,
        "retry": Retry(NoBackoff(), 0),  # ours knows about deadlines
        "connection_class": Connection,
    }
    if address.is_tls:
        options |= {"connection_class": _NamedSSLConnection, "server_name": address.host}
    pool = BlockingConnectionPool(max_connections=MOST_CONNECTIONS, timeout=None, **options)
    # Who reads holds a connection all the while: messages must not wait for one of those.
    reading = ConnectionPool(**options)
    broker = RedisBroker(Redis(connection_pool=pool), Redis(connection_pool=reading))
    try:
        await broker.ping()
    except BaseException:
        await broker.close()
        raise
    return broker


class RedisBroker:
    leads_to: Sequence[tuple[str, int]] = ()

    def __init__(self, client: "Redis", reading: "Redis") -> None:
        self._client: Any = client
        self._reading: Any = reading

    async def ping(self) -> None:
        try:
            await self._client.ping()
        except _REFUSED as error:
            raise BrokerFailure("refused", f"Redis refuses us: {short(str(error))}") from error
        except ResponseError as error:
            raise BrokerFailure("refused", f"Redis says: {short(str(error))}") from error
        except (RedisError, OSError) as error:
            raise not_connected(error) from error

    async def publish(self, message: Message) -> str:
        fields = {**message.headers, "body": message.body}
        try:
            entry: bytes = await self._client.xadd(message.topic, fields)
        except (RedisConnectionError, RedisTimeoutError, OSError) as error:
            if isinstance(error, _REFUSED):
                raise BrokerFailure("refused", f"Redis refuses us: {short(str(error))}") from error
            raise BrokerGone("connection", "the connection to Redis broke") from error
        except RedisError as error:
            raise BrokerFailure("rejected", f"Redis says: {short(str(error))}") from error
        return entry.decode()

    async def take_replies(self, reply_to: str, take: Take, ready: asyncio.Event) -> None:
        """As one of a group, so that each reply is taken once, also where a reader was lost."""
        try:
            await self._make_group(reply_to)
            ready.set()
            while True:
                _, stale, *_ = await self._reading.xautoclaim(
                    reply_to, GROUP, READER, min_idle_time=STALE_MS, count=AT_ONCE
                )
                await self._take(reply_to, stale, take)
                streams = {reply_to: ">"}
                read = await self._reading.xreadgroup(
                    GROUP, READER, streams, count=AT_ONCE, block=BLOCK_MS
                )
                for _, entries in read or ():
                    await self._take(reply_to, entries, take)
        except (RedisConnectionError, RedisTimeoutError, OSError) as error:
            raise BrokerGone("connection", "the connection to Redis broke") from error
        except RedisError as error:  # no stream, or not ours to read
            raise BrokerFailure("rejected", f"Redis says: {short(str(error))}") from error

    async def _make_group(self, reply_to: str) -> None:
        try:
            await self._reading.xgroup_create(reply_to, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if not str(error).startswith("BUSYGROUP"):  # it is there
                raise

    async def _take(self, reply_to: str, entries: Sequence[Any], take: Take) -> None:
        for entry, fields in entries:
            if fields:  # none of one that was trimmed
                await take({_text(name): _text(value) for name, value in fields.items()})
            await self._reading.xack(reply_to, GROUP, entry)

    async def close(self) -> None:
        for client in (self._client, self._reading):
            with suppress(RedisError, OSError, asyncio.TimeoutError):
                await client.aclose(close_connection_pool=True)


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")
