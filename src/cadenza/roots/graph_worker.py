"""`cadenza graph-worker`: runs graphs at their slots, until it is told to stop."""

import secrets
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial

import structlog
import typer

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.gateway.gateway import RunGateway
from cadenza.adapters.http.addresses import AddressPolicy, parse_networks, parse_ports
from cadenza.adapters.http.guard import Guard
from cadenza.adapters.http.provider_connector import ProviderConnector
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.failing_runs import LoggingDispatcher
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.worker_program import Workers, log_trouble
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.announcing import announcement_of
from cadenza.application.dispatch import RoutedDispatcher
from cadenza.application.executions import Load
from cadenza.application.grants import notify_of_expiring_grants
from cadenza.application.graph_dispatch import GraphDispatcher
from cadenza.application.graph_runs import GraphRuns, NewMeter
from cadenza.application.graph_worker import GraphWork, GraphWorker
from cadenza.application.metering import RunMeter
from cadenza.application.observing import counted_meters
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.repeat import repeat
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.slots import ClaimedSlots
from cadenza.domain.graph_target import GRAPHS, GraphTarget
from cadenza.domain.schedule import check_labels
from cadenza.roots.dispatch import words
from cadenza.roots.graph_executor import graph_executor
from cadenza.roots.listening import listening
from cadenza.roots.observability import show_load, watched
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.probing import probed
from cadenza.roots.program import opened_database, run_program, start_program
from cadenza.roots.run_queue import claimed_runs
from cadenza.roots.secret_box import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import run_worker, worker_name

EVERY_MINUTE = timedelta(minutes=1)
log = structlog.get_logger()
cli = typer.Typer()


@cli.command(name="graph-worker")
def graph_worker() -> None:
    """Run a graph worker: run AI graphs for schedules and endpoints.

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
        async with (
            watched(settings, "graph-worker", (Part.RUNS, Part.MODELS), database) as here,
            graph_executor(settings) as executor,
            _gateway(settings) as gateway,
        ):
            watch, options = here.watch, _options(settings)
            meters = counted_meters(_meters(settings, database, box, clock), watch.counts)
            graphs = GraphRuns(executor, gateway, meters, clock)
            load, events = Load(), watch.events(LoggedEvents())
            hurried = database.within(options.store_limit)
            queue = ClaimedSlots(PostgresStore(hurried, box), CronsimCron(), new_id, labels)
            name = worker_name(settings)
            work = watch.work(GraphWork(queue, graphs, store, clock))
            slots = GraphWorker(name, watch.runs(queue), work, clock, events, options, load)
            runs = claimed_runs(hurried, box, clock)
            calls = RoutedDispatcher({GraphTarget: GraphDispatcher(runs, graphs, clock)})
            logged = watch.dispatcher(LoggingDispatcher(calls))
            of_endpoints = replace(options, runs_on=GRAPHS)
            watched_runs = watch.runs(runs)
            endpoints = Scheduler(name, watched_runs, logged, clock, events, of_endpoints, load)
            show_load(here.metrics, lambda: (load.total, options.in_flight))
            wake = {
                "cadenza_slots": slots.wake,
                "cadenza_cancelled": slots.renew_soon,
                "cadenza_due": endpoints.wake,
            }
            beside = [
                listening(settings, database, url, wake),
                repeat(partial(notify_of_expiring_grants, store), clock, EVERY_MINUTE, log_trouble),
            ]
            about = {"graphs": sorted(executor.graphs()), "labels": labels}
            workers = Workers(slots, endpoints)
            async with probed(settings, here, database, workers.are_moving):
                await run_worker(
                    "graph-worker",
                    name,
                    workers,
                    database,
                    clock,
                    beside,
                    workers.are_moving,
                    partial(announcement_of, executor, labels),
                    lambda: (load.total, options.in_flight),
                    **about,
                )


@asynccontextmanager
async def _gateway(settings: Settings) -> AsyncGenerator[RunGateway]:
    networks, ports = parse_networks(settings.allowed_networks), parse_ports(settings.closed_ports)
    gateway = RunGateway(lambda: secrets.token_urlsafe(32))
    async with gateway.serving(ProviderConnector(Guard(AddressPolicy(networks, ports)))):
        yield gateway


def _meters(
    settings: Settings, database: Database, box: SecretBox, clock: DatabaseClock
) -> NewMeter:
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
