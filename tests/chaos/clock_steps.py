"""A database's clock that was set, as the harness did it, for witnesses that have another clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

BACK = -1.0  # seconds: what was set back by more may begin anew (docs/decisions/0009)
CLAIM_TAKES = 5.0  # seconds at most: one that is under way at a step has the time of before


@dataclass(frozen=True, slots=True)
class ClockStep:
    began: float  # by a clock that is never set
    ended: float
    by: float

    @property
    def is_back(self) -> bool:
        return self.by < BACK


def offset_after(steps: Sequence[ClockStep], count: int) -> float:
    return sum(step.by for step in steps[:count])


def time_at(steps: Sequence[ClockStep], moment: float) -> datetime:
    """What the database's clock said then."""
    count = sum(step.began <= moment for step in steps)
    return datetime.fromtimestamp(moment + offset_after(steps, count), UTC)


def steps_before(steps: Sequence[ClockStep], claimed_at: datetime, moment: float) -> int:
    """How many there had been for a claim that was seen at that moment, by the time it bears."""
    count = sum(step.began <= moment for step in steps)
    told = claimed_at.timestamp() - moment
    while count and moment - steps[count - 1].ended < CLAIM_TAKES:
        after, before = offset_after(steps, count), offset_after(steps, count - 1)
        if abs(told - after) <= abs(told - before):
            break
        count -= 1
    return count
