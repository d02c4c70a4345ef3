"""Who watches a program: its metrics and traces as its settings have them, and where they are read.

The libraries for them are extras. A program without them runs as well; where it was asked for
traces it cannot make, it says so at its start.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from importlib.metadata import version
from typing import TYPE_CHECKING

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.overview import PostgresOverview
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.adapters.telemetry.catalogue import Part
from cadenza.adapters.telemetry.loop_lag import measure_lag
from cadenza.adapters.telemetry.probes import Page
from cadenza.application.tracing import RunTraces
from cadenza.application.waiting import end_all
from cadenza.application.watch import Watch
from cadenza.roots.dispatch import words
from cadenza.roots.settings import Settings
from cadenza.roots.traces import is_installed, opened_tracer

if TYPE_CHECKING:
    from cadenza.adapters.telemetry.opentelemetry import OpenTelemetryTracer
    from cadenza.adapters.telemetry.prometheus import Metrics

Load = Callable[[], tuple[int, int]]  # in flight, and how many may be


@dataclass(slots=True)
class Watched:
    """A program that is watched, or is not."""

    watch: Watch = field(default_factory=Watch)
    metrics: "Metrics | None" = None
    page: Page | None = None


@asynccontextmanager
async def watched(
    settings: Settings,
    program: str,
    parts: Collection[Part],
    database: Database | None = None,
    *,
    always: bool = False,
    traced: bool = True,
) -> AsyncGenerator[Watched]:
    """Metrics where somebody can read them, or `always`; traces where there are any to take."""
    is_read = always or settings.probe_port is not None
    metrics = _metrics(program, parts) if settings.metrics and is_read else None
    async with AsyncExitStack() as stack:
        tracer = None
        if traced and settings.trace_ratio > 0:
            tracer = await stack.enter_async_context(opened_tracer(settings, program))
        if metrics is None:
            yield Watched(_watch(None, tracer))
            return
        if database is not None:
            show_pool(metrics, database)
        lag = metrics.histogram("cadenza_event_loop_lag_seconds").observe
        measuring = asyncio.create_task(measure_lag(lag))
        stack.push_async_callback(end_all, [measuring])
        page = _page(settings, metrics, parts, database)
        yield Watched(_watch(metrics, tracer), metrics, page)


def _watch(metrics: "Metrics | None", tracer: "OpenTelemetryTracer | None") -> Watch:
    telemetry = None
    if metrics is not None:
        from cadenza.adapters.telemetry.prometheus import PrometheusTelemetry  # noqa: PLC0415

        telemetry = PrometheusTelemetry(metrics)
    return Watch(telemetry, None if tracer is None else RunTraces(tracer))


def _metrics(program: str, parts: Collection[Part]) -> "Metrics | None":
    if not is_installed("prometheus_client"):
        return None
    from cadenza.adapters.telemetry.prometheus import Metrics  # noqa: PLC0415 - an extra

    return Metrics(program, version("cadenza"), parts)


def show_pool(metrics: "Metrics", database: Database) -> None:
    def of(name: str, read: Callable[[], int], *labels: str) -> None:
        metrics.gauge(name, *labels).set_function(read)

    of("cadenza_database_connections", lambda: database.use.used, "used")
    of("cadenza_database_connections", lambda: database.use.idle, "idle")
    of("cadenza_database_connections_limit", lambda: database.use.limit)
    of("cadenza_database_waiting", lambda: database.use.waiting)


def show_load(metrics: "Metrics | None", load: Load) -> None:
    if metrics is not None:
        metrics.gauge("cadenza_runs_in_flight").set_function(lambda: load()[0])
        metrics.gauge("cadenza_runs_in_flight_limit").set_function(lambda: load()[1])


def _page(
    settings: Settings, metrics: "Metrics", parts: Collection[Part], database: Database | None
) -> Page:
    figures = None
    if Part.INSTALLATION in parts and database is not None:
        from cadenza.adapters.telemetry.installation import InstallationFigures  # noqa: PLC0415

        hurried, tenants = database.within(timedelta(seconds=2)), words(settings.metrics_tenants)
        figures = InstallationFigures(
            metrics, PostgresOverview(hurried), PostgresWorkers(hurried), tenants
        )

    async def page(accept: str) -> tuple[bytes, str]:
        if figures is not None:
            await figures.refresh()
        return metrics.page(accept)

    return page


def shown_programs(
    metrics: "Metrics | None", names: Collection[str]
) -> Callable[[str, bool], None]:
    if metrics is None:
        return lambda _name, _runs: None
    known, started = metrics, set[str]()
    for name in names:
        known.gauge("cadenza_program_up", name).set(0)
        known.counter("cadenza_program_restarts_total", name)

    def on_change(name: str, runs: bool) -> None:
        known.gauge("cadenza_program_up", name).set(int(runs))
        if runs and name in started:
            known.counter("cadenza_program_restarts_total", name).inc()
        started.add(name)

    return on_change
