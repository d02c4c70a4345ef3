"""How the API is served: uvicorn, with its limits and an end for event streams."""

import asyncio
import resource
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from ipaddress import ip_address
from types import FrameType

import uvicorn
from fastapi import FastAPI

from cadenza.adapters.http.addresses import parse_networks
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.system.listening import HOST
from cadenza.application.ports.event_log import EventLog
from cadenza.application.waiting import end_all
from cadenza.domain.access import hash_of
from cadenza.roots.observability import Watched
from cadenza.roots.settings import Settings
from cadenza.web.api.observing import ApiWatch
from cadenza.web.api.streams import Pace, Streams
from cadenza.web.connections import ConnectionLimits, Connections, GuardedProtocol

CHANNEL = "cadenza_events"
OTHER_FILES = 200  # that the API has open: connections to the database, to targets of tests
MIN_CONNECTIONS = 50


class Server(uvicorn.Server):
    """Event streams do not end by themselves: they are ended before other requests are awaited."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app: FastAPI = self.config.app  # type: ignore[assignment]
        asyncio.get_running_loop().call_soon_threadsafe(app.state.dependencies.around.streams.end)
        super().handle_exit(sig, frame)


def server_config(
    app: FastAPI, host: str, port: int, limits: ConnectionLimits | None = None
) -> uvicorn.Config:
    connections = Connections(limits or ConnectionLimits())
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        http=partial(GuardedProtocol, connections),  # type: ignore[arg-type]: it makes one
        ws="none",  # it would take a connection out of our hands
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # web/trusted_proxies.py reads them, where they are believed
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
    )


@asynccontextmanager
async def served(app: FastAPI, limits: ConnectionLimits | None = None) -> AsyncGenerator[int]:
    """On whatever port of this machine is free, beside what else the process does: its signals
    stay its own."""
    server = uvicorn.Server(server_config(app, HOST, 0, limits))
    server.config.load()
    server.lifespan = server.config.lifespan_class(server.config)
    await server.startup()
    serving = asyncio.create_task(server.main_loop())
    try:
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        await serving
        await server.shutdown()


def connection_limits(settings: Settings) -> ConnectionLimits:
    """As many as are set, where this process may open so many; it asks for more if it has to."""
    in_all, reserved = settings.api_connections, ConnectionLimits().reserved
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = in_all + reserved + OTHER_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    in_all = max(MIN_CONNECTIONS, min(in_all, soft - reserved - OTHER_FILES))
    per_address = min(settings.api_connections_per_address, in_all)
    proxies = is_proxy(settings)
    return ConnectionLimits(in_all=in_all, per_address=per_address, is_proxy=proxies)


def is_proxy(settings: Settings) -> Callable[[str], bool]:
    networks = parse_networks(settings.trusted_proxies, "CADENZA_TRUSTED_PROXIES")

    @lru_cache(maxsize=1024)
    def trusted(address: str) -> bool:
        try:
            parsed = ip_address(address.partition("%")[0])
        except ValueError:  # a socket file, or nothing
            return False
        return any(parsed in network for network in networks)

    return trusted if networks else lambda _: False


@asynccontextmanager
async def opened_streams(log: EventLog, url: str | None) -> AsyncGenerator[Streams]:
    """Woken by NOTIFY where there is a database to listen to."""
    streams = Streams(log, time.monotonic, Pace())
    beside = [asyncio.create_task(Listener(url, {CHANNEL: streams.wake}).run())] if url else []
    try:
        yield streams
    finally:
        streams.end()
        await end_all(beside)


def api_watch(settings: Settings, here: Watched) -> ApiWatch:
    token = settings.metrics_token
    token_hash = None if token is None else hash_of(token.get_secret_value())
    of = here.watch
    return ApiWatch(of.telemetry, of.tracer, here.page, token_hash, settings.metrics_open)


async def serve(app: FastAPI, settings: Settings, host: str, port: int) -> None:
    """Until it is told to stop."""
    await Server(server_config(app, host, port, connection_limits(settings))).serve()
