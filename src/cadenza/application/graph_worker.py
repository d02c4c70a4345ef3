"""The graph worker: runs graphs at their slots, under a grant."""

from dataclasses import replace
from datetime import datetime

from cadenza.application.graph_runs import GraphRuns, StartRefused, Starts
from cadenza.application.ports.clock import Clock
from cadenza.application.ports.store import Store
from cadenza.application.run_recorder import RunRecorder
from cadenza.application.slots import ClaimedSlots
from cadenza.application.worker import Worker
from cadenza.domain.grant import GrantRefusal
from cadenza.domain.graph import ErrorCode, GraphResult
from cadenza.domain.slot import FinishedSlot, SlotClaim, SlotStatus

LOST = "the worker was lost during the run; it is not started again"
STOPPED = "the worker was stopped during the run"

GraphWorker = Worker[SlotClaim, FinishedSlot]


class GraphWork:
    def __init__(self, queue: ClaimedSlots, graphs: GraphRuns, store: Store, clock: Clock) -> None:
        self._starts = Starts(queue, clock)
        self._graphs = graphs
        self._store = store
        self._clock = clock

    async def execute(self, claim: SlotClaim, started_at: datetime) -> FinishedSlot:
        recorder = RunRecorder(claim, self._clock, self._store)
        try:
            result = await self._graphs.run(
                claim.request, lambda: self._starts.start(claim), recorder.add
            )
        except StartRefused as refused:
            return self._refused(claim, refused)
        status = _status_of(result)
        return self._finished(claim, status, result, started_at, events=await recorder.end())

    # --- Ends -----------------------------------------------------------------------------

    def _refused(self, claim: SlotClaim, refused: StartRefused) -> FinishedSlot:
        if isinstance(refused.why, GrantRefusal):
            result = GraphResult(message=refused.message)
            return self._finished(claim, SlotStatus.SKIPPED, result, None, reason=refused.why)
        result = GraphResult(error=refused.why, message=refused.message)
        return self._finished(claim, SlotStatus.ERROR, result, None)

    def lost(self, claim: SlotClaim) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.WORKER_LOST, message=LOST)
        return self._finished(claim, SlotStatus.ERROR, result, None)

    def stopped(self, claim: SlotClaim, started_at: datetime) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.ABORTED, message=STOPPED)
        return self._finished(claim, SlotStatus.ERROR, result, started_at)

    def broken(self, claim: SlotClaim, started_at: datetime, error: str) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.INTERNAL, message=error)
        return self._finished(claim, SlotStatus.ERROR, result, started_at)

    def unfit(self, finished: FinishedSlot, why: str) -> FinishedSlot:
        result = GraphResult(error=ErrorCode.INTERNAL, message=why)
        return replace(finished, status=SlotStatus.ERROR, result=result, events=())

    def _finished(
        self,
        claim: SlotClaim,
        status: SlotStatus,
        result: GraphResult,
        started_at: datetime | None,
        **fields: object,
    ) -> FinishedSlot:
        finished = FinishedSlot(claim, status, result, started_at, self._clock.now())
        return replace(finished, **fields)


def _status_of(result: GraphResult) -> SlotStatus:
    if result.error is not None:
        return SlotStatus.ERROR
    return SlotStatus.WAITING if result.question is not None else SlotStatus.SUCCESS
