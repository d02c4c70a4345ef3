"""`cadenza api`: serves the REST API, until it is told to stop."""

import secrets
import sys
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import structlog
import typer
from fastapi import FastAPI

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.pool import endable_expressions
from cadenza.adapters.http.addresses import parse_ports
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.signing.standard_webhooks import new_signing_secret
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.listening import address_of, check_can_listen
from cadenza.adapters.system.zones import zone_of
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.secret_box import SecretBox
from cadenza.domain.access import hash_of
from cadenza.roots.assistants import add_mcp
from cadenza.roots.dispatch import dispatcher, words
from cadenza.roots.expressions import expression_limits
from cadenza.roots.first_start import first_key
from cadenza.roots.identity import identity_provider, provider_rules
from cadenza.roots.listening import listen_address
from cadenza.roots.notifier import channel_sender
from cadenza.roots.observability import Watched, watched
from cadenza.roots.planner_limits import planner_limits
from cadenza.roots.prices import LoadedPrices
from cadenza.roots.program import collect_less_often, opened_database, run_program, start_program
from cadenza.roots.secret_box import secret_box
from cadenza.roots.serving import api_watch, is_proxy, opened_streams, serve
from cadenza.roots.settings import Settings
from cadenza.roots.stores import api_stores
from cadenza.roots.validation_policy import validation_policy
from cadenza.web.api.app import create_app
from cadenza.web.api.dependencies import Dependencies, Stores, Surroundings
from cadenza.web.api.rate_limit import RateLimit
from cadenza.web.trusted_proxies import TrustedProxies

THREADS_TAKE = 0.001  # seconds, before they let the loop go on
API_PARTS = (Part.API, Part.INSTALLATION)
FAILED_SIGN_INS = 10  # a minute, from one address
log = structlog.get_logger()
cli = typer.Typer()


@cli.command(epilog="Example: CADENZA_DATABASE_URL=postgresql://cadenza@db/cadenza cadenza api")
def api(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port to listen on.")] = 8080,
) -> None:
    """Serve the REST API and the dashboard."""
    settings = start_program()
    check_can_listen("api", host, port)
    collect_less_often()
    sys.setswitchinterval(THREADS_TAKE)
    run_program(settings, lambda url: _serve(settings, url, host, port))


async def _serve(settings: Settings, url: str, host: str, port: int) -> None:
    async with opened_database(settings, url, waits=True) as database:
        await migrate(database)
        address = address_of(host, port)
        box = secret_box(settings, warn=log.warning)
        if (key := await first_key(database, box, settings.data_folder, address)) is not None:
            typer.echo(f"The first admin key, shown this once: {key}")
        async with (
            watched(settings, "api", API_PARTS, database, always=True) as here,
            served_app(settings, database, box, url, here) as app,
        ):
            log.info("api started", address=address)
            await serve(app, settings, host, port)


@asynccontextmanager
async def served_app(
    settings: Settings,
    database: Database,
    box: SecretBox,
    url: str | None = None,
    here: Watched | None = None,
) -> AsyncGenerator[FastAPI]:
    """With an address to listen at, NOTIFY wakes the event streams; without, they look."""
    clock = DatabaseClock()
    await clock.ask(database)
    stores = api_stores(database, box, clock, words(settings.expected_workers))
    heard_at = url and listen_address(settings, database, url)
    async with app_over(settings, stores, clock, heard_at, here, alone=url is not None) as app:
        yield app


@asynccontextmanager
async def app_over(
    settings: Settings,
    stores: Stores,
    clock: Clock,
    url: str | None = None,
    here: Watched | None = None,
    *,
    alone: bool = False,
) -> AsyncGenerator[FastAPI]:
    """`alone`: this process has nothing else to do."""
    limits = expression_limits(settings)
    async with (
        endable_expressions(limits, at_once=alone) as expressions,
        dispatcher(settings, stores.signing_keys, clock, expressions) as calls,
        opened_streams(stores.event_log, url) as streams,
    ):
        admin_key, closed_ports = settings.admin_key, parse_ports(settings.closed_ports)
        around = Surroundings(
            streams=streams,
            expressions=expressions,
            dispatcher=calls,
            validation_policy=validation_policy(
                settings.shell_allowed, closed_ports, settings.llm_provider
            ),
            cron=CronsimCron(),
            prices=LoadedPrices(clock, settings.prices),
            planner_limits=planner_limits(settings),
            clock=clock,
            rate_limit=RateLimit(settings.rate_limit),
            failed_sign_ins=RateLimit(FAILED_SIGN_INS),
            new_id=new_id,
            new_secret=lambda: secrets.token_urlsafe(32),
            new_signing_secret=new_signing_secret,
            monotonic=time.monotonic,
            channel_sender=channel_sender(settings),
            zone_of=zone_of,
            closed_ports=closed_ports,
            admin_key_hash=hash_of(admin_key.get_secret_value()) if admin_key is not None else None,
            watch=api_watch(settings, here or Watched()),
            identity_provider=identity_provider(settings, clock),
            provider_rules=provider_rules(settings),
            public_url=settings.public_url,
        )
        app = create_app(Dependencies(stores, around))
        add_mcp(app)
        if settings.trusted_proxies:
            app.add_middleware(TrustedProxies, is_trusted=is_proxy(settings))
        yield app
