"""An address may name several servers of one database: the one that takes writes is ours.

The library tries them one after the other within one limit of time: a machine that has vanished
without a word would use all of it up, and the one that took over would never be asked.
"""

import asyncio
from typing import Any
from urllib.parse import parse_qs, urlsplit, urlunsplit

import asyncpg

from cadenza.adapters.postgres.sockets import Base, WatchedConnection

CONNECT_SECONDS = 10.0
WRITABLE = "read-write"


def single_urls(url: str) -> list[str]:
    """One for each server that is named, the rest of it unchanged."""
    parts = urlsplit(url)
    user, at, hosts = parts.netloc.rpartition("@")
    return [urlunsplit(parts._replace(netloc=f"{user}{at}{host}")) for host in hosts.split(",")]


class Hosts:
    """Connects; begins with the server that was right the last time."""

    def __init__(self, url: str) -> None:
        self._urls = single_urls(url)
        # A replica would take our connection, and refuse every write.
        chosen = "target_session_attrs" in parse_qs(urlsplit(url).query)
        is_one = len(self._urls) == 1
        self._options: dict[str, Any] = (
            {} if is_one or chosen else {"target_session_attrs": WRITABLE}
        )

    async def connect(self, **options: Any) -> Base:
        share = CONNECT_SECONDS / len(self._urls)
        watched = {"connection_class": WatchedConnection}
        options = {**watched, **options, **self._options, "timeout": share}
        failures: list[Exception] = []
        for url in list(self._urls):
            try:
                connection: Base = await asyncpg.connect(url, **options)
            except (OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError) as error:
                failures.append(error)
            except asyncpg.InternalClientError as error:  # it takes no writes
                failures.append(error)
            else:
                self._prefer(url)
                return connection
            await asyncio.sleep(0)
        raise _most_telling(failures)

    async def connect_for_pool(self, dsn: str | None = None, **options: Any) -> Base:
        assert dsn is not None  # it is ours already
        return await self.connect(**options)

    def _prefer(self, url: str) -> None:
        if self._urls[0] != url:
            self._urls.sort(key=lambda other: other != url)


def _most_telling(failures: list[Exception]) -> Exception:
    """What a server said is worth more than that another did not answer."""
    refusals = [error for error in failures if isinstance(error, asyncpg.PostgresError)]
    return (refusals or failures)[0]
