"""The planner worker: finds what needs an analysis, lets a brain think, and keeps the record.

It never touches leases or runs. Whatever happens in a session, the scheduler goes on: the worst a
brain can do is what the tools allow, and a session that fails leaves the baseline as it was.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.discovery import Discovery, Round, Skipped, round_of
from cadenza.application.ports.analysis_queue import AnalysisQueue, AnalysisRequest
from cadenza.application.ports.brain import Brain, Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.events import Event, Events
from cadenza.application.ports.planning import Quota, Reservation
from cadenza.application.ports.store import Store
from cadenza.application.sanitizing import clean_text
from cadenza.application.sessions import record_analyses
from cadenza.application.tools import Submission, Toolbox
from cadenza.application.waiting import until_set
from cadenza.domain.analysis import AnalysisContext, Attention
from cadenza.domain.bounds import MIN_NEXT_ANALYSIS
from cadenza.domain.breaker import Breaker
from cadenza.domain.cron import Cron
from cadenza.domain.errors import BrainFailed, ProviderFailed, StoreUnavailable
from cadenza.domain.instants import humanize
from cadenza.domain.session import Session, SessionEnd, kind_of

UNASKED_ANALYSIS = timedelta(hours=1)
WAITING_FOR_EACH = 5
PRE_CHECKS_AT_ONCE = 10
BETWEEN_ROUNDS = timedelta(milliseconds=250)  # finishes come by the hundred a second


@dataclass(frozen=True, slots=True)
class PlannerOptions:
    cycle: timedelta = timedelta(minutes=5)
    sessions_at_once: int = 8
    batch: int = 200
    retry_store_after: timedelta = timedelta(seconds=1)
    session_limit: timedelta = timedelta(seconds=120)  # a brain that hangs is cut off
    between_rounds: timedelta = timedelta(0)  # runs that finish meanwhile share a round

    @property
    def lease(self) -> timedelta:
        """Long enough for a session that begins late and takes all the time it may."""
        return 2 * self.session_limit + timedelta(minutes=1)


@dataclass(eq=False)
class Planner:
    brain: Brain
    store: Store
    analysis_queue: AnalysisQueue
    quota: Quota
    clock: Clock
    cron: Cron
    events: Events
    new_id: Callable[[], UUID]
    options: PlannerOptions = PlannerOptions()
    name: str = "planner"

    def __post_init__(self) -> None:
        self._kind = kind_of(self.brain.name)
        self._over_quota: dict[UUID, datetime] = {}  # tenants, and when to ask for them again
        self._breaker = Breaker()
        self._discovery = Discovery(self.options.cycle)
        self._unsaved: list[Session] = []
        self._unreleased: set[UUID] = set()  # still leased to us, and not analysed
        self._saving = asyncio.Lock()
        self._wake = asyncio.Event()
        self._stopping = False

    async def run(self) -> None:
        """A round whenever runs have finished, and once a cycle in any case, until stopped."""
        while not self._stopping:
            try:
                ended = await self.run_once()
            except StoreUnavailable:
                await self.clock.sleep(self.options.retry_store_after)
                continue
            recovered = ended.put_off and self.refusal is None
            if not self._discovery.has_more and not recovered:
                await self.clock.sleep(self.options.between_rounds)
                await until_set(self._wake, at_most=self._until_next_round())
            self._wake.clear()

    def wake(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()

    async def run_once(self) -> Round:
        """Analyse endpoints that need it now, several at once; other planners get the rest."""
        await self.clean_up()
        if self.refusal is not None:
            self._discovery.has_more = False
            return Round()
        began, limit = self.clock.now(), self._limit
        without, since = self._tenants_to_pass_over(), self._discovery.since(began)
        who = (self._kind, self.brain.attention, self.name)
        request = AnalysisRequest(*who, limit, self.options.lease, without, since)
        ids = await self.analysis_queue.claim_for_analysis(request)
        self._discovery.claimed(began, len(ids), limit)
        if not ids:
            return Round()
        self._unreleased = set(ids)  # until a session about it is on record
        contexts = await self.analysis_queue.contexts_for(ids, self._kind)
        return await self._analyse_all(contexts, begin_by=began + self.options.lease / 2)

    @property
    def _limit(self) -> int:
        """What costs also takes its time: a planner leaves some of it to the others."""
        if not self.brain.reserved_tokens:
            return self.options.batch
        return min(self.options.batch, WAITING_FOR_EACH * self.options.sessions_at_once)

    async def _analyse_all(self, contexts: Sequence[AnalysisContext], begin_by: datetime) -> Round:
        ended, left = await self._pre_check_all(contexts, begin_by)
        gate = asyncio.Semaphore(self.options.sessions_at_once)

        async def within_gate(context: AnalysisContext) -> Session | Skipped:
            async with gate:
                if self.clock.now() > begin_by:
                    return Skipped.TOO_LATE
                return await self.analyse(context)

        ends = await asyncio.gather(*map(within_gate, left), return_exceptions=True)
        await self.clean_up()
        for end in ends:
            if isinstance(end, BaseException):
                raise end  # the store is away: this round is over, now that the others have ended
            ended.append(end)
        if Skipped.PUT_OFF in ended or Skipped.TOO_LATE in ended:
            self._discovery.start_over()
        return round_of(ended)

    async def _pre_check_all(
        self, contexts: Sequence[AnalysisContext], begin_by: datetime
    ) -> tuple[list[Session | Skipped], list[AnalysisContext]]:
        """The analyses that came to nothing at once, and what is left for a session."""
        idle, left = list[Session | Skipped](), list[AnalysisContext]()
        for count, context in enumerate(contexts, start=1):
            usage = self._pre_check(context) if self.clock.now() <= begin_by else None
            if usage is None:
                left.append(context)
            else:
                session = self._idle_session(self.new_id(), context, usage)
                idle.append(session)
                self._keep(session)
            if count % PRE_CHECKS_AT_ONCE == 0:
                await asyncio.sleep(0)  # expressions may take their time, and others wait
        return idle, left

    def _pre_check(self, context: AnalysisContext) -> Usage | None:
        try:
            return self.brain.pre_check(context)
        except Exception:  # noqa: BLE001 - in a session it fails again, and that is recorded
            return None

    async def clean_up(self) -> None:
        """Put on record what is not yet, and give back what nobody analyses any more."""
        await self._save()
        if self._unreleased:
            await self.analysis_queue.release(list(self._unreleased), self._kind, self.name)
            self._unreleased = set()

    @property
    def refusal(self) -> str | None:
        """Why no session is held at present: the provider fails, and the baseline goes on."""
        return self._breaker.refusal(self.clock.now())

    def _until_next_round(self) -> timedelta:
        now, cycle = self.clock.now(), self.options.cycle
        rest = (self._breaker.rest_until or now) - now
        return min(rest, cycle) if rest > timedelta(0) else cycle

    def _tenants_to_pass_over(self) -> frozenset[UUID]:
        """Those that were over their quota a moment ago; they must not hide the others."""
        now = self.clock.now()
        return frozenset(tenant for tenant, until_at in self._over_quota.items() if until_at > now)

    async def analyse(self, context: AnalysisContext) -> Session | Skipped:
        """One session, where the provider answers and the tenant's quota allows it."""
        refusal = self.refusal
        if refusal is not None:
            self._emit("session.put_off", context, reason=refusal)
            return Skipped.PUT_OFF
        self._breaker = self._breaker.begun(self.clock.now(), self.options.session_limit)
        reservation = None
        if self.brain.reserved_tokens:
            tenant_id = context.endpoint.tenant_id
            reservation = await self.quota.reserve(
                tenant_id, self.brain.reserved_tokens, self.brain.reserved_cost
            )
            if reservation is None:
                self._breaker = self._breaker.abandoned()
                self._over_quota[tenant_id] = self.clock.now() + self.options.cycle
                self._emit("session.over_quota", context)
                return Skipped.OVER_QUOTA
        return await self._hold_session(context, reservation)

    async def _hold_session(
        self, context: AnalysisContext, reservation: Reservation | None
    ) -> Session:
        session_id = self.new_id()
        tools = Toolbox(
            *(context, self.store, self.analysis_queue, self.clock, self.cron),
            session_id=session_id,
            brain=self._kind,
        )
        failure: str | None = None
        try:
            tools.report_usage(await self._think(context, tools))
            self._breaker = self._breaker.answered(self.clock.now())
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a brain may fail in any way, and is recorded
            failure = clean_text(_reason(error)[:500])
            self._learn_from(error, failure, context)
        finally:  # also where the session is cut off: what it used, it used
            if reservation is not None:
                await self._settle(context, reservation, tools.usage)
        session = self._session(session_id, context, tools, failure)
        self._keep(session)
        if reservation is not None:
            await self._save()  # what has cost something is not left to the end of the round
        for call in session.tool_calls:
            if call.took_effect or call.suggested:
                fields = {"tool": call.tool, "arguments": call.arguments, "result": call.result}
                kind = "planner.suggested" if call.suggested else "planner.acted"
                self._emit(kind, context, session_id=str(session_id), **fields)
        return session

    def _keep(self, session: Session) -> None:
        """It is put on record soon, and its lease ends with that."""
        self._unsaved.append(session)
        self._unreleased.discard(session.endpoint_id)

    async def _save(self) -> None:
        """One at a time: what another is about to put on record, this one need not."""
        async with self._saving:
            sessions = list(self._unsaved)
            if sessions:
                await record_analyses(self.store, sessions, self.name)
                self._unsaved = self._unsaved[len(sessions) :]

    async def _think(self, context: AnalysisContext, tools: Toolbox) -> Usage:
        at_most = self.options.session_limit
        limit = asyncio.timeout(at_most.total_seconds())
        try:
            async with limit:
                return await self.brain.analyse(context, tools)
        except TimeoutError:
            if not limit.expired():
                raise
            # One that costs has a provider, and that one is too slow at present.
            failed = ProviderFailed if self.brain.reserved_tokens else BrainFailed
            raise failed(f"the session took longer than {humanize(at_most)}") from None

    def _learn_from(self, error: Exception, failure: str, context: AnalysisContext) -> None:
        now = self.clock.now()
        if not isinstance(error, ProviderFailed):
            self._breaker = self._breaker.answered(now)
            return
        known = self._breaker.failures
        self._breaker = self._breaker.failed(now, failure, error.retry_after)
        if self._breaker.failures > known:
            self._emit("provider.away", context, reason=self.refusal)

    async def _settle(
        self, context: AnalysisContext, reservation: Reservation, usage: Usage
    ) -> None:
        for warning in await self.quota.settle(reservation, usage.tokens, usage.cost):
            self._emit("quota.warning", context, **asdict(warning))

    def _session(
        self, session_id: UUID, context: AnalysisContext, tools: Toolbox, failure: str | None
    ) -> Session:
        submission, usage = tools.submission, tools.usage
        failed = (f"the brain failed: {failure}",) if failure is not None else ()
        return replace(
            self._idle_session(session_id, context, usage),
            end=SessionEnd.FAILED if failed else _ending(tools),
            tool_calls=tuple(tools.calls),
            reasoning=submission.reasoning if submission else "",
            confidence=submission.confidence if submission else None,
            tokens=usage.tokens,
            cost=usage.cost,
            warnings=(*usage.warnings, *failed),
            next_analysis_at=self._next_analysis_at(submission),
            prompt_version=usage.prompt_version,
            fired=usage.fired,
            forgotten=_forgotten(context),
        )

    def _idle_session(self, session_id: UUID, context: AnalysisContext, usage: Usage) -> Session:
        """A session that came to nothing, without tools."""
        return Session(
            id=session_id,
            tenant_id=context.endpoint.tenant_id,
            job_id=context.endpoint.job_id,
            endpoint_id=context.endpoint.id,
            brain=self.brain.name,
            started_at=context.now,
            duration=self.clock.now() - context.now,
            end=SessionEnd.UNFINISHED,
            warnings=usage.warnings,
            next_analysis_at=self._next_analysis_at(None),
            memory=usage.memory,
        )

    def _next_analysis_at(self, submission: Submission | None) -> datetime | None:
        if submission is not None and submission.next_analysis_at is not None:
            return submission.next_analysis_at
        if self.brain.attention is not Attention.ON_CHANGE:
            return None
        # No time was asked for, and a brain that waits for changes might never come back.
        return self.clock.now() + (UNASKED_ANALYSIS if submission else MIN_NEXT_ANALYSIS)

    def _emit(self, kind: str, context: AnalysisContext, **data: object) -> None:
        if self.events.wants(kind):
            endpoint, now = context.endpoint, self.clock.now()
            ids = (endpoint.tenant_id, endpoint.id, endpoint.name)
            self.events.emit(Event(now, kind, *ids, data))


def _forgotten(context: AnalysisContext) -> tuple[UUID, ...]:
    """Rules that once did something, and that their owner has taken out of the job."""
    declared = {rule.id for rule in context.job.rules}
    return tuple(rule_id for rule_id in context.fired_at if rule_id not in declared)


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, BrainFailed) else f"{type(error).__name__}: {error}"


def _ending(tools: Toolbox) -> SessionEnd:
    if tools.submission is not None:
        return SessionEnd.SUBMITTED
    return SessionEnd.OUT_OF_CALLS if tools.out_of_calls else SessionEnd.UNFINISHED
