"""What every program begins with: settings, logs, and its database or an embedded one."""

import asyncio
import gc
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import structlog
import uvloop

from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.postgres.embedded import EmbeddedPostgres
from cadenza.adapters.postgres.embedded.archive import WalArchive
from cadenza.adapters.postgres.embedded.running import running_url
from cadenza.adapters.system.logs import Forwarded, add_present, log_uncaught, mask_secrets
from cadenza.adapters.system.worker_program import log_trouble
from cadenza.domain.errors import StoreUnavailable
from cadenza.roots.settings import Settings, read_settings
from cadenza.up.supervisor import end_with_parent

AWAY_SECONDS = 2.0


def start_program() -> Settings:
    settings = read_settings()
    set_up_logs(as_json=settings.log_json)
    end_with_parent(os.environ)
    return settings


def run_program(settings: Settings, program: Callable[[str], Coroutine[Any, Any, None]]) -> None:
    """With the address of its database."""
    with (
        database_url(settings) as url,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(program(url))


def collect_less_often() -> None:
    """At thousands of runs a second, looking for cycles took a sixth of the time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


@contextmanager
def database_url(settings: Settings, *, beside: bool = False) -> Generator[str]:
    """Its address; an embedded server ends with the block. `beside`: where a Cadenza that is up has
    started one, that is used."""
    if settings.database_url is not None:
        yield settings.database_url.get_secret_value()
        return
    if beside and (url := running_url(settings.data_folder / "postgres")) is not None:
        yield url
        return
    folder, archive = settings.data_folder / "postgres", archive_of(settings)
    with EmbeddedPostgres(folder, archive=archive) as url:
        yield url


def archive_of(settings: Settings) -> WalArchive | None:
    return None if settings.wal_archive is None else WalArchive(settings.wal_archive.absolute())


@asynccontextmanager
async def opened_database(
    settings: Settings, url: str, *, waits: bool = False
) -> AsyncGenerator[Database]:
    """A program that stays waits for a database that is away, as it does later on."""
    database = await (_awaited if waits else _opened)(settings, url)
    try:
        yield database
    finally:
        await database.close()


async def _awaited(settings: Settings, url: str) -> Database:
    while True:
        try:
            return await _opened(settings, url)
        except StoreUnavailable as error:
            log_trouble(error)
            await asyncio.sleep(AWAY_SECONDS)


async def _opened(settings: Settings, url: str) -> Database:
    connections, pooler = settings.connections, settings.database_pooler
    return await open_database(url, connections=connections, pooler=pooler)


def set_up_logs(*, as_json: bool) -> None:
    last: structlog.types.Processor = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    )
    structlog.configure(
        processors=[
            add_present,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            mask_secrets,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[Forwarded()], force=True)
    logging.captureWarnings(True)
    sys.excepthook = log_uncaught
