"""Runs that fail, in the log of the worker that ran them: the first of a streak, then ever fewer.

A target that is down is called thousands of times a day: its first failure is logged, then the
second, fourth, eighth …, and that it answers again. Where thousands of targets fail at once, so
many lines a second are logged and the others counted.
"""

from collections.abc import Callable
from time import monotonic
from uuid import UUID

import structlog

from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.domain.run import Claim, Outcome

MOST_KNOWN = 10_000  # endpoints that fail now
MOST_LINES = 20  # a second
log = structlog.get_logger()


class LoggingDispatcher:
    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._failures: dict[UUID, int] = {}
        self._lines = Lines()

    async def dispatch(self, claim: Claim) -> Outcome:
        outcome = await self._dispatcher.dispatch(claim)
        if outcome.failed:
            self._note_failure(claim, outcome)
        elif self._failures:
            self._note_success(claim)
        return outcome

    def _note_failure(self, claim: Claim, outcome: Outcome) -> None:
        count = self._failures.pop(claim.endpoint_id, 0) + 1
        if len(self._failures) >= MOST_KNOWN:
            del self._failures[next(iter(self._failures))]
        self._failures[claim.endpoint_id] = count
        if count & (count - 1) == 0:  # a power of two
            self._lines.write(
                log.warning,
                "run failed",
                endpoint=claim.endpoint_name,
                status=str(outcome.status),
                code=outcome.status_code,
                error=outcome.error_kind,
                message=outcome.error_message,
                in_a_row=count,
                **_ids(claim),
            )

    def _note_success(self, claim: Claim) -> None:
        count = self._failures.pop(claim.endpoint_id, 0)
        if count:
            fields = {"endpoint": claim.endpoint_name, "after_failures": count}
            self._lines.write(log.info, "run succeeded again", **fields, **_ids(claim))


def _ids(claim: Claim) -> dict[str, str]:
    return {
        "tenant_id": str(claim.tenant_id),
        "endpoint_id": str(claim.endpoint_id),
        "run_id": str(claim.run_id),
    }


class Lines:
    """So many in a second; how many more there would have been is said with the next one."""

    def __init__(self, time: Callable[[], float] = monotonic) -> None:
        self._time = time
        self._second = 0
        self._written = 0
        self._left_out = 0

    def write(self, write: Callable[..., object], event: str, **fields: object) -> None:
        second = int(self._time())
        if second != self._second:
            self._second, self._written = second, 0
        if self._written >= MOST_LINES:
            self._left_out += 1
            return
        if self._left_out:
            fields, self._left_out = {**fields, "lines_left_out": self._left_out}, 0
        self._written += 1
        write(event, **fields)
