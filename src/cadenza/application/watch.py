"""Who watches a program: metrics, traces, both or nobody."""

from dataclasses import dataclass
from typing import TypeVar

from cadenza.application.observing import CountedEvents, CountedRuns
from cadenza.application.ports.claims import ObservedClaim, ObservedFinish, RunQueue
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.events import Events
from cadenza.application.ports.telemetry import NO_TELEMETRY, Telemetry
from cadenza.application.ports.tracing import Tracer
from cadenza.application.tracing import (
    RunTraces,
    TracedDispatcher,
    TracedEvents,
    TracedRuns,
    TracedWork,
)
from cadenza.application.worker import Work

C = TypeVar("C", bound=ObservedClaim)
F = TypeVar("F", bound=ObservedFinish)


@dataclass(frozen=True, slots=True)
class Watch:
    """Wraps what a worker works with; where nobody watches, it gives back the very same."""

    telemetry: Telemetry | None = None
    traces: RunTraces | None = None

    def runs(self, queue: RunQueue[C, F]) -> RunQueue[C, F]:
        if self.telemetry is not None:
            queue = CountedRuns(queue, self.telemetry)
        return queue if self.traces is None else TracedRuns(queue, self.traces)

    def dispatcher(self, dispatcher: Dispatcher) -> Dispatcher:
        return dispatcher if self.traces is None else TracedDispatcher(dispatcher, self.traces)

    def work(self, work: Work[C, F]) -> Work[C, F]:
        return work if self.traces is None else TracedWork(work, self.traces)

    def events(self, events: Events) -> Events:
        if self.telemetry is not None:
            events = CountedEvents(events, self.telemetry)
        return events if self.traces is None else TracedEvents(events, self.traces)

    @property
    def counts(self) -> Telemetry:
        return self.telemetry or NO_TELEMETRY

    @property
    def tracer(self) -> Tracer | None:
        return None if self.traces is None else self.traces.tracer


UNWATCHED = Watch()
