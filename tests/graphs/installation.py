"""An installation of graphs with all its real parts: PostgreSQL, the fork server, LangGraph, the
gateway, and a provider that counts for itself."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from aiohttp import TCPConnector

from cadenza.adapters.gateway.gateway import RunGateway
from cadenza.adapters.graphs.executor import ForkingExecutor
from cadenza.adapters.graphs.sources import GraphSources
from cadenza.adapters.postgres.billing import PostgresBilling
from cadenza.adapters.postgres.clock import DatabaseClock
from cadenza.adapters.postgres.database import Database
from cadenza.adapters.postgres.schedules import PostgresScheduleReads
from cadenza.adapters.postgres.store import PostgresStore
from cadenza.adapters.prices.genai import GenaiPrices
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.system.listening import served_app
from cadenza.adapters.system.worker_program import Worker
from cadenza.application.graph_runs import GraphRuns
from cadenza.application.graph_worker import GraphWork, GraphWorker
from cadenza.application.metering import RunMeter
from cadenza.application.scheduler import SchedulerOptions
from cadenza.application.slots import ClaimedSlots, slot_job
from cadenza.demo.model_provider import ModelProvider
from cadenza.domain.access import Tenant
from cadenza.domain.billing import Account, ModelApi, VirtualKey
from cadenza.domain.grant import EXECUTE_ANY, Grant
from cadenza.domain.graph import GraphLimits
from cadenza.domain.schedule import Schedule, ScheduleDefinition
from cadenza.domain.slot import ScheduleRun, SlotStatus
from cadenza.domain.target import Secret
from tests.factories import CRON
from tests.postgres import BOX, emptied_database

EXAMPLES = Path(__file__).parents[2] / "examples" / "graphs"
PROJECT = Path(__file__).parents[1] / "adapters" / "graphs" / "project"
FAULTS = ("fault-402", "fault-429", "fault-500", "fault-hang", "fault-cut")
PRICES = {name: {"input": 1, "output": 2} for name in ("cadenza-poet", *FAULTS)}
FINAL = {SlotStatus.SUCCESS, SlotStatus.ERROR, SlotStatus.SKIPPED, SlotStatus.CANCELLED}
OPTIONS = SchedulerOptions(in_flight=20, tick=timedelta(seconds=1), stop_grace=timedelta(0))


@dataclass(slots=True)
class Installation:
    database: Database
    store: PostgresStore
    reads: PostgresScheduleReads
    provider: ModelProvider
    grant: Grant
    graphs: GraphRuns
    clock: DatabaseClock
    new_worker: Callable[[], GraphWorker]

    async def run(self, graph_id: str, values: dict[str, Any], **limits: Any) -> UUID:
        """A run that a person asks for now; the schedule it belongs to."""
        definition = ScheduleDefinition(
            graph_id, "0 3 1 1 *", input=values, limits=GraphLimits(**limits), enabled=False
        )
        async with self.store.transaction() as tx:
            now = await tx.time()
            schedule = Schedule(
                uuid4(),
                self.grant.tenant_id,
                self.grant.user_id,
                self.grant.id,
                definition,
                now,
                now,
            )
            await tx.insert_schedule(schedule)
            await tx.add_jobs([slot_job(schedule, now, is_manual=True)])
        return schedule.id

    async def ended(self, schedule_id: UUID) -> ScheduleRun:
        while True:
            (run,) = await self.reads.list_runs(self.grant.tenant_id, schedule_id, None, 10)
            if run.status in FINAL:
                return run
            await asyncio.sleep(0.02)

    async def newest(self, schedule_id: UUID, status: SlotStatus) -> ScheduleRun:
        """The newest run, when it has come to this state."""
        while True:
            run, *_ = await self.reads.list_runs(self.grant.tenant_id, schedule_id, None, 10)
            assert run.status is not SlotStatus.ERROR, run
            if run.status is status and run.answered_at is None:
                return run
            await asyncio.sleep(0.02)

    async def kinds(self, run: ScheduleRun) -> list[str]:
        assert run.id is not None
        events = await self.reads.list_run_events(self.grant.tenant_id, run.id, 0, 1000)
        return [event.kind for event in events]


@asynccontextmanager
async def working(worker: Worker) -> AsyncGenerator[None]:
    task = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await task


@asynccontextmanager
async def installed() -> AsyncGenerator[Installation]:
    provider = ModelProvider()
    sources = GraphSources(
        files=(str(EXAMPLES / "langgraph.json"),),
        langgraph={"asker": f"{PROJECT / 'graphs.py'}:asker"},
        python=("digest:digest", "slow:slow"),
        paths=(str(EXAMPLES), str(Path(__file__).parent)),
        entry_points=False,
    )
    async with AsyncExitStack() as stack:
        database = await stack.enter_async_context(emptied_database(connections=8))
        address = await stack.enter_async_context(served_app(provider.app(), 0))
        store, clock = PostgresStore(database, BOX), DatabaseClock()
        await clock.ask(database)
        grant = await _furnish(store, f"{address}/v1")
        gateway = RunGateway(lambda: uuid4().hex)
        await stack.enter_async_context(gateway.serving(TCPConnector()))
        executor = ForkingExecutor(sources, {"PATH": "/usr/bin:/bin"})
        await executor.start()
        stack.push_async_callback(executor.close)
        prices = GenaiPrices(clock, PRICES)
        new_meter = partial(RunMeter, store, PostgresBilling(database, BOX), prices)

        graphs = GraphRuns(executor, gateway, new_meter, clock)

        def new_worker() -> GraphWorker:
            queue = ClaimedSlots(store, CRON, uuid4)
            work = GraphWork(queue, graphs, store, clock)
            return GraphWorker("worker", queue, work, clock, EventLog(), OPTIONS)

        reads = PostgresScheduleReads(database)
        yield Installation(database, store, reads, provider, grant, graphs, clock, new_worker)


async def _furnish(store: PostgresStore, base_url: str) -> Grant:
    tenant_id, user_id = uuid4(), uuid4()
    async with store.transaction() as tx:
        now = await tx.time()
        await tx.insert_tenant(Tenant(tenant_id, "tenant", now))
        account = Account(uuid4(), tenant_id, "main", 0, now)
        await tx.insert_account(account)
        await tx.add_entry(account, 1_000_000, "start", "start")
        key = VirtualKey(
            uuid4(), account.id, "examples", ModelApi.OPENAI, base_url, "6789", True, now
        )
        await tx.insert_virtual_key(account, key, Secret("example-key-0123456789"))
        grant = Grant(uuid4(), tenant_id, user_id, account.id, (EXECUTE_ANY,), now)
        await tx.insert_grant(grant)
    return grant
