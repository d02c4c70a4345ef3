"""The demo's stage: the real scheduler, planner, governor and HTTP, over stores in memory."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from uuid import UUID

from cadenza.adapters.cron.cronsim import CronsimCron
from cadenza.adapters.expressions.cel import CelExpressions
from cadenza.adapters.http.addresses import AddressPolicy, parse_networks
from cadenza.adapters.http.dispatcher import HttpDispatcher
from cadenza.adapters.memory.stores import MemoryStores
from cadenza.adapters.memory.tables import Tables
from cadenza.adapters.system.clock import SystemClock
from cadenza.adapters.system.ids import new_id
from cadenza.application.finishing import ClaimedRuns
from cadenza.application.planner import Planner
from cadenza.application.population import populate
from cadenza.application.ports.brain import Brain
from cadenza.application.ports.events import Event
from cadenza.application.ports.store import Channel
from cadenza.application.quotas import Quotas
from cadenza.application.scheduler import Scheduler
from cadenza.domain.definition import EndpointDefinition, JobDefinition
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, Endpoint, Every
from cadenza.domain.rule import Rule, RuleAction
from cadenza.domain.run import Run
from cadenza.domain.target import HttpTarget


class Heard:
    """What the planner did, passed on to whoever shows it."""

    def __init__(self, show: Callable[[Event], None]) -> None:
        self._show = show

    def wants(self, kind: str) -> bool:
        return kind == "planner.acted"

    def emit(self, event: Event) -> None:
        self._show(event)


class Unsigned:
    """Nobody in the demo has a key to sign with."""

    async def headers_for(
        self, tenant_id: UUID, message_id: str, sent_at: datetime, body: bytes
    ) -> Mapping[str, str]:
        del tenant_id, message_id, sent_at, body
        return {}


class Stage:
    def __init__(
        self, job: JobDefinition, brain: Brain, address: str, tell: Callable[[Event], None]
    ) -> None:
        self.clock = SystemClock()
        self.tables = Tables(self.clock, new_id)
        endpoints = tuple(_served_at(address, endpoint) for endpoint in job.endpoints)
        self._definition = replace(job, endpoints=endpoints)
        self._brain = brain
        self._events = Heard(tell)

    @asynccontextmanager
    async def playing(self) -> AsyncGenerator[None]:
        memory, cron = MemoryStores(self.tables), CronsimCron()
        store, analysis_queue = memory.store, memory.analysis_queue
        await populate(store, cron, new_id, self._definition)
        http = HttpDispatcher(
            AddressPolicy(parse_networks("loopback")), Unsigned(), self.clock, CelExpressions()
        )
        queue = ClaimedRuns(memory.claims, store, cron)
        worker = Scheduler("demo", queue, http, self.clock, self._events)
        planner = Planner(
            self._brain,
            store,
            analysis_queue,
            Quotas(store, new_id),
            self.clock,
            cron,
            self._events,
            new_id,
        )
        self.tables.listen(Channel.DUE, worker.wake)
        self.tables.listen(Channel.FINISHED, planner.wake)
        tasks = [asyncio.create_task(worker.run()), asyncio.create_task(planner.run())]
        try:
            yield
        finally:
            worker.stop()
            planner.stop()
            await asyncio.gather(*tasks)
            await http.close()

    def endpoints(self) -> list[Endpoint]:
        return [row.endpoint for row in self.tables.endpoints.values()]

    def runs(self, endpoint: Endpoint) -> list[Run]:
        """Those that have ended, oldest first."""
        ids = self.tables.runs_of[endpoint.id].values()
        runs = (self.tables.runs[run_id] for run_id in ids)
        return [run for run in runs if run.finished_at is not None]


def _served_at(address: str, endpoint: EndpointDefinition) -> EndpointDefinition:
    """The same paths, of the targets that the demo brings along."""
    target = endpoint.target
    assert isinstance(target, HttpTarget)
    return replace(endpoint, target=replace(target, url=address + urlsplit(target.url).path))


def scaled(job: JobDefinition, factor: float) -> JobDefinition:
    """The same job on a faster or slower clock; nothing runs more often than once a second."""

    def stretched(duration: timedelta) -> timedelta:
        milliseconds = round(duration * factor / timedelta(milliseconds=1))
        return max(timedelta(milliseconds=milliseconds), PLATFORM_MIN_INTERVAL)

    def scaled_endpoint(endpoint: EndpointDefinition) -> EndpointDefinition:
        baseline = endpoint.baseline
        if isinstance(baseline, Every):
            baseline = Every(stretched(baseline.interval))
        least, most = endpoint.min_interval, endpoint.max_interval
        return replace(
            endpoint,
            baseline=baseline,
            min_interval=least and stretched(least),
            max_interval=most and stretched(most),
        )

    def scaled_rule(rule: Rule) -> Rule:
        then = rule.then
        if then.action is not RuleAction.INTERVAL or then.duration is None:
            return rule
        return replace(rule, then=replace(then, duration=stretched(then.duration)))

    endpoints = tuple(map(scaled_endpoint, job.endpoints))
    return replace(job, endpoints=endpoints, rules=tuple(map(scaled_rule, job.rules)))
