"""What a contract test needs of a store: its ports, and a clock that the test moves."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol
from uuid import UUID

from cadenza.application.ports.activity import ActivityReads
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.awaited_results import ResultReads
from cadenza.application.ports.billing import BillingReads, MeansReads
from cadenza.application.ports.catalogue import EndpointReads
from cadenza.application.ports.claims import ClaimBatch, ClaimRequest, RunQueue
from cadenza.application.ports.event_log import EventLog
from cadenza.application.ports.grants import GrantReads
from cadenza.application.ports.notifications import NotificationReads
from cadenza.application.ports.overview import OverviewReads
from cadenza.application.ports.planning import Quota
from cadenza.application.ports.records import Records
from cadenza.application.ports.run_authors import RunAuthorReads
from cadenza.application.ports.run_search import RunReads, RunSearch
from cadenza.application.ports.schedules import ScheduleReads
from cadenza.application.ports.steering_history import SteeringReads
from cadenza.application.ports.store import Store as StorePort
from cadenza.application.ports.store import Transaction
from cadenza.application.ports.suggestions import SuggestionReads
from cadenza.application.ports.workers import GraphReads, WorkerReads, Workers
from cadenza.application.sessions import record_analyses
from cadenza.domain.endpoint import Endpoint, Job
from cadenza.domain.planner_policy import PlannerPolicy
from cadenza.domain.rule import Mode, Modes, Rule
from cadenza.domain.run import Claim, FinishedRun, LateResult, LostAttempt, Outcome, Run
from cadenza.domain.session import Session
from cadenza.domain.target import HttpTarget, Target
from tests.direct import Direct
from tests.factories import NOON, OK, id_of, make_endpoint, seconds

LEASE = seconds(30)
A_SECOND = seconds(1)


class TestClock(Protocol):
    __test__ = False

    async def now(self) -> datetime: ...

    async def set(self, instant: datetime) -> None: ...


@dataclass(frozen=True, slots=True)
class Instants:
    """Of an endpoint, that nobody sets but its runs, its owner and its siblings' planners."""

    last_finished_at: datetime | None
    last_failed_at: datetime | None
    changed_at: datetime | None
    asked_at: datetime | None
    steered_at: datetime | None
    streak_changed_at: datetime | None


class KnownWorkers(Workers, GraphReads, WorkerReads, Protocol):
    """Both sides of what workers announce."""


class Rows(Protocol):
    """Rows as no verb would write them in so few steps."""

    async def add_runs(self, runs: Sequence[Run]) -> None: ...

    async def set_instants(self, instants: Mapping[UUID, Instants]) -> None:
        """By endpoint."""
        ...

    async def sessions_of(self, endpoint_id: UUID) -> Sequence[Session]:
        """The oldest first."""
        ...


@dataclass(slots=True)
class Store:
    """One store behind all its ports, with shorthands that the tests share."""

    clock: TestClock
    port: StorePort
    queue: RunQueue
    endpoints: Direct
    catalogue: EndpointReads
    history: RunReads
    analysis_queue: AnalysisQueue
    quota: Quota
    suggestions: SuggestionReads
    billing: BillingReads
    means: MeansReads
    grants: GrantReads
    rows: Rows
    schedules: ScheduleReads
    workers: KnownWorkers
    steering: SteeringReads
    run_authors: RunAuthorReads
    results: ResultReads
    records: Records
    events: EventLog
    overview: OverviewReads
    notifications: NotificationReads
    activity: ActivityReads

    def transaction(self) -> AbstractAsyncContextManager[Transaction]:
        return self.port.transaction()

    async def advance(self, by: timedelta) -> datetime:
        now = await self.clock.now() + by
        await self.clock.set(now)
        return now

    async def add(
        self, name: str = "probe", url: str = "", target: Target | None = None, **fields: Any
    ) -> Endpoint:
        """An endpoint of the tenant and job of the factories, or of others where they are given."""
        policy, method = fields.pop("planner", None), fields.pop("method", "GET")
        endpoint = make_endpoint(name, **fields)
        job = Job(endpoint.job_id, endpoint.tenant_id, f"job {endpoint.job_id}", "watches things")
        await self.endpoints.add_tenant(endpoint.tenant_id)
        await self.endpoints.add_job(job)
        if policy is not None:
            await self.set_policy(endpoint, policy)
        target = target or HttpTarget(url or f"http://{name}.example/path", method)
        return await self.endpoints.add_endpoint(endpoint, target)

    async def ask_for_analysis(self, endpoint: Endpoint) -> None:
        await self.endpoints.ask_for_analysis(endpoint)

    async def set_policy(self, endpoint: Endpoint, policy: PlannerPolicy) -> None:
        await self.endpoints.set_policy(endpoint, policy)

    async def set_job_rules(self, endpoint: Endpoint, *rules: Rule) -> None:
        await self.endpoints.set_job_rules(endpoint, *rules)

    async def set_tenant_modes(
        self, tenant_id: UUID, rules: Mode, llm: Mode, detectors: Mode = Mode.ACT
    ) -> None:
        await self.endpoints.set_tenant_modes(tenant_id, Modes(rules, llm, detectors))

    async def record(self, *sessions: Session, holder: str = "test") -> None:
        await record_analyses(self.port, sessions, holder)

    async def sessions_of(self, endpoint: Endpoint) -> Sequence[Session]:
        return await self.rows.sessions_of(endpoint.id)

    async def get(self, endpoint: Endpoint) -> Endpoint:
        return await self.endpoints.get_endpoint(endpoint.tenant_id, endpoint.id)

    async def claim(self, limit: int = 100, **fields: Any) -> ClaimBatch:
        request = ClaimRequest("worker", limit=limit, lease=LEASE, **fields)
        return await self.queue.claim_due(request)

    async def claim_one(self, **fields: Any) -> Claim:
        (claim,) = (await self.claim(**fields)).claims
        return claim

    async def finish(
        self, claim: Claim, outcome: Outcome = OK, *, takes: timedelta = A_SECOND
    ) -> bool:
        """Execute a claim at its slot and report it; True where the result counted."""
        now = await self.clock.now()
        started_at = max(claim.slot_at, now)
        finished_at = await self.advance(started_at - now + takes)
        report = await self.queue.finish([FinishedRun(claim, outcome, started_at, finished_at)])
        return claim.run_id not in report.late

    async def runs(self, endpoint: Endpoint) -> Sequence[Run]:
        """In full, newest first."""
        search = RunSearch(endpoint_id=endpoint.id)
        page = await self.history.search_runs(endpoint.tenant_id, search)
        return [
            (await self.history.get_run(endpoint.tenant_id, listed.id)).run for listed in page.items
        ]

    async def run(self, endpoint: Endpoint) -> Run:
        (run,) = await self.runs(endpoint)
        return run

    async def lost_attempts(self, claim: Claim) -> Sequence[LostAttempt]:
        return (await self.history.get_run(claim.tenant_id, claim.run_id)).lost_attempts

    async def late_results(self, claim: Claim) -> Sequence[LateResult]:
        return (await self.history.get_run(claim.tenant_id, claim.run_id)).late_results


OTHER_TENANT = id_of("another tenant")
OTHER_JOB = id_of("another job")
__all__ = ["LEASE", "NOON", "OTHER_JOB", "OTHER_TENANT", "Store"]
