"""What scheduler and planner have in common: a name, a heartbeat and an orderly end."""

import os
import socket
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from importlib.metadata import version
from typing import Any

import structlog

from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.adapters.system.worker_program import Worker, log_trouble, run_with, stop_on_signals
from cadenza.application.announcing import Heartbeat
from cadenza.application.ports.workers import BEAT_EVERY, Condition
from cadenza.application.repeat import repeat
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.known_graph import Announcement
from cadenza.roots.settings import Settings

log = structlog.get_logger()


def worker_name(settings: Settings) -> str:
    return settings.worker_name or f"{socket.gethostname()}-{os.getpid()}"


async def run_worker(
    kind: str,
    name: str,
    worker: Worker,
    database: Database,
    clock: DatabaseClock,
    beside: Iterable[Coroutine[Any, Any, None]],
    is_moving: Callable[[], bool] = lambda: True,
    announcement: Callable[[], Announcement] = Announcement,
    load: Callable[[], tuple[int, int]] | None = None,
    **about: object,
) -> None:
    """Until a signal stops it; `about` is said when it starts. One that does not move any more
    stops to beat, and /readyz says so. `load` is what it has in flight, and how much it may."""

    def condition() -> Condition:
        return Condition(version("cadenza"), *(load() if load is not None else ()))

    heartbeat = Heartbeat(PostgresWorkers(database), name, kind, announcement, condition)

    async def beat() -> None:
        if is_moving():
            await heartbeat.beat()
        await clock.ask(database)

    stop_on_signals(worker)
    log.info(f"{kind} started", **about)
    try:
        await run_with(worker, [repeat(beat, clock, BEAT_EVERY, log_trouble), *beside])
    finally:
        with suppress(StoreUnavailable):
            await heartbeat.end()
        log.info(f"{kind} stopped")
