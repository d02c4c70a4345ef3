"""Numbers and instants in answers, which may hold anything.

Every analysis of every endpoint reads its answers here, so this is written to be fast.
"""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import isnan
from operator import itemgetter
from statistics import median
from typing import Any, NamedTuple

from cadenza.domain.analysis import Response
from cadenza.domain.run import RunStatus

MOST_FIELDS = 8  # an answer with a thousand numbers must not cost a thousand analyses
_NUMBERS = (int, float)  # by type: true and false are no numbers here
_NO_FIELDS: dict[str, Any] = {}
_ONLY_NUMBERS = frozenset(_NUMBERS)
_HUGE = 1e300
_WELL = RunStatus.SUCCESS  # looking up an enum is slow
_TO_SIGMA = 1.4826  # the median distance of a normal distribution, as its standard deviation


class Series(NamedTuple):
    """One number of the answers over time, oldest first."""

    name: str
    values: list[float]
    times: list[datetime]
    low: float
    high: float


def fields_of(response: Response) -> dict[str, Any]:
    body = response.body
    return body if isinstance(body, dict) else {}


def number_of(value: Any) -> float | None:
    # Neither infinity nor NaN lies between the two.
    return value if type(value) in _NUMBERS and -_HUGE < value < _HUGE else None


def series_of(recent: Sequence[Response]) -> list[Series]:
    """The numbers of the newest answer that have ever moved, with all their values."""
    names = [name for name, value in fields_of(recent[0]).items() if number_of(value) is not None]
    if not names:
        return []
    answers = [response for response in reversed(recent) if response.status is _WELL]
    if not answers:
        return []
    times = [response.slot_at for response in answers]
    columns = _columns(names[:MOST_FIELDS], answers)
    candidates = (_series(name, column, times) for name, column in columns)
    return [series for series in candidates if series is not None]


def _columns(names: list[str], answers: list[Response]) -> Iterable[tuple[str, Sequence[Any]]]:
    """The values of each name in all answers. Nearly always all have all: then in one go."""
    bodies = [body if isinstance(body := answer.body, dict) else _NO_FIELDS for answer in answers]
    try:
        if len(names) == 1:
            return [(names[0], list(map(itemgetter(*names), bodies)))]
        return zip(names, zip(*map(itemgetter(*names), bodies), strict=True), strict=True)
    except KeyError:
        return [(name, [body.get(name) for body in bodies]) for name in names]


def _series(name: str, column: Sequence[Any], times: list[datetime]) -> Series | None:
    """None where it has never moved."""
    if _ONLY_NUMBERS.issuperset(map(type, column)):
        low, high = min(column), max(column)
        if low > -_HUGE and high < _HUGE and not isnan(sum(column)):
            return Series(name, list(column), times, low, high) if low != high else None
    points = [(v, at) for v, at in zip(column, times, strict=True) if number_of(v) is not None]
    values = [value for value, _ in points]
    if not values or (low := min(values)) == (high := max(values)):
        return None
    return Series(name, values, [at for _, at in points], low, high)


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
    """Where a number usually is: the band of most values, and how far they stray."""

    low: float
    middle: float
    high: float
    scale: float

    def beyond(self, value: float) -> float:
        """How many scales above the band, or (negative) below it; 0 inside."""
        if self.low <= value <= self.high:
            return 0.0
        return (value - (self.high if value > self.high else self.low)) / self.scale


def usual(values: list[float]) -> Usual:
    """The middle eighty per cent, so that neither one spike nor yesterday's noon is news."""
    ordered = sorted(values)
    middle = ordered[len(ordered) // 2]
    cut = len(ordered) // 10
    low, high = ordered[cut], ordered[-1 - cut]
    spread = _TO_SIGMA * median([abs(value - middle) for value in ordered])
    scale = max(spread, (high - low) / 6, 0.01 * abs(middle), 1e-9)  # a flat line strays a little
    return Usual(low, middle, high, scale)


def is_usual(value: float, values: list[float]) -> bool:
    """Whether it lies inside the band. Most analyses of most endpoints end with this."""
    cut = len(values) // 10
    below = above = 0
    for other in values:
        below += other <= value
        above += other >= value
        if below > cut and above > cut:
            return True
    return False


def rounded(value: float) -> str:
    return f"{value:.4g}"
