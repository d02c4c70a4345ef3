"""What the API's reading routes are made of."""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
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
    database: Database, url: str | None, expected_workers: Sequence[str]
) -> AsyncGenerator[Reads]:
    streams = Streams(PostgresEventLog(database), time.monotonic, Pace())
    listening: list[asyncio.Task[None]] = []
    if url is not None:
        listening.append(asyncio.create_task(Listener(url, {CHANNEL: streams.wake}).run()))
    try:
        yield Reads(
            PostgresRunReads(database),
            PostgresRecords(database),
            PostgresUsage(database),
            PostgresReadiness(database, expected_workers),
            streams,
        )
    finally:
        streams.end()
        await end_all(listening)
