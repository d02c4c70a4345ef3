"""`cadenza scheduler`: a worker that runs what is due, until it is told to stop."""

import secrets
from datetime import timedelta
from functools import partial

import structlog
import typer

from cadenza.adapters.expressions.pool import endable_expressions
from cadenza.adapters.postgres.accounts import PostgresSigningKeys
from cadenza.adapters.postgres.awaited_results import PostgresResults
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.clock_check import warn_if_off
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.failing_runs import LoggingDispatcher
from cadenza.adapters.system.worker_program import log_trouble
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.accounts import notify_of_expiring_keys
from cadenza.application.executions import Load
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.repeat import repeat
from cadenza.application.result_waiting import WaitingResults
from cadenza.application.run_results import RunResults
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.watch import UNWATCHED, Watch
from cadenza.roots.clock_steps import follow_clock_steps
from cadenza.roots.dispatch import dispatcher
from cadenza.roots.expressions import expression_limits
from cadenza.roots.listening import listening
from cadenza.roots.observability import show_load, watched
from cadenza.roots.probing import probed
from cadenza.roots.program import collect_less_often, opened_database, run_program, start_program
from cadenza.roots.run_queue import claimed_runs
from cadenza.roots.secret_box import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import run_worker, worker_name

MAINTENANCE_EVERY = timedelta(hours=1)
PARTS = (Part.RUNS, Part.INSTALLATION)
EVERY_MINUTE = timedelta(minutes=1)
log = structlog.get_logger()
cli = typer.Typer()


@cli.command()
def scheduler() -> None:
    """Run a scheduler worker: execute due runs and plan the next ones.

    Any number of them share one database. SIGTERM ends it gently, a second one at once.

    Example: CADENZA_DATABASE_URL=postgresql://me@localhost/cadenza cadenza scheduler
    """
    settings = start_program()
    collect_less_often()
    run_program(settings, lambda url: run_scheduler(settings, url))


async def run_scheduler(settings: Settings, url: str) -> None:
    async with opened_database(settings, url, waits=True) as database:
        await migrate(database)
        maintenance = Maintenance(database, timedelta(days=settings.retention_days))
        await maintenance.run_once()
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)

        async def housekeeping() -> None:
            warn_if_off(await clock.ask(database))
            await maintenance.run_once()

        signing_keys, load = PostgresSigningKeys(database, box), Load()
        store = PostgresStore(database, box)
        reported = RunResults(store, lambda: secrets.token_urlsafe(32))
        results = WaitingResults(reported, PostgresResults(database), clock)
        async with (
            watched(settings, "scheduler", PARTS, database) as here,
            endable_expressions(expression_limits(settings)) as expressions,
            dispatcher(settings, signing_keys, clock, expressions, results) as calls,
        ):
            logged, options = LoggingDispatcher(calls), scheduler_options(settings)
            worker = make_scheduler(settings, database, box, clock, logged, load, here.watch)
            show_load(here.metrics, lambda: (load.total, settings.in_flight))
            beside = [
                listening(
                    settings,
                    database,
                    url,
                    {"cadenza_due": worker.wake, "cadenza_results": results.wake},
                ),
                repeat(housekeeping, clock, MAINTENANCE_EVERY, log_trouble),
                repeat(partial(notify_of_expiring_keys, store), clock, EVERY_MINUTE, log_trouble),
                follow_clock_steps(database, box, clock, worker, options.lease),
            ]
            name, at_once = worker_name(settings), settings.in_flight
            async with probed(settings, here, database, worker.is_moving):
                await run_worker(
                    "scheduler",
                    name,
                    worker,
                    database,
                    clock,
                    beside,
                    worker.is_moving,
                    load=lambda: (load.total, at_once),
                    in_flight=at_once,
                )


def make_scheduler(
    settings: Settings,
    database: Database,
    box: SecretBox,
    clock: DatabaseClock,
    calls: Dispatcher,
    load: Load | None = None,
    watch: Watch = UNWATCHED,
) -> Scheduler:
    options = scheduler_options(settings)
    queue = watch.runs(claimed_runs(database.within(options.store_limit), box, clock))
    calls, events = watch.dispatcher(calls), watch.events(LoggedEvents())
    return Scheduler(worker_name(settings), queue, calls, clock, events, options, load)


def scheduler_options(settings: Settings) -> SchedulerOptions:
    return SchedulerOptions(
        in_flight=settings.in_flight,
        per_tenant=settings.in_flight_per_tenant,
        per_host=settings.in_flight_per_host,
        lease=timedelta(seconds=settings.lease_seconds),
        tick=timedelta(seconds=settings.tick_seconds),
        stop_grace=timedelta(seconds=settings.stop_seconds),
    )
