"""Connections to brokers, kept between runs: made once for all that need one, and again when gone.

They belong to a tenant, a broker with its password, and the addresses that were judged: a name
whose addresses change gets a new connection.
"""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from uuid import UUID

from cadenza.application.ports.addresses import Addresses
from cadenza.application.ports.messages import (
    BrokerFailure,
    BrokerGone,
    Connect,
    Message,
    MessageBroker,
)
from cadenza.domain.queue_target import QueueTarget, broker_address

MOST_OPEN = 256
CONNECT_SECONDS = 30.0
IDLE_SECONDS = 300.0
CLOSE_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Key:
    tenant_id: UUID
    url: str
    password: str | None
    addresses: tuple[str, ...]


@dataclass(slots=True)
class _Pooled:
    made: "asyncio.Task[MessageBroker]"
    used_at: float
    holders: int = 0  # who read replies from it, perhaps for hours


class Connections:
    def __init__(self, connect: Connect, addresses: Addresses) -> None:
        self._connect = connect
        self._addresses = addresses
        self._pool: dict[Key, _Pooled] = {}
        self._closing: set[asyncio.Task[None]] = set()

    async def publish(self, tenant_id: UUID, target: QueueTarget, message: Message) -> str:
        key = await self._key(tenant_id, target)
        is_pooled = key in self._pool
        try:
            return await self._publish(key, message)
        except BrokerGone:
            if not is_pooled:
                raise
        # A connection that was idle may have ended, as after a restart of the broker. Both
        # messages have the same key, should the first one have come through.
        return await self._publish(key, message)

    @asynccontextmanager
    async def held(self, tenant_id: UUID, target: QueueTarget) -> AsyncGenerator[MessageBroker]:
        """A connection for whoever reads replies: until then it is not idle."""
        key = await self._key(tenant_id, target)
        broker = await self._made(key)
        connection = self._pool.get(key)
        if connection is None:  # closed the moment it was made
            raise BrokerGone("connection", "the connection to the broker broke")
        connection.holders += 1
        try:
            yield broker
        except BrokerGone:
            self._drop(key, broker)
            raise
        finally:
            connection.holders -= 1

    async def _key(self, tenant_id: UUID, target: QueueTarget) -> Key:
        address = broker_address(target.url)
        addresses = await self._addresses.admitted(address.host, address.port)
        password = target.password.value if target.password is not None else None
        return Key(tenant_id, target.url, password, tuple(addresses))

    async def _publish(self, key: Key, message: Message) -> str:
        broker = await self._made(key)
        try:
            await self._judge(broker.leads_to)
            return await broker.publish(message)
        except (BrokerGone, asyncio.CancelledError):
            self._drop(key, broker)  # cancelled: it is silent, and would be so for the next
            raise

    async def _judge(self, places: Sequence[tuple[str, int]]) -> None:
        for host, port in places:
            await self._addresses.admitted(host, port)

    async def _made(self, key: Key) -> MessageBroker:
        now = asyncio.get_running_loop().time()
        connection = self._pool.pop(key, None)
        if connection is None:
            connection = _Pooled(asyncio.create_task(self._connected(key)), now)
            connection.made.add_done_callback(lambda done: self._forget_failed(key, done))
        self._pool[key], connection.used_at = connection, now  # the latest is last
        self._close_idle(now)
        # One that is cancelled does not cancel it for the others who wait.
        return await asyncio.shield(connection.made)

    async def _connected(self, key: Key) -> MessageBroker:
        """Also where everybody who asked for it has gone: the next one may wait for the same."""
        address = broker_address(key.url)
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await self._connect(address, key.password, key.addresses)
        except TimeoutError as error:
            raise BrokerFailure("connect", "no connection: the broker does not answer") from error

    def _forget_failed(self, key: Key, done: "asyncio.Future[MessageBroker]") -> None:
        connection = self._pool.get(key)
        if (
            (done.cancelled() or done.exception())
            and connection is not None
            and connection.made is done
        ):
            del self._pool[key]

    def _drop(self, key: Key, broker: MessageBroker) -> None:
        connection = self._pool.get(key)
        if connection is not None and connection.made.done() and connection.made.result() is broker:
            del self._pool[key]
            self._end(connection)

    def _close_idle(self, now: float) -> None:
        for _ in range(len(self._pool) - 1):  # all but the one that is asked for
            key, connection = next(iter(self._pool.items()))
            if len(self._pool) <= MOST_OPEN and now - connection.used_at < IDLE_SECONDS:
                return
            del self._pool[key]
            if connection.holders:
                self._pool[key], connection.used_at = connection, now
            else:
                self._end(connection)

    def _end(self, connection: _Pooled) -> None:
        task = asyncio.create_task(_closed(connection.made))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        for connection in self._pool.values():
            self._end(connection)
        self._pool.clear()
        if self._closing:
            await asyncio.wait(self._closing)


async def _closed(made: "asyncio.Task[MessageBroker]") -> None:
    if not made.done():
        made.cancel()
    with suppress(Exception, asyncio.CancelledError):
        async with asyncio.timeout(CLOSE_SECONDS):
            await (await made).close()
