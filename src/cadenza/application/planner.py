"""The planner worker: finds what needs an analysis, lets a brain think, and keeps the record.

It never touches leases or runs. How one session goes is in application/session_holding.py; here are
the rounds: who is looked at, several at once, and what is put on record.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.discovery import Discovery, Round, Skipped, round_of
from cadenza.application.ports.analysis_queue import AnalysisQueue, AnalysisRequest
from cadenza.application.ports.brain import Brain, Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.events import Events
from cadenza.application.ports.planning import Quota
from cadenza.application.ports.store import Store
from cadenza.application.ports.telemetry import NO_TELEMETRY, Telemetry
from cadenza.application.ports.tracing import Tracer
from cadenza.application.session_holding import SessionHolder
from cadenza.application.session_metering import Payers
from cadenza.application.sessions import record_analyses
from cadenza.application.waiting import until_set
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.cron import Cron
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.session import Session, kind_of

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
    payers: Payers | None = None
    telemetry: Telemetry = NO_TELEMETRY
    tracer: Tracer | None = None

    def __post_init__(self) -> None:
        self._kind = kind_of(self.brain.name)
        self._sessions = SessionHolder(
            self.brain,
            self.store,
            self.analysis_queue,
            self.quota,
            self.clock,
            self.cron,
            self.events,
            self.new_id,
            self.options.session_limit,
            self.payers,
            self.tracer,
        )
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

    @property
    def refusal(self) -> str | None:
        """Why no session is held at present: the provider fails, and the baseline goes on."""
        return self._sessions.refusal

    async def run_once(self) -> Round:
        """Analyse endpoints that need it now, several at once; other planners get the rest."""
        await self.clean_up()
        if self.refusal is not None:
            self._discovery.has_more = False
            return Round()
        began, limit = self.clock.now(), self._limit
        without, since = self._sessions.passed_over, self._discovery.since(began)
        who = (self._kind, self.brain.attention, self.name)
        request = AnalysisRequest(*who, limit, self.options.lease, without, since)
        looks = await self.analysis_queue.claim_for_analysis(request)
        self._discovery.claimed(began, len(looks), limit)
        if not looks:
            return Round()
        self._unreleased = set(looks)  # until a session about it is on record
        read = await self.analysis_queue.contexts_for(list(looks), self._kind)
        contexts = [replace(context, reason=looks[context.endpoint.id]) for context in read]
        return await self._analyse_all(contexts, begin_by=began + self.options.lease / 2)

    @property
    def _limit(self) -> int:
        """What costs also takes its time: a planner leaves the rest to the others, and takes no
        more than it can begin at once, so that a person's request is next."""
        is_free = not self.brain.reserved_tokens
        return min(
            self.options.batch, self.options.batch if is_free else self.options.sessions_at_once
        )

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
        # Rules wait until they are run, elsewhere: side by side, so that none waits for another's.
        ruled = [context for context in contexts if context.job.rules]
        results = await asyncio.gather(*(self._pre_check(context, begin_by) for context in ruled))
        usages = {
            context.endpoint.id: result for context, result in zip(ruled, results, strict=True)
        }
        for count, context in enumerate(contexts, start=1):
            if context.job.rules:
                usage = usages[context.endpoint.id]
            else:
                usage = await self._pre_check(context, begin_by)
            if usage is None:
                left.append(context)
            else:
                session = self._sessions.idle_session(context, usage)
                idle.append(session)
                self._keep(session)
            if count % PRE_CHECKS_AT_ONCE == 0:
                await asyncio.sleep(0)  # others wait
        return idle, left

    async def _pre_check(self, context: AnalysisContext, begin_by: datetime) -> Usage | None:
        if self.clock.now() > begin_by:
            return None
        try:
            return await self.brain.pre_check(context)
        except Exception:  # noqa: BLE001 - in a session it fails again, and that is recorded
            return None

    async def analyse(self, context: AnalysisContext) -> Session | Skipped:
        session = await self._sessions.hold(context)
        if isinstance(session, Session):
            self._keep(session)
            if self.brain.reserved_tokens:
                await self._save()  # what has cost something is not left to the end of the round
        return session

    def _keep(self, session: Session) -> None:
        """It is put on record soon, and its lease ends with that."""
        self._unsaved.append(session)
        self._unreleased.discard(session.endpoint_id)

    async def clean_up(self) -> None:
        """Put on record what is not yet, and give back what nobody analyses any more."""
        await self._sessions.pay()
        await self._save()
        if self._unreleased:
            await self.analysis_queue.release(list(self._unreleased), self._kind, self.name)
            self._unreleased = set()

    async def _save(self) -> None:
        """One at a time: what another is about to put on record, this one need not."""
        async with self._saving:
            sessions, events = list(self._unsaved), list(self._sessions.pending_events)
            if sessions:
                await record_analyses(self.store, sessions, self.name, events)
                self.telemetry.analysed(sessions)
                self._unsaved = self._unsaved[len(sessions) :]
                del self._sessions.pending_events[: len(events)]

    def _until_next_round(self) -> timedelta:
        now, cycle = self.clock.now(), self.options.cycle
        rest = (self._sessions.rest_until or now) - now
        return min(rest, cycle) if rest > timedelta(0) else cycle
