"""A level shift: a number of the answers has moved away from where it was, and stays there.

A CUSUM over the newest points, measured from the band that the older ones lie in and in units of
their robust scale. Each point counts up to a limit, so that no single outlier is a shift; a number
that swings by itself (a day and a night) has a wide band, and needs a wider swing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case
from cadenza.domain.detectors.finding import Finding, Want
from cadenza.domain.detectors.series import Series, series_of, shown, usual

NAME = "Level shift"
SUSPECTED = "Possible level shift"
ANOMALY = "Single anomaly"
NEWEST = 6  # points, at the baseline's pace, that may belong to the new level
SLACK = 1.0  # scales that a point may stray without counting
COUNTS_AT_MOST = 4.0  # scales of one point
IS_SHIFT = 9.0  # three points far away, or more of them less far
IS_SUSPECT = 5.0  # two points


@dataclass(frozen=True, slots=True)
class Shift:
    score: float
    before: float
    after: float


def level_shift(case: Case, pace: timedelta) -> Finding | None:
    found: Finding | None = None
    for series in series_of(case, ENOUGH_RUNS):
        shift = shift_of(series.values, [each / pace for each in series.gaps])
        if shift.score >= IS_SHIFT:
            interval = max(pace / 2, case.fastest(pace))
            return Finding(NAME, _sentence(series, shift), Want.WATCH, interval)
        if shift.score >= IS_SUSPECT:
            interval = max(pace / 6, case.fastest(pace))
            sentence = f"{_sentence(series, shift)}, to be confirmed"
            found = Finding(SUSPECTED, sentence, Want.WATCH, interval, confidence=0.5)
        elif shift.score > 0 and found is None:
            sentence = f"{series.name} is {shown(shift.after)}; once is no reason to act"
            found = Finding(ANOMALY, sentence)
    return found


def shift_of(values: list[float], gaps: Sequence[float] = ()) -> Shift:
    """How far the newest points have added up in one direction; 0 where the last one is usual.

    The gaps are in baseline intervals: what was seen right after another says little that is new.
    """
    weights = [min(1.0, gap) for gap in gaps] or [1.0] * len(values)
    count = _count_of_newest(weights)
    newest, before = values[-count:], usual(values[:-count] or values[:1])
    up = down = 0.0
    for value, weight in zip(newest, weights[-count:], strict=True):
        away = before.beyond(value)
        up = max(0.0, up + weight * (min(away, COUNTS_AT_MOST + SLACK) - SLACK))
        down = max(0.0, down + weight * (min(-away, COUNTS_AT_MOST + SLACK) - SLACK))
    is_away = abs(before.beyond(newest[-1])) > SLACK
    return Shift(max(up, down) if is_away else 0.0, before.middle, newest[-1])


def _count_of_newest(weights: list[float]) -> int:
    """So many points as weigh six together, but never more than half of them."""
    count, weight = 0, 0.0
    while weight < NEWEST and count < len(weights) // 2:
        count += 1
        weight += weights[-count]
    return max(1, count)


def _sentence(series: Series, shift: Shift) -> str:
    verb = "rose" if shift.after > shift.before else "fell"
    return f"{series.name} {verb} from about {shown(shift.before)} to {shown(shift.after)}"
