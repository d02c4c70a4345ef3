"""A trend: a number in the answers rises or falls over five points or more (Mann–Kendall).

What has gone the same way all along (a counter, a clock, an id) is no trend: it only counts.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from math import sqrt
from operator import itemgetter

from cadenza.domain.detectors.case import Case, Finding
from cadenza.domain.detectors.series import rounded

LEAST_POINTS = 5
MOST_POINTS = 10
NEW_GROUND = 0.25  # of the range of what was before
SIGNIFICANT = 2.2  # five points in a row in one direction, or more of them with less order


def trend(case: Case, pace: timedelta) -> Finding | None:
    times, indexes = list[datetime](), list[int]()
    for series in case.series:
        if series.times is not times:  # most share theirs
            times, indexes = series.times, apart(series.times, pace / 2)
        if len(indexes) < LEAST_POINTS:
            continue
        if len(indexes) == len(times) and series.low < series.values[-1] < series.high:
            continue  # as most are: no trend ends inside of what was there
        values = itemgetter(*indexes)(series.values)
        if (direction := direction_of(values)) is not None and not only_counts(values):
            first, last = _newest(values)[0], values[-1]
            sentence = f"{series.name} {direction} from {rounded(first)} to {rounded(last)}"
            return Finding("Trend", sentence, confidence=0.6)
    return None


def apart(times: list[datetime], least: timedelta) -> list[int]:
    """The indexes of points without those of a burst in between: a trend is one of hours."""
    indexes: list[int] = []
    following = None
    for index in range(len(times) - 1, -1, -1):
        at = times[index]
        if following is None or following - at >= least:
            indexes.append(index)
            following = at
    return indexes[::-1]


def direction_of(values: Sequence[float]) -> str | None:
    """Whether the newest points rise or fall, beyond all that was there before them."""
    newest = _newest(values)
    earlier = values[: -len(newest)] or newest[:1]
    low, high, last = min(earlier), max(earlier), values[-1]
    margin = NEW_GROUND * (high - low)  # a day that follows a day breaks no new ground
    if low - margin <= last <= high + margin:
        return None
    score = mann_kendall(newest)
    if score >= SIGNIFICANT and last == max(newest):
        return "rises"
    return "falls" if score <= -SIGNIFICANT and last == min(newest) else None


def only_counts(values: Sequence[float]) -> bool:
    """Whether it went one way before the newest points too; once it may have begun anew."""
    steps = [later - earlier for earlier, later in pairwise(values)]
    before = steps[: -len(_newest(values))]
    rises, falls = sum(step > 0 for step in before), sum(step < 0 for step in before)
    against = min(sum(step < 0 for step in steps), sum(step > 0 for step in steps))
    return against <= 1 and max(rises, falls) > len(before) / 2


def mann_kendall(values: Sequence[float]) -> float:
    """The normal score of Kendall's S, with its variance corrected for ties."""
    count = len(values)
    s = sum(
        (later > earlier) - (later < earlier)
        for index, earlier in enumerate(values)
        for later in values[index + 1 :]
    )
    variance = (_ordered(count) - sum(_ordered(values.count(v)) for v in set(values))) / 18
    if s == 0 or variance <= 0:
        return 0.0
    return (s - 1 if s > 0 else s + 1) / sqrt(variance)


def _ordered(count: int) -> int:
    return count * (count - 1) * (2 * count + 5)


def _newest(values: Sequence[float]) -> Sequence[float]:
    return values[-min(MOST_POINTS, max(LEAST_POINTS, len(values) // 3)) :]
