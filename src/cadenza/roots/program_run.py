"""A user's program with its database: until a signal, or beside what else its loop does."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import structlog
from pydantic import SecretStr

from cadenza.adapters.system.worker_program import stop_on_signals
from cadenza.program.declarations import Declarations
from cadenza.roots.functions import running_program
from cadenza.roots.program import collect_less_often, database_url, run_program, set_up_logs
from cadenza.roots.settings import Settings, read_settings

Overrides = Mapping[str, Any]
log = structlog.get_logger()


def run_until_stopped(
    declarations: Declarations, overrides: Overrides, tenant: str | None, threads: int
) -> None:
    settings = _settings(overrides)
    set_up_logs(as_json=settings.log_json)
    collect_less_often()

    async def work(url: str) -> None:
        async with running_program(declarations, settings, url, tenant, threads) as program:
            stop_on_signals(program.worker)
            await program.ended

    run_program(settings, work)


@asynccontextmanager
async def started(
    declarations: Declarations, overrides: Overrides, tenant: str | None, threads: int
) -> AsyncGenerator[None]:
    settings = _settings(overrides)
    with database_url(settings) as url:
        async with running_program(declarations, settings, url, tenant, threads) as program:
            program.ended.add_done_callback(_log_break)
            yield


def _log_break(ended: "asyncio.Task[None]") -> None:
    """At once: the block that it runs beside may go on for weeks before it raises this."""
    if not ended.cancelled() and (error := ended.exception()) is not None:
        log.error("the program broke: its functions no longer run", exc_info=error)


def _settings(overrides: Overrides) -> Settings:
    settings = read_settings()
    url, folder = overrides["database_url"], overrides["data_folder"]
    update: dict[str, Any] = {"database_url": SecretStr(url)} if url else {}
    update |= {"data_folder": Path(folder)} if folder else {}
    return settings.model_copy(update=update)
