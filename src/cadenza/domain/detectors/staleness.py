"""Staleness: `last_success_at` used to move, and stands still."""

from datetime import datetime, timedelta
from itertools import pairwise
from statistics import median_low

from cadenza.domain.detectors.case import Case, Finding
from cadenza.domain.detectors.series import fields_of, instant_of
from cadenza.domain.instants import iso

FIELDS = ("last_success_at", "last_completed_at", "last_updated_at", "completed_at")
TOO_LONG = 3  # times the usual distance between two of its values
IN_A_ROW = 3


def staleness(case: Case, _pace: timedelta) -> Finding | None:
    for name in FIELDS:
        if name not in case.body:
            continue
        values = [instant_of(fields_of(response).get(name)) for response in case.recent]
        instants = [instant for instant in values if instant is not None]
        if stands_still(instants, case.now):
            sentence = f"{name} stands still at {iso(instants[0])}"
            return Finding("Staleness", sentence, confidence=0.8)
    return None


def stands_still(newest_first: list[datetime], now: datetime) -> bool:
    """Whether it moved before, and has not for three times as long as it used to take."""
    if len(set(newest_first[:IN_A_ROW])) != 1 or len(newest_first) < IN_A_ROW:
        return False
    steps = [b - a for a, b in pairwise(sorted(set(newest_first)))]
    if len(steps) < 2:  # it has hardly ever moved: nobody knows how often it should
        return False
    return now - newest_first[0] > TOO_LONG * median_low(steps)
