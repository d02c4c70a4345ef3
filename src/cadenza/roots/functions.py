"""A user's own program: a worker for its functions with a planner beside it, in its process."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID

import structlog

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.functions.dispatcher import FunctionDispatcher
from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.postgres.maintenance import Maintenance
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.worker_program import log_trouble, run_with
from cadenza.application.accounts import Tenants
from cadenza.application.announcing import Heartbeat
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.graph_grants import GraphGrants
from cadenza.application.graph_targets import GraphTargets
from cadenza.application.manifests import Manifests
from cadenza.application.outlook import Outlook
from cadenza.application.planners import Planners
from cadenza.application.ports.accounts import TenantReads
from cadenza.application.ports.billing import BillingReads
from cadenza.application.ports.catalogue import EndpointReads
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.events import Events
from cadenza.application.ports.gateway import Prices
from cadenza.application.ports.store import Store
from cadenza.application.ports.workers import BEAT_EVERY
from cadenza.application.program_runs import ProgramRuns
from cadenza.application.programs import Programs, Reconciled
from cadenza.application.repeat import repeat
from cadenza.application.schedule_changes import ScheduleChanges
from cadenza.application.schedule_manifests import ScheduleManifests
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.steering import Steering
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.function_target import FunctionTarget, runs_on
from cadenza.program.control import Control
from cadenza.program.declarations import Declarations
from cadenza.roots.brain import rules_brain
from cadenza.roots.planner import make_planner
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.program import opened_database
from cadenza.roots.scheduler import MAINTENANCE_EVERY, scheduler_options
from cadenza.roots.secrets import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.stores import claimed_runs
from cadenza.roots.worker import worker_name

KIND = "program"
CRON = CronsimCron()
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
    async with opened_database(settings, url, waits=True) as database:
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
        control, reconciled = await declared(declarations, programs, catalogue, tenant)
        _tell(declarations, reconciled)
        calls = FunctionDispatcher(declarations.functions, clock, threads)
        options = scheduler_options(settings)
        queue = claimed_runs(database.within(options.store_limit), box, clock)
        name = f"{worker_name(settings)}-{declarations.program}"
        worker = make_worker(declarations, name, queue, calls, clock, LoggedEvents(), options)
        planner = make_planner(settings, database, box, clock, rules_brain())
        planners = Planners([planner], options.stop_grace)
        wake = {"cadenza_due": worker.wake, "cadenza_finished": planners.wake}
        beside = [
            planners.run(),
            Listener(url, wake).run(),
            _beating(database, clock, name),
            repeat(maintenance.run_once, clock, MAINTENANCE_EVERY, log_trouble),
        ]
        declarations.control = control
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


def make_programs(
    store: Store,
    tenants: TenantReads,
    billing: BillingReads,
    prices: Prices,
    new_id: Callable[[], UUID],
) -> Programs:
    """Over any store: a test has one in memory."""
    grants = GraphGrants(prices, new_id)
    graphs = GraphTargets(grants, billing)
    schedules = ScheduleManifests(ScheduleChanges(grants, CRON), billing, new_id)
    manifests = Manifests(store, CRON, schedules, graphs, new_id)
    return Programs(store, manifests, Tenants(store, new_id, lambda: None), tenants, CRON)


async def declared(
    declarations: Declarations, programs: Programs, endpoints: EndpointReads, tenant: str | None
) -> tuple[Control, Reconciled]:
    """Reconciled with what is stored, and what its handles steer with."""
    definitions = declarations.definitions()
    caller = await programs.caller(declarations.program, tenant)
    reconciled = await programs.reconcile(caller, declarations.program, definitions)
    steering, outlook = Steering(programs.store, CRON), Outlook(endpoints, CRON)
    return Control(caller, steering, outlook, reconciled.endpoint_ids), reconciled


def make_worker(
    declarations: Declarations,
    name: str,
    queue: ClaimedRuns,
    calls: FunctionDispatcher,
    clock: Clock,
    events: Events,
    options: SchedulerOptions,
) -> Scheduler:
    program, functions = declarations.program, declarations.functions
    hosts = {FunctionTarget(program, function).host for function in functions}
    # A program has one tenant, and a function runs once at a time: only the whole is limited.
    room = {"per_tenant": options.in_flight, "runs_on": runs_on(program)}
    dispatcher = RoutedDispatcher({FunctionTarget: calls})
    runs = ProgramRuns(queue, hosts)
    return Scheduler(name, runs, dispatcher, clock, events, replace(options, **room))


def _tell(declarations: Declarations, reconciled: Reconciled) -> None:
    log.info("program started", program=declarations.program, functions=len(declarations.functions))
    for warning in declarations.warnings():
        log.warning(warning)
    for name in reconciled.created:
        log.info("new function", endpoint=name)
    for name in reconciled.changed:
        log.info("function changed", endpoint=name)
    for name in reconciled.paused:
        log.warning("a function is gone from the program, and paused", endpoint=name)
    for name in reconciled.resumed:
        log.info("a function is back, and resumed", endpoint=name)
