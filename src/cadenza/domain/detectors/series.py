"""Numbers and instants out of answers that anything may have written.

Every look at every endpoint reads its answers here, so this is written to be fast.
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
_WELL = RunStatus.SUCCESS  # looked up here: an enum takes its time
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
    # Neither infinity nor what is no number at all lies between the two.
    return value if type(value) in _NUMBERS and -_HUGE < value < _HUGE else None


def series_of(recent: Sequence[Response]) -> list[Series]:
    """The numbers of the newest answer that have ever moved, with all that is known of each."""
    names = [name for name, value in fields_of(recent[0]).items() if number_of(value) is not None]
    if not names:
        return []
    answers = [each for each in reversed(recent) if each.status is _WELL]
    if not answers:
        return []
    times = [each.slot_at for each in answers]
    found: list[Series] = []
    for name, column in _columns(names[:MOST_FIELDS], answers):
        series = _series(name, column, times)
        if series is not None:
            found.append(series)
    return found


def _columns(names: list[str], answers: list[Response]) -> Iterable[tuple[str, Sequence[Any]]]:
    """What each name was in every answer. Nearly always all have all: then in one go."""
    bodies = [body if isinstance(body := each.body, dict) else _NO_FIELDS for each in answers]
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
    """Where a number usually is: a band that most of it lies in, and how far it strays."""

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
    """Whether it lies inside the band: what most looks at most endpoints end with."""
    cut = len(values) // 10
    below = above = 0
    for each in values:
        below += each <= value
        above += each >= value
        if below > cut and above > cut:
            return True
    return False


def shown(value: float) -> str:
    return f"{value:.4g}"
