"""Results that are reported to us: a run waits for whoever does its work to say how it went.

Each attempt sends a token of its own along. The first report of a run counts, whichever attempt's
token it carries: a worker that was lost does not make the work undone that it had sent. The same
report again changes nothing, another one is refused, and so is one for a run that has ended.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hmac import compare_digest
from uuid import UUID

from cadenza.domain.errors import NotFound, Refused
from cadenza.domain.run import Body, Outcome, RunStatus
from cadenza.domain.value import value

MAX_RESULT = 64 * 1024  # bytes of its body, as JSON
MAX_MESSAGE = 2000
UNKNOWN = "no run waits for a result with this token"


@value
class Report:
    status: RunStatus  # success or failure
    body: Body = None
    message: str | None = None

    @property
    def outcome(self) -> Outcome:
        if self.status is RunStatus.SUCCESS:
            return Outcome(RunStatus.SUCCESS, body=self.body)
        message = self.message or "a failure was reported"
        return Outcome(RunStatus.FAILURE, "reported", message, body=self.body)


@dataclass(frozen=True, slots=True)
class AwaitedResult:
    """That of one attempt."""

    run_id: UUID
    attempt: int
    tenant_id: UUID
    endpoint_id: UUID
    token_hash: bytes
    closed_at: datetime | None = None
    report: Report | None = None


def reported(attempts: Sequence[AwaitedResult]) -> Report | None:
    """What was said of the run, with whichever token."""
    return next((one.report for one in attempts if one.report is not None), None)


def accepted(
    attempts: Sequence[AwaitedResult], token_hash: bytes, report: Report, *, is_running: bool
) -> AwaitedResult | None:
    """The attempt that a report is for; None where the same was said before."""
    matches = [one for one in attempts if compare_digest(one.token_hash, token_hash)]
    if not matches:
        raise NotFound(UNKNOWN)
    before = reported(attempts)
    if before == report:
        return None
    if before is not None:
        raise Refused("another result was reported for this run, and that one counts")
    if not is_running or any(one.closed_at is not None for one in attempts):
        raise Refused("the run has ended, and no longer waits for a result")
    return matches[0]
