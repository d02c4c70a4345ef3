"""Each store with the whole product over it, and what tests look at and change by hand."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any, NoReturn
from uuid import UUID, uuid4

import asyncpg
from fastapi import FastAPI

from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import EVENTS, Tables
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database, open_database
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.system.clock import SystemClock
from cadenza.adapters.system.events import LoggedEvents
from cadenza.adapters.system.ids import new_id
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.store import Channel, Store, Transaction
from cadenza.application.quotas import Quotas
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.domain.audit import PendingEvent
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.quota import Limits
from cadenza.domain.run import FinishedRun, Outcome, Run
from cadenza.domain.session import Session
from cadenza.roots.api import app_over, served_app
from cadenza.roots.dispatch import dispatcher
from cadenza.roots.memory_stores import memory_stores
from cadenza.roots.scheduler import make_scheduler
from cadenza.roots.settings import Settings
from cadenza.roots.stores import api_stores
from cadenza.web.api.dependencies import Stores
from tests.direct import Direct
from tests.factories import CRON, OK, seconds
from tests.postgres import BOX, migrated_database_url, run_queue

MEMORY, POSTGRES = "memory", "postgres"
SQL_NAMES = {
    "channels": "notification_channels",
    "routes": "notification_routes",
    "subscriptions": "event_subscriptions",
    "audit": "audit_log",
    "grants": "execution_grants",
    "lost_attempts": "run_attempts",
    "steering": "steering_history",
}
Contents = dict[str, list[str]]  # every row, by table


class Backend(ABC):
    """A store, and another process beside the one that serves the API from it."""

    def __init__(self, stores: Stores, queue: ClaimedRuns, clock: Clock) -> None:
        self.stores = stores
        self.queue = queue
        self.clock = clock
        self.direct = Direct(stores.store, CRON)

    @property
    def store(self) -> Store:
        return self.stores.store

    async def now(self) -> datetime:
        async with self.store.transaction() as tx:
            return await tx.time()

    # --- Each store in its own way --------------------------------------------------------

    @abstractmethod
    def app(self, settings: Settings) -> AbstractAsyncContextManager[FastAPI]: ...

    @abstractmethod
    async def emptied(self) -> "Backend": ...

    @abstractmethod
    async def contents(self) -> Contents: ...

    @abstractmethod
    async def insert_run(self, run: Run) -> None:
        """As it is, whatever the endpoint's state says of it."""

    @abstractmethod
    async def event_kinds(self) -> list[str]:
        """Of all tenants, in the order in which they were written."""

    @abstractmethod
    async def watched_until(self, tenant_id: UUID) -> datetime | None: ...

    @abstractmethod
    async def watch_until(self, tenant_id: UUID, at: datetime) -> None: ...

    @abstractmethod
    async def break_off(self, tx: Transaction) -> NoReturn:
        """The store is gone in the middle of this transaction."""

    @abstractmethod
    def scheduler(self, settings: Settings, calls: Dispatcher) -> Scheduler: ...

    # --- Endpoints and their runs ---------------------------------------------------------

    async def change_endpoint(self, tenant_id: UUID, endpoint_id: UUID, **fields: Any) -> Endpoint:
        """By hand; `next_run_at` is that of its plan."""

        def change(endpoint: Endpoint, *_: object) -> Endpoint:
            plan = endpoint.plan
            if "next_run_at" in fields:
                assert plan is not None
                plan = replace(plan, next_run_at=fields["next_run_at"])
            others = {name: value for name, value in fields.items() if name != "next_run_at"}
            return replace(endpoint, plan=plan, **others)

        return await self.direct.change_endpoint(tenant_id, endpoint_id, change)

    async def run_due(self, outcome: Outcome = OK) -> int:
        """What a worker does: claim all that is due, and finish it so."""
        batch = await self.queue.claim_due(ClaimRequest("test", 100, seconds(30)))
        now = await self.now()
        await self.queue.finish([FinishedRun(claim, outcome, now, now) for claim in batch.claims])
        return len(batch.claims)

    async def run_with_a_lost_attempt(self, late: Outcome, outcome: Outcome) -> UUID:
        """What is due is claimed by a worker that is slow and then by another; the first one's
        result comes late. Gives the run."""
        at_once = ClaimRequest("slow", 1, timedelta(0))
        (slow,) = (await self.queue.claim_due(at_once)).claims
        (claim,) = await self.queue.claim_lost(ClaimRequest("next", 1, seconds(30)))
        now = await self.now()
        for held, result in ((slow, late), (claim, outcome)):
            await self.queue.finish([FinishedRun(held, result, now, now)])
        return claim.run_id

    # --- What planners leave behind -------------------------------------------------------

    async def add_session(self, session: Session) -> None:
        async with self.store.transaction() as tx:
            await tx.insert_sessions([session])

    async def add_events(self, *events: PendingEvent) -> None:
        async with self.store.transaction() as tx:
            await tx.add_events(events)

    def quotas(
        self, tokens_per_month: int | None = None, money_per_month: float | None = None
    ) -> Quotas:
        return Quotas(self.store, uuid4, Limits(tokens_per_month, money_per_month))

    def planner(self, brain: Brain) -> Planner:
        queue, log = self.stores.analysis_queue, EventLog()
        return Planner(brain, self.store, queue, self.quotas(), self.clock, CRON, log, uuid4)

    @asynccontextmanager
    async def worker(self, settings: Settings) -> AsyncIterator[None]:
        """A living one, which calls what is due."""
        signing_keys, expressions = self.stores.signing_keys, CelExpressions()
        async with dispatcher(settings, signing_keys, self.clock, expressions) as calls:
            scheduler = self.scheduler(settings, calls)
            working = asyncio.create_task(scheduler.run())
            try:
                yield
            finally:
                scheduler.stop()
                await working


class MemoryBackend(Backend):
    def __init__(self, tables: Tables | None = None) -> None:
        self.tables = tables or Tables(SystemClock(), new_id)
        clock = self.tables.clock
        memory = MemoryStores(self.tables)
        super().__init__(memory_stores(memory), _memory_queue(memory), clock)

    @asynccontextmanager
    async def app(self, settings: Settings) -> AsyncIterator[FastAPI]:
        async with app_over(settings, self.stores, self.clock) as app:
            self.tables.listen(EVENTS, app.state.dependencies.around.streams.wake)
            yield app

    async def emptied(self) -> Backend:
        return MemoryBackend()

    async def contents(self) -> Contents:
        tables = {
            name: table
            for name, table in vars(self.tables).items()
            if isinstance(table, dict) and not name.startswith("_")
        }
        return {
            SQL_NAMES.get(name, name): sorted(f"{key!r}: {row!r}" for key, row in table.items())
            for name, table in tables.items()
            # From the runs; a column of the keys; of the installation.
            if name not in ("known_health", "expiring_keys_notified", "workers", "feed")
        }

    async def insert_run(self, run: Run) -> None:
        self.tables.runs[run.id] = run
        slots = {**self.tables.runs_of[run.endpoint_id], run.slot_at: run.id}
        self.tables.runs_of[run.endpoint_id] = dict(sorted(slots.items()))

    async def event_kinds(self) -> list[str]:
        events = [event for events in self.tables.events.values() for event in events]
        return [event.kind for event in sorted(events, key=lambda event: event.position.id)]

    async def watched_until(self, tenant_id: UUID) -> datetime | None:
        return self.tables.watched_until.get(tenant_id)

    async def watch_until(self, tenant_id: UUID, at: datetime) -> None:
        self.tables.watched_until[tenant_id] = at

    async def break_off(self, tx: Transaction) -> NoReturn:
        raise StoreUnavailable("the store is gone")

    def scheduler(self, settings: Settings, calls: Dispatcher) -> Scheduler:
        options = SchedulerOptions(tick=seconds(settings.tick_seconds))
        worker = Scheduler("worker", self.queue, calls, self.clock, LoggedEvents(), options)
        self.tables.listen(Channel.DUE, worker.wake)
        return worker


def _memory_queue(memory: MemoryStores) -> ClaimedRuns:
    return ClaimedRuns(memory.claims, memory.store, CRON)


class PostgresBackend(Backend):
    """With an address, NOTIFY wakes the event streams."""

    def __init__(self, database: Database, clock: DatabaseClock, url: str | None = None) -> None:
        self.database = database
        self.url = url
        self._clock = clock
        stores = api_stores(database, BOX, clock)
        super().__init__(stores, run_queue(database, spread=timedelta(0)), clock)

    @classmethod
    async def over(cls, database: Database, url: str | None = None) -> "PostgresBackend":
        clock = DatabaseClock()
        await clock.ask(database)
        return cls(database, clock, url)

    def app(self, settings: Settings) -> AbstractAsyncContextManager[FastAPI]:
        return served_app(settings, self.database, BOX, self.url)

    async def emptied(self) -> Backend:
        await self.execute("TRUNCATE tenants CASCADE")
        return self

    async def execute(self, statement: str, *values: Any) -> None:
        async with self.database.connection() as connection:
            await connection.execute(statement, *values)

    async def rows(self, statement: str, *values: Any) -> list[asyncpg.Record]:
        async with self.database.connection() as connection:
            return await connection.fetch(statement, *values)

    async def contents(self) -> Contents:
        """Partitions are read by their parent."""
        tables = await self.rows(
            "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition"
            " AND relnamespace = 'public'::regnamespace"
            " AND relname NOT IN ('schema_migrations', 'stopped_clock', 'workers', 'worker_graphs',"
            " 'notifier_position')"
            " ORDER BY 1"
        )
        contents: Contents = {}
        for (table,) in tables:
            rows = await self.rows(f"SELECT to_jsonb(t) AS row FROM {table} AS t")
            contents[table] = sorted(row["row"] for row in rows)
        return contents

    async def insert_run(self, run: Run) -> None:
        columns = asdict(run)
        written = {name: columns[name] for name in ("body", "plan") if columns[name] is not None}
        columns |= {name: json.dumps(value) for name, value in written.items()}
        values = ", ".join(f"${number}" for number in range(1, len(columns) + 1))
        statement = f"INSERT INTO runs ({', '.join(columns)}) VALUES ({values})"
        await self.execute(statement, *columns.values())
        await self.execute("UPDATE runs SET status = status WHERE id = $1", run.id)  # as it ends

    async def event_kinds(self) -> list[str]:
        rows = await self.rows("SELECT kind FROM events ORDER BY id")
        return [row["kind"] for row in rows]

    async def watched_until(self, tenant_id: UUID) -> datetime | None:
        rows = await self.rows("SELECT watched_until FROM tenants WHERE id = $1", tenant_id)
        return rows[0]["watched_until"]

    async def watch_until(self, tenant_id: UUID, at: datetime) -> None:
        statement = "UPDATE tenants SET watched_until = $2 WHERE id = $1"
        await self.execute(statement, tenant_id, at)

    async def break_off(self, tx: Any) -> NoReturn:
        await tx.connection.fetchval("SELECT pg_terminate_backend(pg_backend_pid())")
        raise AssertionError("the connection is still there")

    def scheduler(self, settings: Settings, calls: Dispatcher) -> Scheduler:
        return make_scheduler(settings, self.database, BOX, self._clock, calls)


@asynccontextmanager
async def new_backend(kind: str, connections: int = 6) -> AsyncIterator[Backend]:
    """With nothing in it; one in PostgreSQL has a database of its own."""
    if kind == MEMORY:
        yield MemoryBackend()
        return
    async with migrated_database_url() as url:
        database = await open_database(url, connections=connections)
        try:
            yield await PostgresBackend.over(database, url)
        finally:
            await database.close()
