"""Numbers and instants out of answers that anything may have written."""

from datetime import UTC, datetime
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


def number_of(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and abs(value) < _HUGE else None


def series_of(case: Case, at_least: int) -> list[Series]:
    """The numbers of the newest answer, where enough of the earlier ones had them too."""
    names = [name for name, value in case.body.items() if number_of(value) is not None]
    if not names:
        return []
    bodies = [fields_of(each) for each in reversed(case.recent) if each.is_well]
    found: list[Series] = []
    for name in names[:MOST_FIELDS]:
        numbers = (number_of(body.get(name)) for body in bodies)
        values = [value for value in numbers if value is not None]
        if len(values) >= at_least:
            found.append(Series(name, values))
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


def middle_and_scale(values: list[float]) -> tuple[float, float]:
    """Median and robust scale; a flat line still has a little, so that nothing divides by 0."""
    middle = median(values)
    spread = _TO_SIGMA * median([abs(value - middle) for value in values])
    return middle, max(spread, 0.02 * abs(middle), 1e-9)


def shown(value: float) -> str:
    return f"{value:.4g}"
