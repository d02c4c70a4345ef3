"""Numbers and instants out of answers that anything may have written."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import isfinite
from statistics import median
from typing import Any, NamedTuple

from cadenza.domain.detectors.case import Case, fields_of

MOST_FIELDS = 8  # an answer with a thousand numbers must not cost a thousand analyses
_HUGE = 1e300
_TO_SIGMA = 1.4826  # the median distance of a normal distribution, as its standard deviation


class Series(NamedTuple):
    """One number of the answers over time, oldest first."""

    name: str
    values: list[float]
    gaps: list[timedelta]  # how long after the one before it each was seen


def number_of(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and abs(value) < _HUGE else None


def series_of(case: Case, at_least: int) -> list[Series]:
    """The numbers of the newest answer, where enough of the earlier ones had them too."""
    names = [name for name, value in case.body.items() if number_of(value) is not None]
    if not names:
        return []
    answers = [each for each in reversed(case.recent) if each.is_well]
    gaps = [timedelta.max, *(b.slot_at - a.slot_at for a, b in pairwise(answers))]
    bodies = [fields_of(each) for each in answers]
    found: list[Series] = []
    for name in names[:MOST_FIELDS]:
        numbers = [number_of(body.get(name)) for body in bodies]
        points = [
            (value, gap) for value, gap in zip(numbers, gaps, strict=True) if value is not None
        ]
        if len(points) >= at_least:
            found.append(Series(name, [value for value, _ in points], [gap for _, gap in points]))
    return found


def instant_of(value: Any) -> datetime | None:
    """An ISO-8601 instant with a zone; anything else is no instant."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        instant = datetime.fromisoformat(value)
        return None if instant.tzinfo is None else instant.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


class Usual(NamedTuple):
    """Where a number usually is: a band that most of it lies in, and how far it strays."""

    low: float
    middle: float
    high: float
    scale: float

    def beyond(self, value: float) -> float:
        """How many scales above the band, or (negative) below it; 0 inside."""
        edge = min(max(value, self.low), self.high)
        return (value - edge) / self.scale


def usual(values: list[float]) -> Usual:
    """The middle eighty per cent, so that neither one spike nor yesterday's noon is news."""
    ordered = sorted(values)
    middle = median(ordered)
    cut = len(ordered) // 10
    low, high = ordered[cut], ordered[-1 - cut]
    spread = _TO_SIGMA * median([abs(value - middle) for value in ordered])
    scale = max(spread, (high - low) / 6, 0.01 * abs(middle), 1e-9)  # a flat line strays a little
    return Usual(low, middle, high, scale)


def shown(value: float) -> str:
    return f"{value:.4g}"
