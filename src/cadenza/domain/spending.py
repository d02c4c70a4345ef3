"""Spending: what detectors may use of an endpoint's runs. Speeding up is paid for by relaxing."""

from dataclasses import dataclass
from datetime import timedelta
from math import inf

DAY = timedelta(days=1)
SLOWEST = 2  # times the calm interval, where the day's runs are spent


@dataclass(frozen=True, slots=True)
class Budget:
    """How much the owner lets detectors spend, as a multiple of what the baseline would use."""

    factor: float = 1.0  # at most so many times the baseline's runs within a day
    relax: float = 1.25  # how far a calm endpoint is slowed down, which is what bursts live on

    def of_day(self, pace: timedelta) -> float:
        return self.factor * (DAY / pace)

    def calm(self, pace: timedelta, most: timedelta | None) -> timedelta:
        """The interval of an endpoint that has been well for long: never past its max."""
        wanted = self.relax * pace
        return wanted if most is None else max(min(wanted, most), min(pace, most))


def affordable(
    wanted: timedelta, runs_of_day: int, pace: timedelta, most: timedelta | None, budget: Budget
) -> timedelta:
    """The interval that a day's budget allows: the less of it is left, the longer the wait."""
    left = budget.of_day(pace) - runs_of_day
    if left == inf:
        return wanted
    slowest = SLOWEST * budget.calm(pace, most)
    allowed = min(pace / left, slowest) if left > 0 else slowest
    return max(wanted, allowed if most is None else min(allowed, most))
