"""A level shift: a number in the answers has moved away from where it was, and stays there.

A CUSUM over the newest points, measured from the band that the older ones lie in and in units of
their robust scale. Each point counts up to a limit, so that no single outlier is a shift; a number
that swings by itself (a day and a night) has a wide band, and needs a wider swing.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case, Finding
from cadenza.domain.detectors.series import Series, is_usual, rounded, usual

NAME = "Level shift"
SUSPECTED = "Possible level shift"
ANOMALY = "Single anomaly"
NEWEST = 6  # points, at the baseline's pace, that may belong to the new level
SLACK = 1.0  # scales that a point may stray without counting
COUNTS_AT_MOST = 4.0  # scales of one point
FULL_WEIGHT = 2  # half a baseline interval after the last point, one counts in full
IS_SHIFT = 9.0  # three points far away, or more of them less far
IS_SUSPECT = 5.0  # two points


@dataclass(frozen=True, slots=True)
class Shift:
    score: float
    before: float
    after: float


def level_shift(case: Case, pace: timedelta) -> Finding | None:
    finding: Finding | None = None
    times, weights = list[datetime](), list[float]()
    for series in case.series:
        if len(series.values) < ENOUGH_RUNS:
            continue
        if series.times is not times:  # most share theirs
            times, weights = series.times, weights_of(series.times, pace)
        shift = shift_of(series.values, weights)
        if shift.score >= IS_SHIFT:
            return Finding(NAME, _sentence(series, shift))
        if shift.score >= IS_SUSPECT:
            sentence = f"{_sentence(series, shift)}, to be confirmed"
            finding = Finding(SUSPECTED, sentence, confidence=0.5)
        elif shift.score > 0 and finding is None:
            sentence = f"{series.name} is {rounded(shift.after)}; once is no reason to act"
            finding = Finding(ANOMALY, sentence)
    return finding


def weights_of(times: list[datetime], pace: timedelta) -> list[float]:
    """Of the newest points: as many as weigh six together, but never more than half of all.

    A point right after another one adds little information, and weighs less.
    """
    weights: list[float] = []
    index, weight = len(times) - 1, 0.0
    while weight < NEWEST and len(weights) < len(times) // 2:
        weights.append(min(1.0, FULL_WEIGHT * ((times[index] - times[index - 1]) / pace)))
        weight += weights[-1]
        index -= 1
    return weights[::-1]


def shift_of(values: list[float], weights: list[float]) -> Shift:
    """How far the newest points have added up in one direction; 0 where the last one is usual."""
    count = len(weights)
    if is_usual(values[-1], values[:-count]):
        return Shift(0.0, 0.0, 0.0)
    newest, before = values[-count:], usual(values[:-count])
    up = down = 0.0
    for value, weight in zip(newest, weights, strict=True):
        away = before.beyond(value)
        up = max(0.0, up + weight * (min(away, COUNTS_AT_MOST + SLACK) - SLACK))
        down = max(0.0, down + weight * (min(-away, COUNTS_AT_MOST + SLACK) - SLACK))
    is_away = abs(before.beyond(newest[-1])) > SLACK
    return Shift(max(up, down) if is_away else 0.0, before.middle, newest[-1])


def _sentence(series: Series, shift: Shift) -> str:
    verb = "rose" if shift.after > shift.before else "fell"
    return f"{series.name} {verb} from about {rounded(shift.before)} to {rounded(shift.after)}"
