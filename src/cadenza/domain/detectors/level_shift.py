"""A level shift: a number of the answers has moved away from where it was, and stays there.

A CUSUM over the newest points, in units of the robust scale of the older ones. Each point counts
up to a limit, so that no single outlier is a shift; a number that swings by itself (a day and a
night) has a wide scale, and needs a wider swing.
"""

from dataclasses import dataclass
from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case
from cadenza.domain.detectors.finding import Finding, Want
from cadenza.domain.detectors.series import Series, middle_and_scale, series_of, shown

NAME = "Level shift"
SUSPECTED = "Possible level shift"
ANOMALY = "Single anomaly"
NEWEST = 6  # points that may belong to the new level
SLACK = 2.0  # scales that a point may stray without counting
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
        shift = shift_of(series.values)
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


def shift_of(values: list[float]) -> Shift:
    """How far the newest points have added up in one direction; 0 where the last one is usual."""
    newest = values[-NEWEST:]
    middle, scale = middle_and_scale(values[:-NEWEST] or values[:1])
    up = down = 0.0
    for value in newest:
        away = (value - middle) / scale
        up = max(0.0, up + min(away, COUNTS_AT_MOST + SLACK) - SLACK)
        down = max(0.0, down + min(-away, COUNTS_AT_MOST + SLACK) - SLACK)
    away = abs(newest[-1] - middle) / scale
    return Shift(max(up, down) if away > SLACK else 0.0, middle, newest[-1])


def _sentence(series: Series, shift: Shift) -> str:
    verb = "rose" if shift.after > shift.before else "fell"
    return f"{series.name} {verb} from about {shown(shift.before)} to {shown(shift.after)}"
