"""Setting a policy's free parameter, so that it probes as often as the fixed interval does."""

from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log
from typing import Generic, TypeVar

T = TypeVar("T")
WITHIN = 0.008
MOST_TRIES = 12
FINEST = 1.0005  # between too few and too many: nothing is left to try


@dataclass(frozen=True, slots=True)
class Calibrated(Generic[T]):
    parameter: float
    ratio: float  # of its probes to those of the fixed interval
    result: T


def calibrate(
    attempt: Callable[[float], tuple[int, T]], target: int, start: float, most: float = 16.0
) -> Calibrated[T]:
    """More calm, fewer probes: a secant in logarithms, between too few and too many."""
    low, high = 1 / most, most
    parameter, previous = start, None
    best: Calibrated[T] | None = None
    for _ in range(MOST_TRIES):
        count, result = attempt(parameter)
        ratio = count / max(1, target)
        if best is None or abs(ratio - 1) < abs(best.ratio - 1):
            best = Calibrated(parameter, ratio, result)
        if abs(ratio - 1) <= WITHIN or high / low < FINEST:
            break
        low, high = (parameter, high) if ratio > 1 else (low, parameter)
        point = (log(parameter), log(max(ratio, 1e-9)))
        following = exp(point[0] - point[1] / _slope(previous, point))
        previous = point
        parameter = following if low < following < high else (low * high) ** 0.5
    assert best is not None
    return best


def _slope(previous: tuple[float, float] | None, point: tuple[float, float]) -> float:
    if previous is None or abs(previous[0] - point[0]) < 1e-12:
        return -1.0
    return min(-0.05, (point[1] - previous[1]) / (point[0] - previous[0]))
