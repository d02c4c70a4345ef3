"""`cadenza scheduler`: a worker that runs what is due, until it is told to stop."""

import asyncio
import os
import signal
import socket
from contextlib import suppress
from datetime import timedelta
from functools import partial

import structlog
import typer
import uvloop

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.run_queue import PostgresRunQueue
from cadenza.adapters.postgres.workers import BEAT_EVERY, PostgresWorkers
from cadenza.adapters.system.clock import wall_clock
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.repeat import repeat
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.waiting import end_all
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.instants import humanize
from cadenza.roots.database import database_url, opened_database
from cadenza.roots.dispatch import dispatcher
from cadenza.roots.garbage import collect_less_often
from cadenza.roots.logging import set_up_logs
from cadenza.roots.parent import end_with_parent
from cadenza.roots.secrets import secret_box
from cadenza.roots.settings import Settings, read_settings

MAINTENANCE_EVERY = timedelta(hours=1)
WORTH_SAYING = timedelta(seconds=1)
log = structlog.get_logger()


def scheduler() -> None:
    """Run a scheduler worker: claim what is due, execute it, plan the next run.

    Any number of them share one database. SIGTERM ends it gently, a second one at once.

    Example: CADENZA_DATABASE_URL=postgresql://me@localhost/cadenza cadenza scheduler
    """
    settings = read_settings()
    set_up_logs(as_json=settings.log_json)
    end_with_parent()
    collect_less_often()
    with (
        database_url(settings) as url,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(run_scheduler(settings, url))


async def run_scheduler(settings: Settings, url: str) -> None:
    async with opened_database(settings, url) as database:
        await migrate(database)
        await Maintenance(database, timedelta(days=settings.retention_days)).run_once()
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        async with dispatcher(settings, database, box, clock) as calls:
            worker = make_scheduler(settings, database, box, clock, calls)
            _stop_on_signals(worker)
            log.info("scheduler started", in_flight=settings.in_flight)
            try:
                await _run_beside(worker, _beside(settings, url, database, clock, worker))
            finally:
                with suppress(StoreUnavailable):
                    await PostgresWorkers(database).left(worker_name(settings))
                log.info("scheduler stopped")


def _beside(
    settings: Settings, url: str, database: Database, clock: DatabaseClock, worker: Scheduler
) -> list[asyncio.Task[None]]:
    """What goes on next to the worker: listening, and keeping house once an hour."""
    maintenance = Maintenance(database, timedelta(days=settings.retention_days))

    async def keep_house() -> None:
        await _compare_clocks(clock, database)
        await maintenance.run_once()

    beat = partial(PostgresWorkers(database).beat, worker_name(settings), "scheduler")
    return [
        asyncio.create_task(repeat(beat, clock, BEAT_EVERY, _trouble)),
        asyncio.create_task(Listener(url, {"cadenza_due": worker.wake}).run()),
        asyncio.create_task(repeat(keep_house, clock, MAINTENANCE_EVERY, _trouble)),
    ]


async def _run_beside(worker: Scheduler, beside: list[asyncio.Task[None]]) -> None:
    """Until the worker has ended; where something beside it breaks, it lands and tells."""
    working = asyncio.create_task(worker.run())
    try:
        await asyncio.wait({working, *beside}, return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            worker.stop()
        await working
    finally:
        await end_all([working, *beside])


def make_scheduler(
    settings: Settings, database: Database, box: SecretBox, clock: DatabaseClock, calls: Dispatcher
) -> Scheduler:
    options = SchedulerOptions(
        in_flight=settings.in_flight,
        per_tenant=settings.in_flight_per_tenant,
        per_host=settings.in_flight_per_host,
        lease=timedelta(seconds=settings.lease_seconds),
        tick=timedelta(seconds=settings.tick_seconds),
        stop_grace=timedelta(seconds=settings.stop_seconds),
    )
    queue = PostgresRunQueue(database, CronsimCron(), new_id, box, on_time=clock.hear)
    return Scheduler(worker_name(settings), queue, calls, clock, LoggedEvents(), options)


def worker_name(settings: Settings) -> str:
    return settings.worker_name or f"{socket.gethostname()}-{os.getpid()}"


async def _compare_clocks(clock: DatabaseClock, database: Database) -> None:
    """The database's clock counts; a machine that thinks otherwise is told so."""
    off_by = wall_clock() - await clock.ask(database)
    if abs(off_by) > WORTH_SAYING:
        way = "ahead" if off_by > timedelta(0) else "behind"
        said = f"{humanize(timedelta(seconds=round(abs(off_by).total_seconds())))} {way}"
        log.warning("this machine's clock is off; the database's is used", off_by=said)


def _stop_on_signals(worker: Scheduler) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _stop, worker, number.name)


def _stop(worker: Scheduler, why: str) -> None:
    log.info("stopping; a second signal stops at once", signal=why)
    worker.stop()


def _trouble(error: StoreUnavailable) -> None:
    log.warning("the database does not answer; trying again", error=str(error))


def register(app: typer.Typer) -> None:
    app.command()(scheduler)
