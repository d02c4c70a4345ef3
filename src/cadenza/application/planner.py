"""The planner worker: finds who needs a look, lets a brain think, and keeps the record.

It never touches leases or runs. Whatever happens in a session, the scheduler goes on: the worst a
brain can do is what the tools allow, and a session that fails leaves the baseline as it was.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from cadenza.application.ports.brain import Brain, Usage
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.endpoints import EndpointStore
from cadenza.application.ports.events import Event, Events
from cadenza.application.ports.insights import Insights
from cadenza.application.ports.quota import Quota, Reservation
from cadenza.application.shown_text import clean_text
from cadenza.application.tools import Toolbox
from cadenza.application.waiting import until_set
from cadenza.domain.analysis import Material
from cadenza.domain.bounds import MAX_PAUSE
from cadenza.domain.errors import StoreUnavailable
from cadenza.domain.session import Session, SessionEnd


@dataclass(frozen=True, slots=True)
class PlannerOptions:
    cycle: timedelta = timedelta(minutes=5)
    sessions_at_once: int = 8
    batch: int = 200
    max_pause: timedelta = MAX_PAUSE
    retry_store_after: timedelta = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Round:
    """What one pass over the endpoints came to."""

    sessions: int = 0
    acted: int = 0
    over_quota: int = 0


class Planner:
    def __init__(
        self,
        brain: Brain,
        endpoints: EndpointStore,
        insights: Insights,
        quota: Quota,
        clock: Clock,
        events: Events,
        new_id: Callable[[], UUID],
        options: PlannerOptions | None = None,
    ) -> None:
        self._brain = brain
        self._endpoints = endpoints
        self._insights = insights
        self._quota = quota
        self._clock = clock
        self._events = events
        self._new_id = new_id
        self._options = options or PlannerOptions()
        self._over_quota: dict[UUID, datetime] = {}  # tenants, and when to ask for them again
        self._wake = asyncio.Event()
        self._stopping = False

    async def run(self) -> None:
        """Look whenever runs have finished, and once a cycle in any case, until stopped."""
        while not self._stopping:
            try:
                found = (await self.run_once()).sessions
            except StoreUnavailable:
                await self._clock.sleep(self._options.retry_store_after)
                continue
            if found < self._options.batch:
                await until_set(self._wake, at_most=self._options.cycle)
            self._wake.clear()

    def wake(self) -> None:
        self._wake.set()

    def stop(self) -> None:
        self._stopping = True
        self._wake.set()

    async def run_once(self) -> Round:
        """Analyse every endpoint that needs a look now, several at once."""
        ids = await self._insights.find_for_analysis(
            self._brain.attention, self._options.batch, self._tenants_to_pass_over()
        )
        if not ids:
            return Round()
        gate = asyncio.Semaphore(self._options.sessions_at_once)

        async def within_gate(material: Material) -> Session | None:
            async with gate:
                return await self.analyse(material)

        materials = await self._insights.material_for(ids)
        ends = await asyncio.gather(
            *(within_gate(each) for each in materials), return_exceptions=True
        )
        # One that found the store away ends this round, but only when the others have ended too.
        sessions = [_raised_or(end) for end in ends]
        held = [session for session in sessions if session is not None]
        acted = sum(any(call.took_effect for call in session.tool_calls) for session in held)
        return Round(len(held), acted, len(sessions) - len(held))

    def _tenants_to_pass_over(self) -> frozenset[UUID]:
        """Those that were over their quota a moment ago; they must not hide the others."""
        now = self._clock.now()
        return frozenset(tenant for tenant, until_at in self._over_quota.items() if until_at > now)

    async def analyse(self, material: Material) -> Session | None:
        """One session; None where the tenant's quota does not allow it."""
        reservation = None
        if self._brain.reserved_tokens:
            tenant_id = material.endpoint.tenant_id
            reservation = await self._quota.reserve(tenant_id, self._brain.reserved_tokens)
            if reservation is None:
                self._over_quota[tenant_id] = self._clock.now() + self._options.cycle
                self._emit("session.over_quota", material)
                return None
        return await self._hold_session(material, reservation)

    async def _hold_session(self, material: Material, reservation: Reservation | None) -> Session:
        tools = Toolbox(
            material, self._endpoints, self._insights, self._clock, self._options.max_pause
        )
        usage, warnings = Usage(), ()
        try:
            usage = await self._brain.analyse(material, tools)
        except StoreUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a brain may fail in any way, and is recorded
            said = clean_text(f"{type(error).__name__}: {error}"[:500])
            warnings = (f"the brain failed: {said}",)
        finally:
            if reservation is not None:
                await self._quota.settle(reservation, usage.tokens)
        session = self._session(material, tools, usage, warnings)
        await self._insights.record_look(session)
        self._tell(material, session)
        return session

    def _session(
        self, material: Material, tools: Toolbox, usage: Usage, warnings: tuple[str, ...]
    ) -> Session:
        submission = tools.submission
        return Session(
            id=self._new_id(),
            tenant_id=material.endpoint.tenant_id,
            job_id=material.endpoint.job_id,
            endpoint_id=material.endpoint.id,
            brain=self._brain.name,
            started_at=material.now,
            duration=self._clock.now() - material.now,
            end=_ending(tools, failed=bool(warnings)),
            tool_calls=tuple(tools.calls),
            reasoning=submission.reasoning if submission else "",
            confidence=submission.confidence if submission else None,
            tokens=usage.tokens,
            cost=usage.cost,
            warnings=warnings,
            next_analysis_at=submission.next_analysis_at if submission else None,
        )

    def _tell(self, material: Material, session: Session) -> None:
        for call in session.tool_calls:
            if call.took_effect:
                said = {"tool": call.tool, "arguments": call.arguments, "result": call.result}
                self._emit("planner.acted", material, **said)

    def _emit(self, kind: str, material: Material, **data: object) -> None:
        if not self._events.wants(kind):
            return
        endpoint = material.endpoint
        now: datetime = self._clock.now()
        self._events.emit(Event(now, kind, endpoint.tenant_id, endpoint.id, endpoint.name, data))


def _raised_or(end: Session | BaseException | None) -> Session | None:
    if isinstance(end, BaseException):
        raise end
    return end


def _ending(tools: Toolbox, *, failed: bool) -> SessionEnd:
    if failed:
        return SessionEnd.FAILED
    if tools.submission is not None:
        return SessionEnd.SUBMITTED
    return SessionEnd.OUT_OF_CALLS if tools.out_of_calls else SessionEnd.UNFINISHED
