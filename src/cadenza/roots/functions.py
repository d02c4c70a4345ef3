"""A user's own program: a worker for its functions with a planner beside it, in its process."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from cadenza.adapters.functions.dispatcher import FunctionDispatcher
from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.steering_history import PostgresSteeringReads
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.worker_program import log_trouble, run_with
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.announcing import Heartbeat
from cadenza.application.executions import Load
from cadenza.application.planners import Planners
from cadenza.application.ports.workers import BEAT_EVERY
from cadenza.application.programs import Reconciled
from cadenza.application.repeat import repeat
from cadenza.application.scheduler import Scheduler
from cadenza.domain.errors import StoreUnavailable
from cadenza.program.declarations import Declarations
from cadenza.roots.brain import rules_brain
from cadenza.roots.giving_way import GivingWay
from cadenza.roots.listening import listening
from cadenza.roots.observability import show_load, watched
from cadenza.roots.planner import make_planner
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.probing import probed
from cadenza.roots.program import opened_database
from cadenza.roots.program_dependencies import declared, make_programs, make_worker
from cadenza.roots.run_queue import claimed_runs
from cadenza.roots.scheduler import MAINTENANCE_EVERY, scheduler_options
from cadenza.roots.secret_box import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import worker_name

KIND = "program"
PARTS = (Part.RUNS, Part.PLANNER)
log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class RunningProgram:
    worker: Scheduler
    ended: asyncio.Task[None]  # when the worker was told to stop and has ended, or broke


@asynccontextmanager
async def running_program(
    declarations: Declarations, settings: Settings, url: str, tenant: str | None, threads: int
) -> AsyncGenerator[RunningProgram]:
    """It ends with the block, when what is in flight has ended."""
    async with (
        opened_database(settings, url, waits=True) as database,
        watched(settings, KIND, PARTS, database) as here,
    ):
        await migrate(database)
        maintenance = Maintenance(database, timedelta(days=settings.retention_days))
        await maintenance.run_once()
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        store, catalogue = PostgresStore(database, box), PostgresCatalogue(database, box)
        prices = LoadedPrices(clock, settings.prices)
        billing = PostgresBilling(database, box)
        programs = make_programs(store, PostgresAccounts(database), billing, prices, new_id)
        control, reconciled = await declared(
            declarations, programs, catalogue, PostgresSteeringReads(database), tenant
        )
        _log_start(declarations, reconciled)
        calls = FunctionDispatcher(declarations.functions, clock, threads)
        options = scheduler_options(settings)
        queue = claimed_runs(database.within(options.store_limit), box, clock)
        name = f"{worker_name(settings)}-{declarations.program}"
        load = Load()
        events = LoggedEvents()
        about = (declarations, name, queue, calls, clock, events, options, load)
        worker = make_worker(*about, here.watch)
        show_load(here.metrics, lambda: (load.total, options.in_flight))
        analyses = GivingWay(database, clock, lambda: load.total > options.in_flight // 4)
        planner = make_planner(settings, database, box, clock, rules_brain(), analyses, here.watch)
        planners = Planners([planner], options.stop_grace)
        wake = {"cadenza_due": worker.wake, "cadenza_finished": planners.wake}
        beside = [
            planners.run(),
            listening(settings, database, url, wake),
            _beating(database, clock, name),
            repeat(maintenance.run_once, clock, MAINTENANCE_EVERY, log_trouble),
        ]
        declarations.control = control
        async with probed(settings, here, database, worker.is_moving):
            task = asyncio.create_task(run_with(worker, beside))
            try:
                yield RunningProgram(worker, task)
            finally:
                worker.stop()
                try:
                    await task
                finally:
                    declarations.control = None
                    calls.close()


async def _beating(database: Database, clock: DatabaseClock, name: str) -> None:
    heartbeat = Heartbeat(PostgresWorkers(database), name, KIND)

    async def beat() -> None:
        await heartbeat.beat()
        await clock.ask(database)

    try:
        await repeat(beat, clock, BEAT_EVERY, log_trouble)
    finally:
        with suppress(StoreUnavailable):
            await heartbeat.end()


def _log_start(declarations: Declarations, reconciled: Reconciled) -> None:
    log.info("program started", program=declarations.program, functions=len(declarations.functions))
    for warning in declarations.warnings():
        log.warning(warning)
    for name in reconciled.created:
        log.info("new function", endpoint=name)
    for name in reconciled.changed:
        log.info("function changed", endpoint=name)
    for name in reconciled.taken_over:
        log.warning("an endpoint of this name was not ours: it is this function now", endpoint=name)
    for name in reconciled.paused:
        log.warning("the program no longer has this function: it is paused", endpoint=name)
    for name in reconciled.resumed:
        log.info("the program has this function again: it is resumed", endpoint=name)
