"""Which endpoints a planner asks for, and the result of one round."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from cadenza.domain.session import Session

# A finish takes its time when it begins, and others see it when it has ended.
LATE_COMMITS = timedelta(seconds=3)


@dataclass(frozen=True, slots=True)
class Round:
    """The result of one round over the endpoints."""

    sessions: int = 0
    acted: int = 0
    over_quota: int = 0
    put_off: int = 0  # the provider is failing
    suggested: int = 0  # sessions with something for a person to accept
    unpaid: int = 0


class Skipped(StrEnum):
    OVER_QUOTA = "over-quota"
    UNPAID = "unpaid"  # the account that would pay cannot
    PUT_OFF = "put-off"
    TOO_LATE = "too-late"  # its lease might not last as long as a session


@dataclass(slots=True)
class Discovery:
    """How far back a planner looks: everything at first and once a cycle, in between only what has
    changed since the last round that saw everything."""

    cycle: timedelta
    has_more: bool = False
    _known_at: datetime | None = None
    _read_all_at: datetime | None = None
    _reads_all: bool = True

    def since(self, now: datetime) -> datetime | None:
        known_at, all_at = self._known_at, self._read_all_at
        self._reads_all = known_at is None or all_at is None or now >= all_at + self.cycle
        return None if self._reads_all or known_at is None else known_at - LATE_COMMITS

    def claimed(self, began: datetime, count: int, limit: int) -> None:
        self.has_more = count >= limit
        if self.has_more:
            return
        self._known_at = began
        if self._reads_all:
            self._read_all_at = began

    def start_over(self) -> None:
        self._known_at = None


def round_of(ended: Sequence[Session | Skipped]) -> Round:
    held = [session for session in ended if isinstance(session, Session)]
    return Round(
        sessions=len(held),
        acted=sum(any(call.took_effect for call in session.tool_calls) for session in held),
        over_quota=ended.count(Skipped.OVER_QUOTA),
        put_off=ended.count(Skipped.PUT_OFF),
        suggested=sum(any(call.suggested for call in session.tool_calls) for session in held),
        unpaid=ended.count(Skipped.UNPAID),
    )
