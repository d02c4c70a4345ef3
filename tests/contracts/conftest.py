"""Every contract test runs on every store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.memory.analysis_queue import MemoryAnalysisQueue
from cadenza.adapters.memory.endpoints import MemoryEndpointStore
from cadenza.adapters.memory.quota import MemoryQuota
from cadenza.adapters.memory.run_queue import MemoryRunQueue
from cadenza.adapters.memory.runs import MemoryRunHistory
from cadenza.adapters.memory.suggestions import MemorySuggestions
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.endpoints import PostgresEndpointStore
from cadenza.adapters.postgres.quota import PostgresQuota
from cadenza.adapters.postgres.rows import to_json
from cadenza.adapters.postgres.run_queue import PostgresRunQueue
from cadenza.adapters.postgres.runs import PostgresRunHistory
from cadenza.adapters.postgres.suggestions import PostgresSuggestions
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.rule import Mode, Modes, Rule
from cadenza.manifest.rules import rule_document
from tests.contracts.harness import Store
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


class MemoryOwner:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def ask_for_analysis(self, endpoint: Endpoint) -> None:
        self._tables.endpoints[endpoint.id].asked_at = self._tables.clock.now()

    async def set_job_mode(self, job_id: UUID, mode: Mode | None) -> None:
        self._tables.jobs[job_id] = replace(self._tables.jobs[job_id], planner_mode=mode)

    async def set_job_rules(self, job_id: UUID, rules: tuple[Rule, ...]) -> None:
        self._tables.jobs[job_id] = replace(self._tables.jobs[job_id], rules=rules)

    async def set_tenant_modes(self, tenant_id: UUID, modes: Modes) -> None:
        self._tables.modes[tenant_id] = modes


class PostgresOwner:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def ask_for_analysis(self, endpoint: Endpoint) -> None:
        await self._execute(
            "UPDATE endpoints SET asked_at = cadenza_now() WHERE id = $1", endpoint.id
        )

    async def set_job_mode(self, job_id: UUID, mode: Mode | None) -> None:
        await self._execute("UPDATE jobs SET planner_mode = $2 WHERE id = $1", job_id, mode)

    async def set_job_rules(self, job_id: UUID, rules: tuple[Rule, ...]) -> None:
        stored = to_json([rule_document(each) for each in rules])
        await self._execute("UPDATE jobs SET rules = $2 WHERE id = $1", job_id, stored)

    async def set_tenant_modes(self, tenant_id: UUID, modes: Modes) -> None:
        await self._execute(
            "UPDATE tenants SET rules_mode = $2, llm_mode = $3 WHERE id = $1",
            tenant_id,
            modes.rules,
            modes.llm,
        )

    async def _execute(self, statement: str, *values: object) -> None:
        async with self._database.connection() as connection:
            await connection.execute(statement, *values)


def memory_store() -> Store:
    clock = MemoryClock()
    tables = Tables(clock, CRON, uuid4)
    return Store(
        clock=AsyncClock(clock),
        queue=MemoryRunQueue(tables),
        endpoints=MemoryEndpointStore(tables),
        history=MemoryRunHistory(tables),
        analysis_queue=MemoryAnalysisQueue(tables),
        quota=MemoryQuota(tables, tokens_per_month=1000, money_per_month=2.0),
        suggestions=MemorySuggestions(tables),
        owner=MemoryOwner(tables),
    )


@asynccontextmanager
async def postgres_store() -> AsyncIterator[Store]:
    async with emptied_database(connections=12) as database:
        clock = await StoppedClock.in_database(database, NOON)
        no_spread = timedelta(0)

        async def add_tenant(tenant_id: UUID) -> None:
            async with database.connection() as connection:
                await connection.execute(
                    "INSERT INTO tenants (id, name) VALUES ($1::uuid, $1::uuid::text)"
                    " ON CONFLICT DO NOTHING",
                    tenant_id,
                )

        yield Store(
            clock=clock,
            queue=PostgresRunQueue(database, CRON, uuid4, BOX, no_spread),
            endpoints=PostgresEndpointStore(database, CRON, BOX, no_spread),
            history=PostgresRunHistory(database),
            analysis_queue=PostgresAnalysisQueue(database, no_spread),
            quota=PostgresQuota(database, tokens_per_month=1000, money_per_month=2.0),
            suggestions=PostgresSuggestions(database),
            owner=PostgresOwner(database),
            add_tenant=add_tenant,
        )


@pytest.fixture(params=["memory", "postgres"])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield memory_store()
        return
    async with postgres_store() as store:
        yield store
