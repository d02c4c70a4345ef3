"""The trace of a run: claimed, held until its slot, dispatched, stored.

run                claim to store, linked to the claim and to the batch that stored it
  ├ hold           until its slot has come
  ├ dispatch       what its target saw: its `traceparent` is sent along
  └ store          waiting for company, and the transaction of the batch
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar
from uuid import UUID

from cadenza.application.ports.claims import (
    ClaimBatch,
    ClaimRequest,
    FinishReport,
    ObservedClaim,
    ObservedFinish,
    Renewal,
    RunQueue,
)
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.events import Event, Events
from cadenza.application.ports.tracing import Attributes, Span, Tracer
from cadenza.application.worker import Work
from cadenza.domain.instants import iso
from cadenza.domain.run import Claim, Outcome

C = TypeVar("C", bound=ObservedClaim)
F = TypeVar("F", bound=ObservedFinish)
BAD_ENDS = frozenset({"failure", "timeout", "error", "cancelled"})


@dataclass(slots=True)
class RunTrace:
    epoch: int
    run: Span
    phase: Span  # hold, then dispatch, then store


class RunTraces:
    """Of the runs that this program has in hand and that are sampled."""

    def __init__(self, tracer: Tracer) -> None:
        self.tracer = tracer
        self._traces: dict[UUID, RunTrace] = {}

    def __bool__(self) -> bool:
        return bool(self._traces)

    def get(self, run_id: UUID) -> RunTrace | None:
        return self._traces.get(run_id) if self._traces else None

    def begin(self, claims: Sequence[ObservedClaim], began: int) -> None:
        samples = self.tracer.samples
        sampled = [claim for claim in claims if samples(claim.run_id)]
        if not sampled:
            return
        batch = self.tracer.batch("claim", {"cadenza.batch": len(claims)}, began)
        batch.end()
        for claim in sampled:
            self.drop(claim.run_id, "claimed again")
            run = self.tracer.trace("run", claim.run_id, attributes_of(claim), began)
            run.link(batch)
            hold = self.tracer.span("hold", run, {})
            self._traces[claim.run_id] = RunTrace(claim.epoch, run, hold)

    def next_phase(self, trace: RunTrace, name: str, before: Attributes | None = None) -> Span:
        trace.phase.end(before)
        trace.phase = self.tracer.span(name, trace.run, {})
        return trace.phase

    def drop(self, run_id: UUID, error: str) -> None:
        trace = self._traces.pop(run_id, None)
        if trace is not None:
            trace.phase.end()
            trace.run.end(error=error)

    def store(
        self, finished: Sequence[ObservedFinish], fenced: frozenset[UUID], began: int
    ) -> None:
        traced = [
            (run, trace)
            for run in finished
            if (trace := self._traces.get(run.claim.run_id)) is not None
            and trace.epoch == run.claim.epoch
        ]
        if not traced:
            return
        attributes = {"cadenza.batch": len(finished), "cadenza.fenced": len(fenced)}
        batch = self.tracer.batch("finish", attributes, began)
        batch.end()
        for run, trace in traced:
            del self._traces[run.claim.run_id]
            trace.phase.end()
            trace.run.link(batch)
            is_fenced = run.claim.run_id in fenced
            error = "fenced: its lease was lost" if is_fenced else _bad_end(run)
            trace.run.end({"cadenza.outcome": str(run.status)}, error)


def attributes_of(claim: ObservedClaim) -> Attributes:
    return {
        "cadenza.tenant_id": str(claim.tenant_id),
        "cadenza.endpoint_id": str(claim.subject_id),
        "cadenza.endpoint": claim.subject_name,
        "cadenza.run_id": str(claim.run_id),
        "cadenza.slot_at": iso(claim.slot_at),
        "cadenza.source": str(claim.source),
        "cadenza.attempt": claim.attempt,
    }


def _bad_end(run: ObservedFinish) -> str | None:
    return str(run.status) if run.status in BAD_ENDS else None


class TracedRuns(Generic[C, F]):
    """A RunQueue that begins and ends the traces of its runs."""

    def __init__(self, queue: RunQueue[C, F], traces: RunTraces) -> None:
        self._queue = queue
        self._traces = traces

    async def claim_due(self, request: ClaimRequest) -> ClaimBatch[C]:
        began = self._traces.tracer.moment()
        batch = await self._queue.claim_due(request)
        self._traces.begin(batch.claims, began)
        return batch

    async def claim_lost(self, request: ClaimRequest) -> Sequence[C]:
        began = self._traces.tracer.moment()
        claims = await self._queue.claim_lost(request)
        self._traces.begin(claims, began)
        return claims

    async def renew(self, claims: Sequence[C], lease: timedelta) -> Renewal:
        return await self._queue.renew(claims, lease)

    async def finish(self, finished: Sequence[F]) -> FinishReport:
        began = self._traces.tracer.moment()
        report = await self._queue.finish(finished)
        if self._traces:
            self._traces.store(finished, report.late, began)
        return report

    async def give_back(self, claims: Sequence[C]) -> None:
        await self._queue.give_back(claims)
        for claim in claims:
            self._traces.drop(claim.run_id, "given back: it was not sent")


class TracedDispatcher:
    def __init__(self, dispatcher: Dispatcher, traces: RunTraces) -> None:
        self._dispatcher = dispatcher
        self._traces = traces

    async def dispatch(self, claim: Claim) -> Outcome:
        trace = self._traces.get(claim.run_id)
        if trace is None:
            return await self._dispatcher.dispatch(claim)
        attributes: dict[str, str | int] = {}
        try:
            with self._traces.next_phase(trace, "dispatch").active():
                outcome = await self._dispatcher.dispatch(claim)
            attributes = _attributes(outcome)
            return outcome
        finally:
            self._traces.next_phase(trace, "store", attributes)


def _attributes(outcome: Outcome) -> dict[str, str | int]:
    """Not its message, which may quote what a target answered."""
    attributes = {
        "http.response.status_code": outcome.status_code,
        "error.type": outcome.error_kind,
        "cadenza.outcome": str(outcome.status),
    }
    return {name: value for name, value in attributes.items() if value is not None}


class TracedWork(Generic[C, F]):
    """The same for work that is no dispatch."""

    def __init__(self, work: Work[C, F], traces: RunTraces) -> None:
        self._work = work
        self._traces = traces
        self.lost = work.lost
        self.stopped = work.stopped
        self.broken = work.broken
        self.unfit = work.unfit

    async def execute(self, claim: C, started_at: datetime) -> F:
        trace = self._traces.get(claim.run_id)
        if trace is None:
            return await self._work.execute(claim, started_at)
        try:
            with self._traces.next_phase(trace, "dispatch").active():
                return await self._work.execute(claim, started_at)
        finally:
            self._traces.next_phase(trace, "store")


class TracedEvents:
    """Runs whose lease is lost are never stored here: their traces end with the word of it."""

    def __init__(self, events: Events, traces: RunTraces) -> None:
        self._events = events
        self._traces = traces

    def wants(self, kind: str) -> bool:
        return kind == "run.lease_lost" or self._events.wants(kind)

    def emit(self, event: Event) -> None:
        if event.kind == "run.lease_lost":
            self._traces.drop(UUID(event.data["run_id"]), "lease lost")
        if self._events.wants(event.kind):
            self._events.emit(event)
