"""What the API's reading routes are made of."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.event_log import PostgresEventLog
from cadenza.adapters.postgres.listener import Listener
from cadenza.adapters.postgres.records import PostgresRecords
from cadenza.adapters.postgres.run_reads import PostgresRunReads
from cadenza.adapters.postgres.usage import PostgresReadiness, PostgresUsage
from cadenza.application.waiting import end_all
from cadenza.web.api.reads import Reads
from cadenza.web.api.streams import Pace, Streams

CHANNEL = "cadenza_events"


@asynccontextmanager
async def opened_reads(
    database: Database, url: str | None, pace: Pace | None = None
) -> AsyncGenerator[Reads]:
    streams = Streams(PostgresEventLog(database), time.monotonic, pace or Pace())
    beside = [
        asyncio.create_task(Listener(address, {CHANNEL: streams.wake}).run())
        for address in [url]
        if address is not None
    ]
    try:
        yield Reads(
            PostgresRunReads(database),
            PostgresRecords(database),
            PostgresUsage(database),
            PostgresReadiness(database),
            streams,
        )
    finally:
        streams.end()
        await end_all(beside)
