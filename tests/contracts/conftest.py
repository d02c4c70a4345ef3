"""Every contract test runs on every store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.claims import PostgresClaims
from cadenza.adapters.postgres.run_reads import PostgresRunReads
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.postgres.suggestions import PostgresSuggestions
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.quotas import Quotas
from tests.contracts.harness import Store
from tests.direct import Direct
from tests.factories import CRON, NOON
from tests.postgres import BOX, StoppedClock, emptied_database


class MemoryClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self._now = NOON

    def set(self, instant: datetime) -> None:
        self._now = instant

    def now(self) -> datetime:
        return self._now

    async def sleep(self, duration: timedelta) -> None:
        raise AssertionError("a store does not sleep")


class AsyncClock:
    def __init__(self, clock: MemoryClock) -> None:
        self._clock = clock

    async def now(self) -> datetime:
        return self._clock.now()

    async def set(self, instant: datetime) -> None:
        self._clock.set(instant)


def memory_store() -> Store:
    clock = MemoryClock()
    memory = MemoryStores(Tables(clock, uuid4))
    return Store(
        clock=AsyncClock(clock),
        port=memory.store,
        queue=ClaimedRuns(memory.claims, memory.store, CRON),
        endpoints=Direct(memory.store, CRON),
        catalogue=memory.catalogue,
        history=memory.runs,
        analysis_queue=memory.analysis_queue,
        quota=Quotas(memory.store, uuid4, tokens_per_month=1000, money_per_month=2.0),
        suggestions=memory.suggestions,
    )


@asynccontextmanager
async def postgres_store() -> AsyncIterator[Store]:
    async with emptied_database(connections=12) as database:
        clock, no_spread = await StoppedClock.in_database(database, NOON), timedelta(0)
        port = PostgresStore(database, BOX, no_spread)
        yield Store(
            clock=clock,
            port=port,
            queue=ClaimedRuns(PostgresClaims(database, uuid4, BOX), port, CRON),
            endpoints=Direct(port, CRON),
            catalogue=PostgresCatalogue(database, BOX, no_spread),
            history=PostgresRunReads(database),
            analysis_queue=PostgresAnalysisQueue(database, no_spread),
            quota=Quotas(port, uuid4, tokens_per_month=1000, money_per_month=2.0),
            suggestions=PostgresSuggestions(database),
        )


@pytest.fixture(params=["memory", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield memory_store()
        return
    async with postgres_store() as store:
        yield store
