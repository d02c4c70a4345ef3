"""The event streams of the API, woken by NOTIFY."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from cadenza.adapters.postgres.listener import Listener
from cadenza.application.ports.event_log import EventLog
from cadenza.application.waiting import end_all
from cadenza.web.api.streams import Pace, Streams

CHANNEL = "cadenza_events"


@asynccontextmanager
async def opened_streams(log: EventLog, url: str | None) -> AsyncGenerator[Streams]:
    streams = Streams(log, time.monotonic, Pace())
    beside = [
        asyncio.create_task(Listener(address, {CHANNEL: streams.wake}).run())
        for address in [url]
        if address is not None
    ]
    try:
        yield streams
    finally:
        streams.end()
        await end_all(beside)
