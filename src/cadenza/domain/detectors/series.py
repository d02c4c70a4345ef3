"""Numbers and instants out of answers that anything may have written.

Every look at every endpoint reads its answers here, so this is written to be fast.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from statistics import median
from typing import Any, NamedTuple

from cadenza.domain.analysis import Response

MOST_FIELDS = 8  # an answer with a thousand numbers must not cost a thousand analyses
_NUMBERS = (int, float)  # by type: true and false are no numbers here
_HUGE = 1e300
_TO_SIGMA = 1.4826  # the median distance of a normal distribution, as its standard deviation


class Series(NamedTuple):
    """One number of the answers over time, oldest first."""

    name: str
    values: list[float]
    times: list[datetime]


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
    answers = [each for each in reversed(recent) if each.is_well]
    bodies = [fields_of(each) for each in answers]
    times = [each.slot_at for each in answers]
    found = (_series(name, bodies, times) for name in names[:MOST_FIELDS])
    return [series for series in found if min(series.values) != max(series.values)]


def _series(name: str, bodies: list[dict[str, Any]], times: list[datetime]) -> Series:
    raw = [body.get(name) for body in bodies]
    if all(type(value) in _NUMBERS and -_HUGE < value < _HUGE for value in raw):  # pyright: ignore
        return Series(name, raw, times)  # pyright: ignore
    points = [(v, at) for v, at in zip(raw, times, strict=True) if number_of(v) is not None]
    return Series(name, [number_of(v) or 0.0 for v, _ in points], [at for _, at in points])


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
    return below > cut and above > cut


def shown(value: float) -> str:
    return f"{value:.4g}"
