"""`cadenza api`: serves the REST API, until it is told to stop."""

import secrets
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Annotated

import structlog
import typer
from fastapi import FastAPI

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.http.addresses import parse_ports
from cadenza.adapters.postgres.accounts import PostgresAccounts
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.endpoints import PostgresEndpointStore
from cadenza.adapters.postgres.latest_answers import PostgresLatestAnswers
from cadenza.adapters.postgres.manifests import PostgresManifests
from cadenza.adapters.postgres.migrate import migrate
from cadenza.adapters.postgres.signing_keys import PostgresSigningKeys
from cadenza.adapters.postgres.suggestions import PostgresSuggestions
from cadenza.adapters.signing.standard_webhooks import new_signing_secret
from cadenza.adapters.system.ids import new_id
from cadenza.adapters.system.listening import address_of, check_can_listen
from cadenza.application.ports.secret_box import SecretBox
from cadenza.application.suggestions import AcceptSuggestion
from cadenza.domain.access import hash_of
from cadenza.roots.database import opened_database
from cadenza.roots.dispatch import dispatcher, words
from cadenza.roots.first_start import first_key
from cadenza.roots.program import collect_less_often, run_program, start_program
from cadenza.roots.reads import opened_reads
from cadenza.roots.secrets import secret_box
from cadenza.roots.serving import Server, server_config
from cadenza.roots.settings import Settings
from cadenza.roots.validation_policy import validation_policy
from cadenza.web.api.app import create_app
from cadenza.web.api.dependencies import Dependencies
from cadenza.web.api.rate_limit import RateLimit

log = structlog.get_logger()


def register(app: typer.Typer) -> None:
    @app.command(epilog="Example: CADENZA_DATABASE_URL=postgresql://cadenza@db/cadenza cadenza api")
    def api(
        host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
        port: Annotated[int, typer.Option(min=0, max=65535, help="The port.")] = 8080,
    ) -> None:
        """Serve the REST API."""
        settings = start_program()
        check_can_listen("api", host, port)
        collect_less_often()
        run_program(settings, lambda url: _serve(settings, url, host, port))


async def _serve(settings: Settings, url: str, host: str, port: int) -> None:
    async with opened_database(settings, url) as database:
        await migrate(database)
        address = address_of(host, port)
        if (key := await first_key(database, settings.data_folder, address)) is not None:
            typer.echo(f"The first admin key, shown this once: {key}")
        box = secret_box(settings, warn=log.warning)
        async with served_app(settings, database, box, url) as app:
            log.info("api started", address=address)
            await Server(server_config(app, host, port)).serve()


@asynccontextmanager
async def served_app(
    settings: Settings, database: Database, box: SecretBox, url: str | None = None
) -> AsyncGenerator[FastAPI]:
    """With an address to listen at, NOTIFY wakes the event streams; without, they look."""
    clock = DatabaseClock()
    await clock.ask(database)
    async with (
        dispatcher(settings, database, box, clock) as dispatch,
        opened_reads(database, url, words(settings.expected_workers)) as reads,
    ):
        cron = CronsimCron()
        accounts = PostgresAccounts(database, on_time=clock.hear)
        catalogue = PostgresCatalogue(database, cron, box)
        suggestions = PostgresSuggestions(database)
        store = PostgresEndpointStore(database, cron, box)
        yield create_app(
            Dependencies(
                keys=accounts,
                tenants=accounts,
                jobs=catalogue,
                endpoints=catalogue,
                manifests=PostgresManifests(database, cron, box, new_id),
                signing_keys=PostgresSigningKeys(database, box, new_id),
                suggestions=suggestions,
                acceptance=AcceptSuggestion(
                    suggestions, store, PostgresAnalysisQueue(database), clock
                ),
                latest_answers=PostgresLatestAnswers(database),
                expressions=CelExpressions(),
                reads=reads,
                dispatcher=dispatch,
                door=validation_policy(
                    shell_allowed=settings.shell_allowed,
                    closed_ports=parse_ports(settings.closed_ports),
                ),
                cron=cron,
                clock=clock,
                rate_limit=RateLimit(settings.rate_limit),
                new_id=new_id,
                new_secret=lambda: secrets.token_urlsafe(32),
                new_signing_secret=new_signing_secret,
                monotonic=time.monotonic,
                operator_hash=_admin_hash(settings),
            )
        )


def _admin_hash(settings: Settings) -> bytes | None:
    key = settings.admin_key
    return hash_of(key.get_secret_value()) if key is not None else None
