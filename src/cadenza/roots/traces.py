"""Traces, where the settings want them, and their end with the program."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from threading import Thread
from typing import TYPE_CHECKING

import structlog

from cadenza.domain.errors import InstallationError
from cadenza.roots.dispatch import words
from cadenza.roots.settings import Settings

if TYPE_CHECKING:
    from cadenza.adapters.telemetry.opentelemetry import OpenTelemetryTracer

CLOSE_SECONDS = 5.0
EXPORTER = "opentelemetry.exporter.otlp.proto.http"
log = structlog.get_logger()


@asynccontextmanager
async def opened_tracer(settings: Settings, program: str) -> AsyncGenerator["OpenTelemetryTracer"]:
    if not is_installed("opentelemetry.sdk") or not is_installed(EXPORTER):
        raise InstallationError(
            f"CADENZA_TRACE_RATIO={settings.trace_ratio:g}: traces need OpenTelemetry. Run pip "
            "install 'cadenza[tracing]', or set it to 0."
        )
    from cadenza.adapters.telemetry.opentelemetry import OpenTelemetryTracer  # noqa: PLC0415

    about = (program, version("cadenza"), settings.trace_ratio, settings.trace_url)
    tracer = OpenTelemetryTracer(*about, _headers(settings))
    log.info("traces are sent", ratio=settings.trace_ratio, to=settings.trace_url or "OTEL_*")
    try:
        yield tracer
    finally:
        await _closed(tracer.close)


async def _closed(close: Callable[[], None]) -> None:
    """In a thread that the end of the program does not wait for: a receiver that says nothing must
    not hold it up."""
    loop, is_closed = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        close()
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(is_closed.set)

    Thread(target=run, name="last traces", daemon=True).start()
    try:
        async with asyncio.timeout(CLOSE_SECONDS):
            await is_closed.wait()
    except TimeoutError:
        log.warning("the last traces could not be sent")


def is_installed(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # nor is the package that it would be in
        return False


def _headers(settings: Settings) -> dict[str, str] | None:
    if settings.trace_headers is None:
        return None
    pairs = [word.partition("=") for word in words(settings.trace_headers.get_secret_value())]
    if any(not name.strip() or not value.strip() for name, _, value in pairs):
        raise InstallationError(
            "CADENZA_TRACE_HEADERS=***: it has the form Name=value, Other=value."
        )
    return {name.strip(): value.strip() for name, _, value in pairs}
