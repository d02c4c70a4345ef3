"""A job on a stage of its own: the real queue and governor, in memory, with answers of the past."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.system.ids import new_id
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner
from cadenza.application.population import populate
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.claims import ClaimRequest
from cadenza.application.quotas import Quotas
from cadenza.application.session_metering import Payers
from cadenza.domain.definition import JobDefinition
from cadenza.domain.endpoint import Endpoint
from cadenza.domain.rule import Mode
from cadenza.domain.run import Claim, FinishedRun, Outcome, RunStatus
from cadenza.domain.target import HttpTarget
from cadenza.replay.history import History
from cadenza.replay.purse import Purse

_STEP = timedelta(milliseconds=1)  # a look comes after the runs that led to it
_ALL = ClaimRequest("replay", 1000, timedelta(minutes=1), per_tenant=1000, per_host=1000)


class SetClock:
    """The Clock port for a life that goes from one event to the next."""

    def __init__(self, now: datetime) -> None:
        self.at = now

    def now(self) -> datetime:
        return self.at

    async def sleep(self, duration: timedelta) -> None:
        self.at += max(duration, timedelta(0))


@dataclass(frozen=True, slots=True)
class Stage:
    clock: SetClock
    tables: Tables
    memory: MemoryStores
    cron: CronsimCron
    queue: ClaimedRuns
    histories: Mapping[str, History]

    @property
    def next_at(self) -> datetime | None:
        """When something is due."""
        due = [row.endpoint.next_run_at for row in self.tables.endpoints.values()]
        return min((at for at in due if at is not None), default=None)

    async def run_due(self, at: datetime) -> None:
        """What is due then runs, and answers as it did."""
        self.clock.at = max(self.clock.at + _STEP, at)
        claims = (await self.queue.claim_due(_ALL)).claims
        await self.queue.finish([self._finished(claim) for claim in claims])

    async def live_until(self, end: datetime) -> None:
        """By the schedules alone."""
        while (next_at := self.next_at) is not None and next_at <= end:
            await self.run_due(next_at)
        self.clock.at = max(self.clock.at, end)

    def planner(self, brain: Brain, purse: Purse | None = None) -> Planner:
        memory, prices = self.memory, purse.prices if purse is not None else None
        stores = (memory.store, memory.analysis_queue, purse or Quotas(memory.store, new_id))
        payers = Payers(memory.billing, memory.accounts, prices) if prices is not None else None
        plumbing = (self.clock, self.cron, EventLog(), new_id)
        return Planner(brain, *stores, *plumbing, payers=payers)

    def endpoint(self, name: str) -> Endpoint:
        endpoints = (row.endpoint for row in self.tables.endpoints.values())
        return next(endpoint for endpoint in endpoints if endpoint.name == name)

    def probes(self, name: str) -> list[datetime]:
        return sorted(self.tables.runs_of[self.endpoint(name).id])

    def _finished(self, claim: Claim) -> FinishedRun:
        known = self.histories.get(claim.endpoint_name)
        now = self.clock.at
        then = known.at(now) if known is not None else None
        outcome = Outcome(RunStatus.SUCCESS)  # one that was never asked may have said anything
        if then is not None:
            code = then.status_code
            outcome = Outcome(then.status, then.error_kind, status_code=code, body=then.body)
        return FinishedRun(claim, outcome, now, now)


async def staged(job: JobDefinition, histories: Mapping[str, History], begin: datetime) -> Stage:
    clock = SetClock(begin)
    tables, cron = Tables(clock, new_id), CronsimCron()
    memory = MemoryStores(tables)
    await populate(memory.store, cron, new_id, _replayed(job))
    queue = ClaimedRuns(memory.claims, memory.store, cron)
    return Stage(clock, tables, memory, cron, queue, histories)


def _replayed(job: JobDefinition) -> JobDefinition:
    """Nobody is called, no account pays, and who only advises is asked what would come of it."""
    target = HttpTarget("http://replay.invalid/")
    endpoints = tuple(replace(endpoint, target=target) for endpoint in job.endpoints)
    planner = replace(job.planner.all_in(Mode.ACT), account=None)
    return replace(job, endpoints=endpoints, planner=planner)
