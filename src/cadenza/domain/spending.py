"""Spending: what detectors may use of an endpoint's runs. Speeding up is paid for by relaxing."""

from dataclasses import dataclass
from datetime import timedelta
from math import inf

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Budget:
    """How much the owner lets detectors spend, as a multiple of what the baseline would use."""

    factor: float = 1.0  # at most so many times the baseline's runs within a day
    relax: float = 1.25  # how far a calm endpoint is slowed down, which pays for bursts

    def left(self, pace: timedelta, runs_of_day: int, age: timedelta) -> float:
        """What is left of a day's runs; an endpoint younger than a day has only a part of them."""
        return self.factor * (min(age, DAY) / pace) - runs_of_day - 1  # one is planned already

    def calm(self, pace: timedelta, most: timedelta | None) -> timedelta:
        """The interval of an endpoint that has been well for long: never past its max."""
        wanted = self.relax * pace
        return wanted if most is None else max(min(wanted, most), min(pace, most))


def affordable(
    wanted: timedelta, left: float, pace: timedelta, most: timedelta | None, budget: Budget
) -> timedelta:
    """The interval that a day's budget allows: the less of it is left, the longer the wait."""
    if left == inf:
        return wanted
    slowest = 2 * budget.calm(pace, most)  # where the day's runs are spent
    allowed = pace / left if left * slowest > pace else slowest
    return max(wanted, allowed if most is None else min(allowed, most))
