"""A small installation in memory and simulated time, and the fakes that the tests put around it."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import wraps
from typing import Any
from uuid import UUID

from cadenza.adapters.memory.rows import EndpointRow
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.simulated.chance import SeededChance
from cadenza.adapters.simulated.log import EventLog
from cadenza.adapters.simulated.time import SimulatedClock, run_simulated
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner, PlannerOptions
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.brain import AskedModel, Brain, Tools, Usage
from cadenza.application.ports.claims import (
    ClaimBatch,
    ClaimRequest,
    FinishReport,
    Renewal,
    RunQueue,
)
from cadenza.application.ports.store import Channel, Store
from cadenza.application.quotas import Quotas
from cadenza.application.scheduler import Scheduler, SchedulerOptions
from cadenza.application.session_metering import Payers
from cadenza.application.tools import Toolbox
from cadenza.domain import steering
from cadenza.domain.access import Tenant
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.billing import ModelApi, TokenUsage
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.errors import InvalidInput, StoreUnavailable
from cadenza.domain.quota import Allowance, Limits, month_of
from cadenza.domain.rule import ALL_ACT
from cadenza.domain.run import Body, Claim, FinishedRun, LateResult, Outcome, Run
from cadenza.domain.session import Session
from cadenza.domain.target import HttpTarget
from tests.direct import Direct, Transition
from tests.factories import CRON, NOON, OK, id_of, make_endpoint, seconds

Answer = Callable[[Claim], Awaitable[Outcome]]


def simulated(test: Callable[..., Any]) -> Callable[..., None]:
    """A test whose coroutine lives in simulated time."""

    @wraps(test)
    def lived(*args: Any, **kwargs: Any) -> None:
        run_simulated(test(*args, **kwargs))

    return lived


@dataclass(slots=True)
class Request:
    """One attempt as its target saw it."""

    claim: Claim
    began_at: datetime
    ended_at: datetime | None = None
    cancelled: bool = False


class Targets:
    """Everything that is called: remembers each request, and answers as the test says."""

    def __init__(self, clock: SimulatedClock, answer: Answer | None = None) -> None:
        self.clock = clock
        self.answer = answer
        self.requests: list[Request] = []

    async def dispatch(self, claim: Claim) -> Outcome:
        request = Request(claim, self.clock.now())
        self.requests.append(request)
        try:
            return OK if self.answer is None else await self.answer(claim)
        except asyncio.CancelledError:
            request.cancelled = True
            raise
        finally:
            request.ended_at = self.clock.now()

    def of(self, name: str) -> list[Request]:
        return [each for each in self.requests if each.claim.endpoint_name == name]

    def most_at_once(self, key: Callable[[Claim], object] = lambda _: None) -> int:
        """The highest number of requests under way at the same time, by whatever the key names."""
        edges: list[tuple[datetime, int, object]] = []
        for request in self.requests:
            assert request.ended_at is not None
            edges.append((request.began_at, 1, key(request.claim)))
            edges.append((request.ended_at, -1, key(request.claim)))
        now: dict[object, int] = {}
        most = 0
        for _, change, name in sorted(edges, key=lambda edge: edge[:2]):
            now[name] = now.get(name, 0) + change
            most = max(most, now[name])
        return most


@dataclass(slots=True)
class Worker:
    scheduler: Scheduler
    task: asyncio.Task[None]
    targets: Targets

    async def crash(self) -> None:
        """Ended from one instant to the next, with everything it holds."""
        self.task.cancel()
        await asyncio.gather(self.task, return_exceptions=True)

    async def stop(self) -> None:
        self.scheduler.stop()
        await self.task


class MemoryRunQueue(ClaimedRuns):
    """What a scheduler works off, over these tables; a test may break some of it."""

    def __init__(self, tables: Tables) -> None:
        memory = MemoryStores(tables)
        super().__init__(memory.claims, memory.store, CRON)


class Bench:
    def __init__(
        self, seed: int = 1, tokens_per_month: int | None = None, money: float | None = None
    ) -> None:
        self.chance = SeededChance(seed)
        self.clock = SimulatedClock(NOON)
        self.log = EventLog()
        self.tables = Tables(self.clock, self.chance.new_id)
        self.memory = MemoryStores(self.tables)
        self.store: Store = self.memory.store
        self.endpoints = Direct(self.store, CRON)
        self.queue = MemoryRunQueue(self.tables)
        self.analysis_queue: AnalysisQueue = self.memory.analysis_queue
        per_month = Limits(tokens_per_month, money)
        self.quota = Quotas(self.store, self.chance.new_id, per_month)
        tenant = Tenant(id_of("tenant"), "tenant", NOON, modes=ALL_ACT)
        self.tables.tenants[tenant.id] = tenant
        self.payers: Payers | None = None
        self._ids: dict[str, tuple[UUID, UUID]] = {}

    @property
    def now(self) -> datetime:
        return self.clock.now()

    async def add(self, name: str = "probe", *, host: str = "", **fields: Any) -> Endpoint:
        """An endpoint of the factories' tenant and job, or of another tenant's; each name has its
        own host."""
        if "tenant_id" in fields:
            fields = {"job_id": id_of(f"job of {fields['tenant_id']}"), **fields}
        timeout = fields.pop("timeout", timedelta(minutes=30))
        method = fields.pop("method", "GET")
        endpoint = make_endpoint(name, **{"created_at": self.now, **fields})
        job = "watch" if endpoint.job_id == id_of("job") else f"watch {endpoint.job_id}"
        await self.endpoints.add_tenant(endpoint.tenant_id)
        await self.endpoints.add_job(Job(endpoint.job_id, endpoint.tenant_id, job, "Watch it all."))
        self._ids[name] = (endpoint.tenant_id, endpoint.id)
        url = f"http://{host or name.replace(' ', '-')}.example/"
        target = HttpTarget(url, method, timeout=timeout)
        return await self.endpoints.add_endpoint(endpoint, target)

    async def act(self, name: str, transition: Transition) -> Endpoint:
        return await self.endpoints.change_endpoint(*self._ids[name], transition)

    async def sleep(self, length: float) -> None:
        await self.clock.sleep(seconds(length))

    def row(self, name: str = "probe") -> EndpointRow:
        return self.tables.endpoints[self._ids[name][1]]

    def endpoint(self, name: str = "probe") -> Endpoint:
        return self.row(name).endpoint

    def put(self, endpoint: Endpoint) -> None:
        """As it is from now on, and nobody is woken."""
        row = self.tables.endpoints[endpoint.id]
        self.tables.endpoints[endpoint.id] = replace(row, endpoint=endpoint)

    def runs(self, name: str = "probe") -> list[Run]:
        """By slot, oldest first."""
        ids = self.tables.runs_of[self._ids[name][1]].values()
        return sorted((self.tables.runs[run_id] for run_id in ids), key=lambda run: run.slot_at)

    @property
    def sessions(self) -> list[Session]:
        """Those that were kept, the oldest first."""
        return list(self.tables.sessions.values())

    @property
    def idle_looks(self) -> int:
        """The analyses that came to nothing, and were only counted."""
        return sum(row.idle_count for row in self.tables.analyses.values())

    @property
    def month(self) -> Allowance:
        """What the factories' tenant has used of this month."""
        return self.tables.allowances[id_of("tenant"), month_of(self.now), None]

    @property
    def lost_attempts(self) -> list[tuple[UUID, int]]:
        lost = self.tables.lost_attempts.values()
        return [(attempt.run_id, attempt.attempt) for attempts in lost for attempt in attempts]

    @property
    def late_results(self) -> list[LateResult]:
        return [late for results in self.tables.late_results.values() for late in results]

    def events(self, kind: str) -> list[Any]:
        return [event for event in self.log.events if event.kind == kind]

    async def ran(self, name: str = "probe", body: Body = None, outcome: Outcome = OK) -> None:
        """The endpoint runs now, for a second, and answers with this body."""
        self.put(steering.request_run_now(self.endpoint(name), self.now))
        request = ClaimRequest("bench", 1000, seconds(30))
        claims = (await self.queue.claim_due(request)).claims
        claim = next(each for each in claims if each.endpoint_name == name)
        await self.queue.give_back([each for each in claims if each is not claim])
        started_at = self.now
        await self.sleep(1)
        finished = FinishedRun(claim, replace(outcome, body=body), started_at, self.now)
        await self.queue.finish([finished])

    async def toolbox(self, name: str = "probe", **options: Any) -> Toolbox:
        """The tools of a session about this endpoint that begins now."""
        (context,) = await self.analysis_queue.contexts_for([self._ids[name][1]], "test")
        return Toolbox(context, self.store, self.analysis_queue, self.clock, CRON, **options)

    def planner(self, brain: Brain, name: str = "planner", **options: Any) -> Planner:
        planner = Planner(
            brain,
            self.store,
            self.analysis_queue,
            self.quota,
            self.clock,
            CRON,
            self.log,
            self.chance.new_id,
            PlannerOptions(**options),
            name,
            self.payers,
        )
        self.tables.listen(Channel.FINISHED, planner.wake)
        return planner

    def start(
        self,
        answer: Answer | None = None,
        *,
        name: str = "worker",
        queue: RunQueue | None = None,
        options: SchedulerOptions | None = None,
    ) -> Worker:
        targets = Targets(self.clock, answer)
        scheduler = Scheduler(name, queue or self.queue, targets, self.clock, self.log, options)
        self.tables.listen(Channel.DUE, scheduler.wake)
        return Worker(scheduler, asyncio.create_task(scheduler.run()), targets)

    @asynccontextmanager
    async def worker(self, *args: Any, **kwargs: Any) -> AsyncGenerator[Worker]:
        worker = self.start(*args, **kwargs)
        try:
            yield worker
        finally:
            worker.scheduler.stop()
            if not worker.task.done():
                await worker.task


def takes(bench: Bench, length: float, outcome: Outcome = OK) -> Answer:
    """Every request takes so many seconds."""

    async def answer(_: Claim) -> Outcome:
        await bench.sleep(length)
        return outcome

    return answer


@dataclass(slots=True)
class FlatPrices:
    """So many credits a token, whatever the model; of some the price is not known."""

    per_token: int
    unknown: frozenset[str] = frozenset()

    def credits(self, _api: ModelApi, model: str, usage: TokenUsage) -> int:
        if model in self.unknown:
            raise InvalidInput("model", model, "a model whose price is known")
        return self.per_token * usage.total


async def _idle(_: AnalysisContext, __: Tools) -> None:
    """Thinks nothing of it."""


@dataclass(slots=True)
class Thinker:
    """A brain that does what the test says, and says what that cost."""

    thought: Callable[[AnalysisContext, Tools], Awaitable[None]] = _idle
    attention: Attention = Attention.OWN_RUNS
    reserved_tokens: int = 0
    usage: Usage = field(default_factory=Usage)
    name: str = "thinker"
    looks: list[str] = field(default_factory=list[str])
    at_pre_check: Callable[[AnalysisContext], Usage | None] = lambda _: None
    model: AskedModel | None = None

    def model_for(self, _job: Job) -> AskedModel | None:
        return self.model

    async def pre_check(self, context: AnalysisContext) -> Usage | None:
        return self.at_pre_check(context)

    async def analyse(self, context: AnalysisContext, tools: Tools) -> Usage:
        self.looks.append(context.endpoint.name)
        await self.thought(context, tools)
        return self.usage


@dataclass(slots=True)
class FragileQueue:
    """The queue of a store that is away at times; `after` lets it do its work before it fails."""

    queue: RunQueue
    down: set[str] = field(default_factory=set[str])
    after: set[str] = field(default_factory=set[str])
    refused: int = 0

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch:
        return await self._ask("claim_due", request)

    async def claim_lost(self, request: ClaimRequest) -> Sequence[Claim]:
        return await self._ask("claim_lost", request)

    async def renew(self, claims: Sequence[Claim], lease: timedelta) -> Renewal:
        return await self._ask("renew", claims, lease)

    async def finish(self, finished: Sequence[FinishedRun]) -> FinishReport:
        return await self._ask("finish", finished)

    async def give_back(self, claims: Sequence[Claim]) -> None:
        return await self._ask("give_back", claims)

    async def _ask(self, method: str, *arguments: Any) -> Any:
        if method in self.down:
            self.refused += 1
            raise StoreUnavailable("the database does not answer")
        answer = await getattr(self.queue, method)(*arguments)
        if method in self.after:
            self.refused += 1
            raise StoreUnavailable("the answer of the database was lost")
        return answer


EVERYTHING = frozenset({"claim_due", "claim_lost", "renew", "finish", "give_back"})
