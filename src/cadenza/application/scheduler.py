"""The scheduler: a worker that calls the targets of endpoints."""

from dataclasses import replace
from datetime import datetime

from cadenza.application.executions import Load
from cadenza.application.ports.claims import RunQueue
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.application.ports.events import Events
from cadenza.application.results import SchedulerOptions
from cadenza.application.worker import Worker
from cadenza.domain.run import WORKER_LOST, Claim, FinishedRun, Outcome, RunStatus

__all__ = ["Scheduler", "SchedulerOptions"]

STOPPED = Outcome(RunStatus.CANCELLED, "worker_stopped", "the worker was stopped during the run")


class Scheduler(Worker[Claim, FinishedRun]):
    def __init__(
        self,
        worker: str,
        queue: RunQueue[Claim, FinishedRun],
        dispatcher: Dispatcher,
        clock: Clock,
        events: Events,
        options: SchedulerOptions | None = None,
        load: Load | None = None,
    ) -> None:
        work = Dispatch(dispatcher, clock)
        super().__init__(worker, queue, work, clock, events, options, load)


class Dispatch:
    """The work of a scheduler."""

    def __init__(self, dispatcher: Dispatcher, clock: Clock) -> None:
        self._dispatcher = dispatcher
        self._clock = clock

    async def execute(self, claim: Claim, started_at: datetime) -> FinishedRun:
        outcome = await self._dispatcher.dispatch(claim)
        return FinishedRun(claim, outcome, started_at, self._clock.now())

    def lost(self, claim: Claim) -> FinishedRun:
        return FinishedRun(claim, WORKER_LOST, claim.started_at, self._clock.now())

    def stopped(self, claim: Claim, started_at: datetime) -> FinishedRun:
        return FinishedRun(claim, STOPPED, started_at, self._clock.now())

    def broken(self, claim: Claim, started_at: datetime, error: str) -> FinishedRun:
        outcome = Outcome(RunStatus.FAILURE, "internal", error)
        return FinishedRun(claim, outcome, started_at, self._clock.now())

    def unfit(self, finished: FinishedRun, why: str) -> FinishedRun:
        return replace(finished, outcome=Outcome(RunStatus.FAILURE, "internal", why))
