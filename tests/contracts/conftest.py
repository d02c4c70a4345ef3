"""Every contract test runs on every store."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from cadenza.adapters.memory.endpoints import MemoryEndpointStore
from cadenza.adapters.memory.insights import MemoryInsights
from cadenza.adapters.memory.quota import MemoryQuota
from cadenza.adapters.memory.run_queue import MemoryRunQueue
from cadenza.adapters.memory.runs import MemoryRunHistory
from cadenza.adapters.memory.tables import Tables
from tests.contracts.harness import Store
from tests.factories import CRON, NOON


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
    tables = Tables(clock, CRON, uuid4)
    return Store(
        clock=AsyncClock(clock),
        queue=MemoryRunQueue(tables),
        endpoints=MemoryEndpointStore(tables),
        history=MemoryRunHistory(tables),
        insights=MemoryInsights(tables),
        quota=MemoryQuota(tables, tokens_per_month=1000),
    )


@pytest.fixture(params=["memory"])
async def store(request: pytest.FixtureRequest) -> Store:
    assert request.param == "memory"
    return memory_store()
