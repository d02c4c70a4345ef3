"""`cadenza notifier`: makes incidents of what is wrong, and sends messages and events."""

import asyncio
import os
import sys
from datetime import timedelta

import structlog
import typer

from cadenza.adapters.expressions.pool import endable_expressions
from cadenza.adapters.notify.sender import AppriseSender
from cadenza.adapters.postgres.accounts import PostgresSigningKeys
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.worker_program import log_trouble
from cadenza.adapters.system.zones import zone_of
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.deliveries import ClaimedDeliveries, Notifier, Sending
from cadenza.application.executions import Load
from cadenza.application.incidents import IncidentWatch, watch_incidents
from cadenza.application.results import SchedulerOptions
from cadenza.roots.dispatch import dispatcher
from cadenza.roots.expressions import expression_limits
from cadenza.roots.listening import listening
from cadenza.roots.observability import watched
from cadenza.roots.probing import probed
from cadenza.roots.program import opened_database, run_program, start_program
from cadenza.roots.secret_box import secret_box
from cadenza.roots.settings import Settings
from cadenza.roots.worker import run_worker, worker_name

AT_ONCE = 16
log = structlog.get_logger()
cli = typer.Typer()


@cli.command()
def notifier() -> None:
    """Run a notifier: detect incidents, send notifications and webhooks.

    Any number of them share one database. SIGTERM ends it gently, a second one at once.

    Example: CADENZA_DATABASE_URL=postgresql://me@localhost/cadenza cadenza notifier
    """
    settings = start_program()
    run_program(settings, lambda url: run_notifier(settings, url))


async def run_notifier(settings: Settings, url: str) -> None:
    async with opened_database(settings, url, waits=True) as database:
        await migrate(database)
        clock = DatabaseClock()
        await clock.ask(database)
        box = secret_box(settings, warn=log.warning)
        options, load = _options(settings), Load()
        watch = IncidentWatch(PostgresStore(database, box), zone_of, new_id, _page(settings))
        async with (
            watched(settings, "notifier", (Part.NOTIFIER,), database) as here,
            endable_expressions(expression_limits(settings)) as expressions,
            dispatcher(settings, PostgresSigningKeys(database, box), clock, expressions) as calls,
        ):
            hurried = PostgresStore(database.within(options.store_limit), box)
            sending = Sending(channel_sender(settings), calls)
            claimed = ClaimedDeliveries(hurried, here.watch.counts)
            worker = Notifier(
                worker_name(settings),
                claimed,
                sending,
                clock,
                LoggedEvents(),
                options,
                load,
            )
            woken = asyncio.Event()
            heard = {"cadenza_deliveries": worker.wake, "cadenza_events": woken.set}
            beside = [
                listening(settings, database, url, heard),
                watch_incidents(watch, woken, clock, log_trouble),
            ]
            async with probed(settings, here, database, worker.is_moving):
                await run_worker(
                    "notifier",
                    worker_name(settings),
                    worker,
                    database,
                    clock,
                    beside,
                    worker.is_moving,
                    load=lambda: (load.total, AT_ONCE),
                )


def _page(settings: Settings) -> str | None:
    public_url = settings.public_url
    return None if public_url is None else f"{public_url.rstrip('/')}/activity/incidents"


def channel_sender(settings: Settings) -> AppriseSender:
    guard = {"networks": settings.allowed_networks, "ports": settings.closed_ports}
    command = [sys.executable, "-I", "-m", "cadenza.roots.apprise_child"]
    return AppriseSender(command, guard, os.environ, at_once=AT_ONCE)


def _options(settings: Settings) -> SchedulerOptions:
    return SchedulerOptions(
        in_flight=AT_ONCE,
        per_tenant=AT_ONCE // 4,
        per_host=1,  # a channel that hangs holds up nobody but itself
        lease=timedelta(seconds=settings.lease_seconds),
        ahead=timedelta(0),
        tick=timedelta(seconds=settings.tick_seconds),
        stop_grace=timedelta(seconds=settings.stop_seconds),
    )
