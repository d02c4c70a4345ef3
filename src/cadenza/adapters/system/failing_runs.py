"""Runs that fail, in the log of the worker that ran them: the first of a streak, then ever fewer.

A target that is down is called thousands of times a day: its first failure is logged, then the
second, fourth, eighth …, and that it answers again.
"""

from uuid import UUID

import structlog

from cadenza.application.ports.dispatcher import Dispatcher
from cadenza.domain.run import Claim, Outcome

MOST_KNOWN = 10_000  # endpoints that fail now
log = structlog.get_logger()


class LoggingDispatcher:
    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._failures: dict[UUID, int] = {}

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
            log.warning(
                f"{claim.endpoint_name} fails",
                status=str(outcome.status),
                code=outcome.status_code,
                error=outcome.error_kind,
                message=outcome.error_message,
                in_a_row=count,
                endpoint_id=str(claim.endpoint_id),
                run_id=str(claim.run_id),
            )

    def _note_success(self, claim: Claim) -> None:
        count = self._failures.pop(claim.endpoint_id, 0)
        if count:
            log.info(
                f"{claim.endpoint_name} succeeds again",
                after_failures=count,
                endpoint_id=str(claim.endpoint_id),
            )
