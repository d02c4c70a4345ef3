"""Connections to PostgreSQL: a small budget of them, and errors that say what to do."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import asynccontextmanager, suppress
from copy import copy
from datetime import timedelta
from time import monotonic
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlsplit

import asyncpg
from asyncpg.pool import PoolConnectionProxy
from asyncpg.transaction import Transaction

from cadenza.adapters.postgres.hosts import CONNECT_SECONDS, Hosts
from cadenza.adapters.postgres.room import Room
from cadenza.adapters.postgres.sockets import Base, WatchedConnection
from cadenza.application.present import present_tenant
from cadenza.domain.errors import InstallationError, StoreUnavailable

T = TypeVar("T")
Connection: TypeAlias = "PoolConnectionProxy[asyncpg.Record]"

OLDEST_SERVER = 140000
COMMAND_SECONDS = 60.0
CLOSE_SECONDS = 5.0
RELEASE_SECONDS = 2.0  # that the server may take to say that it ended what we no longer wait for
IDLE_SECONDS = 300.0
# A worker that is cut off between two statements must not keep its rows locked: others pass over
# what is locked, and would never take over what it has lost.
LONGEST_SILENCE = "5s"
SESSION = {
    "application_name": "cadenza",
    "timezone": "UTC",
    "idle_in_transaction_session_timeout": LONGEST_SILENCE,
    "tcp_user_timeout": "15s",  # nor while the server waits for it to take an answer
    "tcp_keepalives_idle": "15",
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}
UNREADABLE = "(an address that cannot be read)"

# What may go away by itself: the server restarts, the network breaks, somebody else holds a lock.
PASSING = (
    OSError,
    TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.InterfaceError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.TransactionRollbackError,
    asyncpg.LockNotAvailableError,
    asyncpg.InternalClientError,
    asyncpg.ReadOnlySQLTransactionError,  # a replica that has yet to become the primary
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.InvalidCachedStatementError,  # somebody migrated; the statement is prepared anew
)


class Database:
    """A pool of connections. Whatever may pass by itself becomes StoreUnavailable.

    Connections that were used without trouble wait here for the next who asks: the library's pool,
    which gives them out with a timer and takes them back with a task, costs as much as a query.

    Silence is trouble, too: a connection may swallow everything and never say so. Nothing more is
    asked of one that did not answer in time, and those that wait beside it are not trusted.
    """

    def __init__(
        self,
        pool: "asyncpg.Pool[asyncpg.Record]",
        url: str,
        *,
        connections: int,
        pooler: bool = False,
    ) -> None:
        self._pool = pool
        self._where = shown_url(url)
        self.pooler = pooler
        self._limit = connections
        self._room = Room(connections)  # shared with those that are in a hurry
        self._idle: list[tuple[Connection, float]] = []  # and since when
        self._within: float | None = None

    def within(self, limit: timedelta) -> "Database":
        """The same connections, for work that may take so long from its beginning to its commit."""
        hurried = copy(self)
        hurried._within = limit.total_seconds()  # noqa: SLF001 - our own, of a moment ago
        return hurried

    @property
    def use(self) -> "PoolUse":
        idle = len(self._idle)
        return PoolUse(self._limit, self._pool.get_size() - idle, idle, self._room.waiting)

    @asynccontextmanager
    async def connection(self) -> AsyncGenerator[Connection]:
        try:
            async with asyncio.timeout(self._within):
                tenant_id = present_tenant()
                await self._room.enter(tenant_id, CONNECT_SECONDS)
                try:
                    connection = await self._take()
                    try:
                        yield connection
                    except BaseException as error:
                        if isinstance(error, asyncpg.ReadOnlySQLTransactionError):
                            connection.terminate()  # another server takes the writes now
                        await self._give_up(connection)
                        raise
                    self._idle.append((connection, monotonic()))
                finally:
                    self._room.leave(tenant_id)
        except TimeoutError as error:
            await self._drop_idle()
            raise _away(self._where, error) from error
        except PASSING as error:
            raise _away(self._where, error) from error

    async def _give_up(self, connection: Connection) -> None:
        with suppress(TimeoutError, *PASSING):  # it is closed then
            await self._pool.release(connection, timeout=RELEASE_SECONDS)

    async def _drop_idle(self) -> None:
        while self._idle:
            connection, _ = self._idle.pop()
            if _is_open(connection):
                connection.terminate()
            await self._give_up(connection)

    async def _take(self) -> Connection:
        while self._idle:
            connection, since = self._idle.pop()
            if _is_open(connection):
                if monotonic() - since <= IDLE_SECONDS:
                    return connection
                connection.terminate()  # whatever is on the way may have forgotten it
            await self._give_up(connection)
        return await self._pool.acquire(timeout=CONNECT_SECONDS)

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[Connection]:
        async with self.connection() as connection:
            transaction = connection.transaction()
            try:
                await transaction.start()
                if self.pooler:  # whose sessions are not ours to set up
                    await limit_silence(connection, LONGEST_SILENCE)
                yield connection
                await transaction.commit()
            except (asyncio.CancelledError, TimeoutError):
                connection.terminate()  # to roll back is to wait for an answer again
                raise
            except BaseException:
                await self._roll_back(connection, transaction)
                raise

    async def _roll_back(self, connection: Connection, transaction: Transaction) -> None:
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                await transaction.rollback()
        except (TimeoutError, *PASSING):
            if _is_open(connection):  # else the server has ended it, and said why
                connection.terminate()

    async def fetch(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        async with self.connection() as connection:
            return await connection.fetch(statement, *values)

    async def fetchrow(self, statement: str, *values: Any) -> asyncpg.Record | None:
        async with self.connection() as connection:
            return await connection.fetchrow(statement, *values)

    async def fetchval(self, statement: str, *values: Any) -> Any:
        async with self.connection() as connection:
            return await connection.fetchval(statement, *values)

    async def execute(self, statement: str, *values: Any) -> str:
        async with self.connection() as connection:
            return await connection.execute(statement, *values)

    async def close(self) -> None:
        """End politely, and at once where the server is gone."""
        try:
            while self._idle:
                await self._pool.release(self._idle.pop()[0])
            await asyncio.wait_for(self._pool.close(), timeout=CLOSE_SECONDS)
        except (TimeoutError, *PASSING):
            self._pool.terminate()


class PoolUse(NamedTuple):
    limit: int
    used: int
    idle: int
    waiting: int  # for a connection, because all are used


class OverDatabase:
    """What most ports are made from."""

    def __init__(self, database: Database) -> None:
        self._database = database


def _is_open(connection: Connection) -> bool:
    try:
        return not connection.is_closed()
    except asyncpg.InterfaceError:  # the server ended it, and the pool has taken it back
        return False


async def limit_silence(connection: Connection, longest: str) -> None:
    """How long this transaction may go without a statement before the server ends it."""
    await connection.execute(f"SET LOCAL idle_in_transaction_session_timeout = '{longest}'")


async def open_database(url: str, *, connections: int, pooler: bool | None = False) -> Database:
    """Connect, and check that the server is new enough and has room for us.

    Behind a pooler that gives out connections by transaction, statements are not prepared, and
    nothing is set for a session. Where that is not known (None), it is found out.
    """
    if shown_url(url) == UNREADABLE:
        raise _unreadable()
    if pooler is None:
        pooler = await _explained(is_pooler(url), shown_url(url), connections)
    options: dict[str, Any] = {"statement_cache_size": 0} if pooler else {}
    pool = await asyncpg.create_pool(
        url,
        min_size=0,  # else the pool logs a stack trace whenever the server is away
        max_size=connections,
        command_timeout=COMMAND_SECONDS,
        max_inactive_connection_lifetime=IDLE_SECONDS,
        reset=_leave_as_it_is,
        connect=Hosts(url).connect_for_pool,
        connection_class=WatchedConnection,
        server_settings={} if pooler else SESSION,
        **options,
    )
    database = Database(pool, url, connections=connections, pooler=pooler)
    try:
        await _explained(_connect(pool), shown_url(url), connections)
        await _check_version(database)
        if not pooler:  # which shares out what the server has, and knows its own limit
            await _check_room(database, connections)
    except BaseException:
        await database.close()
        raise
    return database


async def connect(url: str) -> Base:
    """A single connection; where there is none, why, in words."""
    return await _explained(Hosts(url).connect(statement_cache_size=0), shown_url(url), 1)


async def is_pooler(url: str) -> bool:
    """A pooler greets us with a process number that it made up; the server behind it has its own.

    One that shares out whole sessions cannot be told apart by that, and is treated alike.
    """
    connection = await connect(url)
    try:
        behind = await connection.fetchval("SELECT pg_backend_pid()", timeout=CONNECT_SECONDS)
        return behind != connection.get_server_pid()
    finally:
        connection.terminate()


async def _leave_as_it_is(_connection: Any) -> None:
    """Nothing is set beyond a transaction, as it must be behind a pooler. An open transaction is
    rolled back all the same; the usual reset would ask the server four things with each release."""


async def _connect(pool: "asyncpg.Pool[asyncpg.Record]") -> None:
    async with pool.acquire(timeout=CONNECT_SECONDS):
        pass


async def _explained(connecting: Awaitable[T], where: str, connections: int) -> T:
    try:
        return await connecting
    except ValueError as error:
        # Not what it says: it may quote a password that was taken for something else.
        raise _unreadable() from error
    except asyncpg.TooManyConnectionsError as error:  # others may leave: who can wait, waits
        raise StoreUnavailable(
            f"The database at {where} has no connection left for this program, which wants "
            f"{connections}. Raise max_connections there, or lower CADENZA_CONNECTIONS."
        ) from error
    except PASSING as error:
        raise _away(where, error) from error
    except asyncpg.PostgresError as error:
        raise InstallationError(
            f"The database at {where} refused us: {_message(error)}. Check CADENZA_DATABASE_URL."
        ) from error


async def _check_version(database: Database) -> None:
    version = int(await database.fetchval("SHOW server_version_num"))
    if version < OLDEST_SERVER:
        raise InstallationError(
            f"Cadenza needs PostgreSQL 14 or later; this server is {version // 10000}."
        )


async def _check_room(database: Database, connections: int) -> None:
    room = await database.fetchval(
        "SELECT current_setting('max_connections')::int"
        " - current_setting('superuser_reserved_connections')::int"
        " - coalesce(current_setting('reserved_connections', true), '0')::int"
    )
    if room < connections:
        raise InstallationError(
            f"The server allows {room} connections, this program alone wants {connections}. "
            "Raise max_connections there, or lower CADENZA_CONNECTIONS."
        )


def shown_url(url: str) -> str:
    """Where a database is, without its password."""
    try:
        parts = urlsplit(url)
        hosts = [_shown_host(host) for host in parts.netloc.rpartition("@")[2].split(",")]
    except ValueError:
        return UNREADABLE
    # A / or # in a password that is not written as %2F or %23 ends what comes before the path.
    broken = "@" in parts.path or parts.fragment
    if broken or parts.scheme not in ("postgresql", "postgres"):
        return UNREADABLE
    return f"{','.join(hosts)}{parts.path}"


def _shown_host(written: str) -> str:
    host = urlsplit(f"//{written}")
    port = f":{host.port}" if host.port else ""
    return f"{host.hostname or 'localhost'}{port}"


def _unreadable() -> InstallationError:
    return InstallationError(
        "CADENZA_DATABASE_URL cannot be read. It has the form "
        "postgresql://user:password@host:5432/database, where : / ? # @ in a password are "
        "written as %3A %2F %3F %23 %40, and options like ?sslmode=require may follow."
    )


def _away(where: str, error: BaseException) -> StoreUnavailable:
    return StoreUnavailable(f"The database at {where} does not answer: {_message(error)}")


def _message(error: BaseException) -> str:
    return str(error) or type(error).__name__
