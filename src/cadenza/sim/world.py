"""A small world that a scenario lives in: one tenant, one job, any number of workers."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from uuid import UUID

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.adapters.simulated.dispatcher import Reply, ScriptedDispatcher
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.simulated.time import SimulatedClock
from cadenza.application.endpoints import add_endpoint
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner, PlannerOptions
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.catalogue import StoredJob
from cadenza.application.ports.store import Channel, Transaction
from cadenza.application.quotas import Quotas
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.steering import Steering
from cadenza.domain.access import Caller, Scope, Tenant
from cadenza.domain.endpoint import Baseline, Endpoint, Job
from cadenza.domain.run import Claim, Run
from cadenza.domain.target import ANYWHERE, HttpTarget, Target

START = datetime(2025, 10, 29, 10, 0, tzinfo=UTC)
CRON = CronsimCron()
Script = Callable[[Claim, datetime], Reply]
Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Check:
    """Something a scenario must show."""

    name: str
    ok: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Action:
    """What a brain started, and the run that gave it the reason."""

    revealed_at: datetime
    ran_at: datetime | None


class World:
    def __init__(
        self, seed: int, length: timedelta, on_progress: Progress = lambda _: None
    ) -> None:
        self.seed = seed
        self.length = length
        self.on_progress = on_progress
        self.log = EventLog()
        self.actions: dict[str, list[Action]] = {}
        self.cooldowns: dict[str, timedelta] = {}
        self.chance = SeededChance(seed)
        self.clock = SimulatedClock(START)
        self.tables = Tables(self.clock, self.chance.new_id)
        self._memory = MemoryStores(self.tables)
        self._store = self._memory.store
        self.queue = ClaimedRuns(self._memory.claims, self._store, CRON)
        self.job = Job(self.id_of("job"), self.id_of("tenant"), "simulated")
        self.steering = Steering(self._store, CRON)
        ids = (self.job.tenant_id, self.id_of("owner"), self.id_of("key"))
        self.owner = Caller(*ids, "owner", (Scope.OPERATE,))

    # --- Building -------------------------------------------------------------------------

    async def add(
        self,
        name: str,
        baseline: Baseline,
        *,
        least: timedelta | None = None,
        most: timedelta | None = None,
        target: Target | None = None,
    ) -> Endpoint:
        endpoint = Endpoint(
            id=self.id_of(name),
            tenant_id=self.job.tenant_id,
            job_id=self.job.id,
            name=name,
            baseline=baseline,
            created_at=self.clock.now(),
            min_interval=least,
            max_interval=most,
        )
        target = target or HttpTarget(f"http://{name}.invalid/")
        async with self._store.transaction() as tx:
            stored = await add_endpoint(tx, await self._held_job(tx), endpoint, target, CRON)
        return stored.endpoint

    async def _held_job(self, tx: Transaction) -> StoredJob:
        """There from the first endpoint on."""
        if self.job.id not in self.tables.jobs:
            now = await tx.time()
            await tx.insert_tenant(Tenant(self.job.tenant_id, "simulated", now))
            await tx.insert_jobs([StoredJob(self.job, now, now)])
        return await tx.share_job(self.job.tenant_id, self.job.id)

    def id_of(self, name: str) -> UUID:
        return self.chance.id_of(name)

    # --- Living ---------------------------------------------------------------------------

    @asynccontextmanager
    async def worker(
        self, script: Script, name: str = "worker-1", runs_on: str = ANYWHERE
    ) -> AsyncGenerator[asyncio.Task[None]]:
        """A scheduler that runs inside the block; cancelling its task is a crash."""
        dispatcher = ScriptedDispatcher(self.clock, script)
        # nothing is cheaper here in company
        at_once = SchedulerOptions(gather=timedelta(0), runs_on=runs_on)
        scheduler = Scheduler(name, self.queue, dispatcher, self.clock, self.log, at_once)
        self.tables.listen(Channel.DUE, scheduler.wake)
        task = asyncio.create_task(scheduler.run())
        try:
            yield task
        finally:
            scheduler.stop()
            await asyncio.gather(task, return_exceptions=task.cancelled() or task.cancelling() > 0)

    @asynccontextmanager
    async def planner(
        self, brain: Brain, options: PlannerOptions | None = None
    ) -> AsyncGenerator[None]:
        planner = Planner(
            brain,
            self._store,
            self._memory.analysis_queue,
            Quotas(self._store, self.chance.new_id),
            self.clock,
            CRON,
            self.log,
            self.chance.new_id,
            options or PlannerOptions(),
        )
        self.tables.listen(Channel.FINISHED, planner.wake)
        task = asyncio.create_task(planner.run())
        try:
            yield
        finally:
            planner.stop()
            await task

    async def live(self, duration: timedelta) -> None:
        """Let simulated time pass, and tell how far it has come."""
        end = self.clock.now() + duration
        while (now := self.clock.now()) < end:
            self.on_progress((now - START) / self.length)
            await self.clock.sleep(min(timedelta(minutes=1), end - now))

    # --- Looking back ---------------------------------------------------------------------

    def endpoint(self, name: str) -> Endpoint:
        return self.tables.endpoints[self.id_of(name)].endpoint

    def names(self) -> list[str]:
        return [row.endpoint.name for row in self.tables.endpoints.values()]

    def runs(self, name: str) -> list[Run]:
        """By slot, oldest first."""
        ids = self.tables.runs_of[self.id_of(name)].values()
        return sorted((self.tables.runs[run_id] for run_id in ids), key=lambda run: run.slot_at)

    def all_runs(self) -> list[Run]:
        return sorted(self.tables.runs.values(), key=lambda run: (run.slot_at, run.endpoint_id))

    def gaps(self, name: str) -> list[float]:
        """Seconds from slot to slot."""
        slots = [run.slot_at for run in self.runs(name)]
        return [(b - a).total_seconds() for a, b in pairwise(slots)]


def at_minute(minute: float) -> datetime:
    return START + timedelta(minutes=minute)


def always_true(world: World) -> list[Check]:
    """What must hold in every life, whatever the scenario."""
    runs = world.all_runs()
    early = [run for run in runs if run.started_at is not None and run.started_at < run.slot_at]
    slots = [(run.endpoint_id, run.slot_at) for run in runs]
    open_runs = [run for run in runs if run.status == "running"]
    return [
        Check("no run starts before its slot", not early, f"{len(runs)} runs"),
        Check("every slot has one run", len(set(slots)) == len(slots)),
        Check("every run has ended and is stored", not open_runs),
        *(_min_is_kept(world, name) for name in world.names()),
    ]


def _min_is_kept(world: World, name: str) -> Check:
    least = world.endpoint(name).min_interval or timedelta(seconds=1)
    shortest = min(world.gaps(name), default=None)
    ok = shortest is None or shortest >= least.total_seconds()
    detail = "" if shortest is None else f"shortest gap {shortest:g} s"
    return Check(f"{name} keeps its min of {least.total_seconds():g} s", ok, detail)
