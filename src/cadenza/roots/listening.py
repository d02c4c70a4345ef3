"""Who is told by NOTIFY that there is something to do; and who has to look, behind a pooler."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import structlog

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.listener import HEAR_AGAIN, NOT_HEARD, Listener
from cadenza.roots.settings import Settings

log = structlog.get_logger()


def listen_address(settings: Settings, database: Database, url: str) -> str | None:
    """None where nothing would be heard: a pooler shares its sessions out, and LISTEN is one's."""
    if settings.listen_database_url is not None:
        return settings.listen_database_url.get_secret_value()
    return None if database.pooler else url


def listening(
    settings: Settings, database: Database, url: str, callbacks: Mapping[str, Callable[[], None]]
) -> Coroutine[Any, Any, None]:
    address = listen_address(settings, database, url)
    if address is not None:
        return Listener(address, callbacks).run()
    log.warning(NOT_HEARD, tick_seconds=settings.tick_seconds, fix=HEAR_AGAIN)
    return _look_by_time(callbacks, settings.tick_seconds)


async def _look_by_time(callbacks: Mapping[str, Callable[[], None]], seconds: float) -> None:
    while True:
        await asyncio.sleep(seconds)
        for callback in callbacks.values():
            callback()
