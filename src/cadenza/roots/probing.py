"""Where a worker answers that it lives, works, and what it has counted."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

import structlog

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.usage import PostgresReadiness
from cadenza.adapters.telemetry.probes import (
    NOT_INSTALLED,
    OK,
    STANDS_STILL,
    SWITCHED_OFF,
    Probes,
    served_probes,
)
from cadenza.domain.errors import InstallationError
from cadenza.roots.observability import Watched
from cadenza.roots.settings import Settings

LAST_PORT = 65535
log = structlog.get_logger()


@asynccontextmanager
async def probed(
    settings: Settings,
    here: Watched,
    database: Database | None,
    is_moving: Callable[[], bool] = lambda: True,
) -> AsyncGenerator[None]:
    """Where CADENZA_PROBE_PORT says, while the block lasts."""
    if settings.probe_port is None:
        yield
        return
    token = settings.metrics_token
    probes = Probes(
        _check(database, is_moving),
        here.page,
        NOT_INSTALLED if settings.metrics else SWITCHED_OFF,
        None if token is None else token.get_secret_value(),
        is_moving,
    )
    async with served_probes(probes, settings.probe_host, settings.probe_port) as port:
        log.info("probes and metrics are served", host=settings.probe_host, port=port)
        yield


def _check(
    database: Database | None, is_moving: Callable[[], bool]
) -> Callable[[], Awaitable[Mapping[str, str]]]:
    async def check() -> Mapping[str, str]:
        parts = dict(await PostgresReadiness(database).check()) if database is not None else {}
        return {**parts, "worker": OK if is_moving() else STANDS_STILL}

    return check


def probe_port_of(settings: Settings, number: int) -> dict[str, str]:
    """Of the programs of `up`, each has the port after the one before it."""
    first = settings.probe_port
    if first is None:
        return {}
    if not 0 < first <= LAST_PORT - number:
        raise InstallationError(
            f"CADENZA_PROBE_PORT={first}: `cadenza up` needs this port and the three after it; "
            "take one like 9464."
        )
    return {"CADENZA_PROBE_PORT": str(first + number)}
