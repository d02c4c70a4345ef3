"""`cadenza graph-worker`: runs graphs at their slots, until it is told to stop."""

import os
import secrets
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from uuid import UUID

import structlog
import typer

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.gateway.gateway import RunGateway
from cadenza.adapters.graphs.executor import ForkingExecutor
from cadenza.adapters.graphs.sources import GraphSources, graph_environment
from cadenza.adapters.http.addresses import AddressPolicy, parse_networks, parse_ports
from cadenza.adapters.http.guard import Guard
from cadenza.adapters.http.provider_connector import ProviderConnector
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.worker_program import log_trouble
from cadenza.application.announcing import announcement_of
from cadenza.application.grants import tell_of_expiring_grants
from cadenza.application.graph_worker import GraphWork, GraphWorker
from cadenza.application.metering import RunMeter
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.repeat import repeat
from cadenza.application.scheduler import SchedulerOptions
from cadenza.application.slots import ClaimedSlots
from cadenza.domain.billing import Charge
from cadenza.domain.graph import GraphRequest
from cadenza.domain.schedule import check_labels
from cadenza.roots.dispatch import words
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.program import opened_database, run_program, start_program
from cadenza.roots.secrets import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import run_worker, worker_name

EVERY_MINUTE = timedelta(minutes=1)
log = structlog.get_logger()
cli = typer.Typer()


@cli.command(name="graph-worker")
def graph_worker() -> None:
    """Run a graph worker: start scheduled AI graphs at their slots, under their grants.

    Any number of them share one database. SIGTERM ends it gently, a second one at once.

    Example: CADENZA_GRAPH_FILES=langgraph.json CADENZA_GRAPH_LABELS=gpu cadenza graph-worker
    """
    settings = start_program()
    run_program(settings, lambda url: run_graph_worker(settings, url))


async def run_graph_worker(settings: Settings, url: str) -> None:
    labels = tuple(words(settings.graph_labels))
    check_labels("CADENZA_GRAPH_LABELS", labels)
    async with opened_database(settings, url, waits=True) as database:
        await migrate(database)
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        store = PostgresStore(database, box)
        options = _options(settings)
        hurried = PostgresStore(database.within(options.store_limit), box)
        queue = ClaimedSlots(hurried, CronsimCron(), new_id, labels)
        async with _executor(settings) as executor, _gateway(settings) as gateway:
            new_meter = _meters(settings, database, box, clock)
            work = GraphWork(queue, executor, gateway, new_meter, store, clock)
            worker = GraphWorker(worker_name(settings), queue, work, clock, LoggedEvents(), options)
            wake = {"cadenza_slots": worker.wake, "cadenza_cancelled": worker.renew_soon}
            beside = [
                Listener(url, wake).run(),
                repeat(partial(tell_of_expiring_grants, store), clock, EVERY_MINUTE, log_trouble),
            ]
            about = {"graphs": sorted(executor.graphs()), "labels": labels}
            name, moving = worker_name(settings), worker.is_moving
            announced = partial(announcement_of, executor, labels)
            await run_worker(
                *("graph-worker", name, worker, database, clock, beside, moving, announced), **about
            )


@asynccontextmanager
async def _executor(settings: Settings) -> AsyncGenerator[ForkingExecutor]:
    sources = GraphSources(
        files=_present(words(settings.graph_files)),
        python=tuple(words(settings.graph_functions)),
        paths=tuple(words(settings.graph_paths)),
    )
    environment = graph_environment(words(settings.graph_environment), os.environ)
    executor = ForkingExecutor(sources, environment)
    await executor.start()
    log.info("graphs loaded", count=len(executor.graphs()), isolation=executor.isolation)
    for graph_id, error in executor.graphs().items():
        if error is not None:
            log.warning("a graph cannot be loaded", graph=graph_id, error=error)
    try:
        yield executor
    finally:
        await executor.close()


def _present(files: Iterable[str]) -> tuple[str, ...]:
    return tuple(file for file in files if Path(file).is_file())


@asynccontextmanager
async def _gateway(settings: Settings) -> AsyncGenerator[RunGateway]:
    networks, ports = parse_networks(settings.allowed_networks), parse_ports(settings.closed_ports)
    gateway = RunGateway(lambda: secrets.token_urlsafe(32))
    async with gateway.serving(ProviderConnector(Guard(AddressPolicy(networks, ports)))):
        yield gateway


def _meters(
    settings: Settings, database: Database, box: SecretBox, clock: DatabaseClock
) -> Callable[[GraphRequest, UUID | None, Callable[[Charge], None]], RunMeter]:
    store, reads = PostgresStore(database, box), PostgresBilling(database, box)
    return partial(RunMeter, store, reads, LoadedPrices(clock, settings.prices))


def _options(settings: Settings) -> SchedulerOptions:
    return SchedulerOptions(
        in_flight=settings.graphs_at_once,
        per_tenant=max(1, settings.graphs_at_once // 2),
        per_host=settings.graphs_at_once,
        lease=timedelta(seconds=settings.lease_seconds),
        tick=timedelta(seconds=settings.tick_seconds),
        sweep_every=EVERY_MINUTE,
        stop_grace=timedelta(seconds=settings.stop_seconds),
    )
