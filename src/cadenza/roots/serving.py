"""How the API is served: uvicorn, with its limits and an end for event streams."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from cadenza.adapters.postgres.listener import Listener
from cadenza.application.ports.event_log import EventLog
from cadenza.application.waiting import end_all
from cadenza.web.api.streams import Pace, Streams

CHANNEL = "cadenza_events"


class Server(uvicorn.Server):
    """Event streams do not end by themselves: they are ended before other requests are awaited."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        app: FastAPI = self.config.app  # type: ignore[assignment]
        asyncio.get_running_loop().call_soon_threadsafe(app.state.dependencies.around.streams.end)
        super().handle_exit(sig, frame)


def server_config(app: FastAPI, host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,  # nobody asks where a request came from
        timeout_keep_alive=30,
        timeout_graceful_shutdown=10,
        h11_max_incomplete_event_size=64 * 1024,
    )


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
