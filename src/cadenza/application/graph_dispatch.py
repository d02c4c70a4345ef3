"""Graphs as targets of endpoints: the output is the response body."""

from collections.abc import Mapping
from typing import Any

from cadenza.application.graph_runs import GraphRuns, StartQueue, StartRefused, Starts
from cadenza.application.ports.clock import Clock
from cadenza.application.response_bodies import within_cap
from cadenza.domain.graph import ErrorCode, EventKind, GraphResult
from cadenza.domain.run import Claim, Outcome, RunStatus

MAX_LINES = 2_000  # characters of what the graph printed last
WAITS = (
    "the graph asks a person and would wait for the answer, which an endpoint's run cannot; "
    "give it a schedule, or let it return its question"
)


class GraphDispatcher:
    def __init__(self, queue: StartQueue[Claim], graphs: GraphRuns, clock: Clock) -> None:
        self._starts = Starts(queue, clock)
        self._graphs = graphs

    async def dispatch(self, claim: Claim) -> Outcome:
        try:
            result = await self._graphs.run(
                claim.request, lambda: self._starts.start(claim), _unheard
            )
        except StartRefused as refused:
            return Outcome(RunStatus.FAILURE, refused.why, refused.message)
        return outcome_of(result)


def _unheard(_kind: EventKind, _data: Mapping[str, Any]) -> None:
    """Drops events: only scheduled runs store them."""


def outcome_of(result: GraphResult) -> Outcome:
    if result.question is not None:
        return Outcome(
            RunStatus.FAILURE, "interrupted", WAITS, body=within_cap({"question": result.question})
        )
    if result.error is None:
        return Outcome(RunStatus.SUCCESS, body=within_cap(result.output))
    is_timeout = result.error is ErrorCode.TIMEOUT
    status = RunStatus.TIMEOUT if is_timeout else RunStatus.FAILURE
    return Outcome(status, result.error, _message(result))


def _message(result: GraphResult) -> str:
    lines = result.last_lines.strip()[-MAX_LINES:]
    message = result.message or f"the graph ended with {result.error}"
    return f"{message}\n{lines}" if lines else message
