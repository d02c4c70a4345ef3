"""Every contract test runs on every store; `make test-fast` leaves PostgreSQL to `make test`."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, astuple, replace
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from cadenza.adapters.memory.overview import MemoryOverview
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.postgres.activity import PostgresActivityReads
from cadenza.adapters.postgres.analysis_queue import PostgresAnalysisQueue
from cadenza.adapters.postgres.awaited_results import PostgresResults
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.catalogue import PostgresCatalogue
from cadenza.adapters.postgres.claims import PostgresClaims
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.grants import PostgresGrants
from cadenza.adapters.postgres.notification_reads import PostgresNotificationReads
from cadenza.adapters.postgres.overview import PostgresOverview
from cadenza.adapters.postgres.planner_rows import PostgresSuggestions
from cadenza.adapters.postgres.records import PostgresEventLog, PostgresRecords
from cadenza.adapters.postgres.run_authors import PostgresRunAuthors
from cadenza.adapters.postgres.run_reads import PostgresRunReads
from cadenza.adapters.postgres.schedules import PostgresScheduleReads
from cadenza.adapters.postgres.sessions import session_of
from cadenza.adapters.postgres.steering_history import PostgresSteeringReads
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.postgres.workers import PostgresWorkers
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.quotas import Quotas
from cadenza.domain.quota import Limits
from cadenza.domain.run import Run
from cadenza.domain.session import Session
from tests.contracts.harness import Instants, Store
from tests.direct import Direct
from tests.factories import CRON, NOON
from tests.postgres import BOX, StoppedClock, emptied_database

LIMITS = Limits(1000, 2.0)  # of a tenant and month


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


class MemoryRows:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def add_runs(self, runs: Sequence[Run]) -> None:
        for run in runs:
            self._tables.runs[run.id] = run
            self._tables.runs_of[run.endpoint_id][run.slot_at] = run.id

    async def set_instants(self, instants: Mapping[UUID, Instants]) -> None:
        rows = self._tables.endpoints
        for endpoint_id, values in instants.items():
            rows[endpoint_id] = replace(rows[endpoint_id], **asdict(values))

    async def sessions_of(self, endpoint_id: UUID) -> Sequence[Session]:
        sessions = self._tables.sessions.values()
        ours = [session for session in sessions if session.endpoint_id == endpoint_id]
        return sorted(ours, key=lambda session: session.started_at)


class PostgresRows:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_runs(self, runs: Sequence[Run]) -> None:
        async with self._database.connection() as connection:
            await connection.executemany(
                "INSERT INTO runs (id, endpoint_id, tenant_id, slot_at, source, status, attempt,"
                " epoch, claimed_at, started_at, finished_at)"
                " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                [
                    (
                        *(run.id, run.endpoint_id, run.tenant_id, run.slot_at, run.source),
                        *(run.status, run.attempt, run.epoch),
                        *(run.claimed_at, run.started_at, run.finished_at),
                    )
                    for run in runs
                ],
            )

    async def set_instants(self, instants: Mapping[UUID, Instants]) -> None:
        async with self._database.connection() as connection:
            await connection.executemany(
                "UPDATE endpoints SET last_finished_at = $2, last_failed_at = $3,"
                " changed_at = $4, asked_at = $5, steered_at = $6, streak_changed_at = $7"
                " WHERE id = $1",
                [(endpoint_id, *astuple(values)) for endpoint_id, values in instants.items()],
            )

    async def sessions_of(self, endpoint_id: UUID) -> Sequence[Session]:
        query = "SELECT * FROM analysis_sessions WHERE endpoint_id = $1 ORDER BY started_at"
        return [session_of(row) for row in await self._database.fetch(query, endpoint_id)]


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
        quota=Quotas(memory.store, uuid4, LIMITS),
        suggestions=memory.suggestions,
        billing=memory.billing,
        means=memory.billing,
        grants=memory.grants,
        rows=MemoryRows(memory.tables),
        schedules=memory.schedules,
        workers=memory.workers,
        steering=memory.steering,
        run_authors=memory.run_authors,
        results=memory.results,
        records=memory.records,
        events=memory.event_log,
        overview=MemoryOverview(memory.tables),
        notifications=memory.notifications,
        activity=memory.activity,
    )


@asynccontextmanager
async def postgres_store() -> AsyncIterator[Store]:
    async with emptied_database(connections=12) as database:
        clock, no_spread = await StoppedClock.in_database(database, NOON), timedelta(0)
        port, billing = PostgresStore(database, BOX, no_spread), PostgresBilling(database, BOX)
        yield Store(
            clock=clock,
            port=port,
            queue=ClaimedRuns(PostgresClaims(database, uuid4, BOX), port, CRON),
            endpoints=Direct(port, CRON),
            catalogue=PostgresCatalogue(database, BOX, no_spread),
            history=PostgresRunReads(database),
            analysis_queue=PostgresAnalysisQueue(database, no_spread),
            quota=Quotas(port, uuid4, LIMITS),
            suggestions=PostgresSuggestions(database),
            billing=billing,
            means=billing,
            grants=PostgresGrants(database),
            rows=PostgresRows(database),
            schedules=PostgresScheduleReads(database),
            workers=PostgresWorkers(database),
            steering=PostgresSteeringReads(database),
            run_authors=PostgresRunAuthors(database),
            results=PostgresResults(database),
            records=PostgresRecords(database),
            events=PostgresEventLog(database),
            overview=PostgresOverview(database),
            notifications=PostgresNotificationReads(database),
            activity=PostgresActivityReads(database),
        )


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.slow)])
async def store(request: pytest.FixtureRequest) -> AsyncIterator[Store]:
    if request.param == "memory":
        yield memory_store()
        return
    async with postgres_store() as store:
        yield store
