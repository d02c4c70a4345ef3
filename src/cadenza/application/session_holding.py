"""One session of a brain about one endpoint: may it be held, what did it do, what is kept of it.

Whatever happens in a session, the scheduler goes on: the worst a brain can do is what the tools
allow, and a session that fails leaves the baseline as it was.
"""

import asyncio
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.discovery import Skipped
from cadenza.application.ports.analysis_queue import AnalysisQueue
from cadenza.application.ports.brain import Brain, Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.events import Event, Events
from cadenza.application.ports.planning import Quota, Reservation
from cadenza.application.ports.store import Store
from cadenza.application.ports.tracing import Span, Tracer
from cadenza.application.session_metering import MeteredTools, Payer, Payers, SessionMeter, Unpaid
from cadenza.application.session_record import SessionRecorder, failure_of
from cadenza.application.sessions import record_skipped
from cadenza.application.tools import Toolbox
from cadenza.domain.analysis import AnalysisContext
from cadenza.domain.audit import PendingEvent
from cadenza.domain.breaker import Breaker
from cadenza.domain.cron import Cron
from cadenza.domain.errors import BrainFailed, NotFound, ProviderFailed, StoreUnavailable
from cadenza.domain.instants import humanize
from cadenza.domain.quota import OverLimit
from cadenza.domain.session import Session, SessionEnd, kind_of

PASSED_OVER = timedelta(minutes=1)  # who has nothing left must not hide the others


@dataclass(eq=False)
class SessionHolder:
    brain: Brain
    store: Store
    analysis_queue: AnalysisQueue
    quota: Quota
    clock: Clock
    cron: Cron
    events: Events
    new_id: Callable[[], UUID]
    at_most: timedelta  # a brain that hangs is cut off
    payers: Payers | None = None  # None: what a brain says of its cost is all there is
    tracer: Tracer | None = None

    def __post_init__(self) -> None:
        self._recorder = SessionRecorder(self.brain, self.clock, self.new_id)
        self._breaker = Breaker()
        self._passed_over: dict[UUID, datetime] = {}  # tenants and jobs, and until when
        self._unpaid: dict[SessionMeter, None] = {}  # what the store has not yet said yes to
        self.pending_events: list[PendingEvent] = []  # for who puts sessions on record

    @property
    def refusal(self) -> str | None:
        """Why no session is held at present: the provider fails, and the baseline goes on."""
        return self._breaker.refusal(self.clock.now())

    @property
    def rest_until(self) -> datetime | None:
        return self._breaker.rest_until

    @property
    def passed_over(self) -> frozenset[UUID]:
        """Tenants and jobs for which none could be held a moment ago."""
        now = self.clock.now()
        return frozenset(owner for owner, until in self._passed_over.items() if until > now)

    def idle_session(self, context: AnalysisContext, usage: Usage) -> Session:
        """Of a look that came to nothing, without tools."""
        return self._recorder.idle(context, usage)

    async def pay(self) -> None:
        """What sessions still owe, because the store was away."""
        for meter in tuple(self._unpaid):
            await meter.pay()
            self._unpaid.pop(meter, None)  # another session may have paid it at the same time

    async def hold(self, context: AnalysisContext) -> Session | Skipped:
        """One session, where the provider answers, somebody pays and no limit is in the way."""
        refusal = self.refusal
        if refusal is not None:
            self._emit("session.put_off", context, reason=refusal)
            return Skipped.PUT_OFF
        self._breaker = self._breaker.begun(self.clock.now(), self.at_most)
        tokens = self._tokens_for(context)
        if not tokens:
            return await self._hold(context)
        try:
            payer = await self._payer_of(context, tokens)
            reserved = await self.quota.reserve(context.job, tokens, payer.highest_cost)
        except Unpaid as unpaid:
            return await self._skip(context, str(unpaid), context.job.id, Skipped.UNPAID)
        except NotFound:  # its tenant was deleted meanwhile
            self._breaker = self._breaker.abandoned()
            return Skipped.TOO_LATE
        if isinstance(reserved, OverLimit):
            owner = reserved.job_id or context.job.tenant_id
            return await self._skip(context, reserved.reason, owner, Skipped.OVER_QUOTA)
        return await self._hold(context, payer, reserved)

    def _tokens_for(self, context: AnalysisContext) -> int:
        """What a session may use; 0 for a brain that is free."""
        asked = context.job.planner.tokens_per_session
        return asked or self.brain.reserved_tokens if self.brain.reserved_tokens else 0

    async def _payer_of(self, context: AnalysisContext, tokens: int) -> Payer:
        model = self.brain.model_for(context.job)
        if self.payers is None or model is None:
            return Payer(None)
        return await self.payers.payer_of(context.job, model, tokens)

    async def _skip(
        self, context: AnalysisContext, reason: str, owner: UUID, skipped: Skipped
    ) -> Skipped:
        self._breaker = self._breaker.abandoned()
        still = self.passed_over
        self._passed_over = {
            known: until for known, until in self._passed_over.items() if known in still
        }
        self._passed_over[owner] = self.clock.now() + PASSED_OVER
        session = replace(
            self._recorder.idle(context, Usage(warnings=(reason,))),
            end=SessionEnd.SKIPPED,
            trouble=reason,
        )
        if await record_skipped(self.store, session):
            self._emit(f"session.{skipped.replace('-', '_')}", context, reason=reason)
        return skipped

    async def _hold(
        self,
        context: AnalysisContext,
        payer: Payer | None = None,
        reservation: Reservation | None = None,
    ) -> Session:
        session_id, meter = self.new_id(), None
        if self.payers is not None and payer is not None:
            meter = SessionMeter(self.store, self.payers.prices, context, session_id, payer)
        toolbox = self._toolbox(context, session_id)
        tools = MeteredTools(toolbox, meter)
        error: Exception | None = None
        span = self._span(context, session_id)
        try:
            with span.active() if span is not None else nullcontext():
                tools.report_usage(await self._think(context, tools))
            self._answered(context)
        except StoreUnavailable:
            raise
        except Exception as failure:  # noqa: BLE001 - a brain may fail in any way, and is recorded
            error = failure
            self._learn_from(failure, context)
        finally:  # also where the session is cut off: what it used, it used
            if span is not None:
                calls, tokens = len(tools.toolbox.calls), tools.usage.tokens
                attributes = {"cadenza.tool_calls": calls, "cadenza.tokens": tokens}
                span.end(attributes, type(error).__name__ if error is not None else None)
            await self._settle(context, tools, reservation)
        session = self._recorder.ended(session_id, context, tools, error)
        self._tell(session, context)
        return session

    def _span(self, context: AnalysisContext, session_id: UUID) -> Span | None:
        if self.tracer is None or not self.tracer.samples(session_id):
            return None
        endpoint = context.endpoint
        attributes = {
            "cadenza.tenant_id": str(endpoint.tenant_id),
            "cadenza.endpoint_id": str(endpoint.id),
            "cadenza.endpoint": endpoint.name,
            "cadenza.session_id": str(session_id),
            "cadenza.brain": kind_of(self.brain.name),
        }
        return self.tracer.trace("session", session_id, attributes)

    def _toolbox(self, context: AnalysisContext, session_id: UUID) -> Toolbox:
        return Toolbox(
            context,
            self.store,
            self.analysis_queue,
            self.clock,
            self.cron,
            session_id=session_id,
            brain=kind_of(self.brain.name),
        )

    async def _think(self, context: AnalysisContext, tools: MeteredTools) -> Usage:
        at_most = self.at_most
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

    async def _settle(
        self, context: AnalysisContext, tools: MeteredTools, reservation: Reservation | None
    ) -> None:
        if tools.meter is not None:
            self._unpaid[tools.meter] = None
            with suppress(StoreUnavailable):  # it is tried again with the next round
                await self.pay()
        if reservation is not None:
            usage = tools.usage
            for warning in await self.quota.settle(reservation, usage.tokens, usage.cost):
                self._emit("quota.warning", context, **asdict(warning))

    def _answered(self, context: AnalysisContext) -> None:
        had_failed = self._breaker.failures > 0
        self._breaker = self._breaker.answered(self.clock.now())
        if had_failed and not self._breaker.failures:
            self._tell_of_provider("provider.back", context, None)

    def _learn_from(self, error: Exception, context: AnalysisContext) -> None:
        if not isinstance(error, ProviderFailed):
            self._answered(context)
            return
        known = self._breaker.failures
        reason = failure_of(error)
        self._breaker = self._breaker.failed(self.clock.now(), reason, error.retry_after)
        if self._breaker.failures > known:
            self._tell_of_provider("provider.away", context, self.refusal)

    def _tell_of_provider(self, kind: str, context: AnalysisContext, reason: str | None) -> None:
        self._emit(kind, context, reason=reason)
        data = {"brain": self.brain.name, "reason": reason}
        self.pending_events.append(PendingEvent(kind, context.job.tenant_id, None, None, data))

    def _tell(self, session: Session, context: AnalysisContext) -> None:
        for call in session.tool_calls:
            if call.took_effect or call.suggested:
                fields = {"tool": call.tool, "arguments": call.arguments, "result": call.result}
                kind = "planner.suggested" if call.suggested else "planner.acted"
                self._emit(kind, context, session_id=str(session.id), **fields)
        if session.is_news_of_failure:
            until = session.next_analysis_at
            self._emit("session.failed", context, reason=session.trouble, next_analysis_at=until)

    def _emit(self, kind: str, context: AnalysisContext, **data: object) -> None:
        if self.events.wants(kind):
            endpoint, now = context.endpoint, self.clock.now()
            ids = (endpoint.tenant_id, endpoint.id, endpoint.name)
            self.events.emit(Event(now, kind, *ids, data))
