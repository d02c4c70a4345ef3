"""Long stability relaxes, within max: what is saved here pays for bursts."""

from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case
from cadenza.domain.detectors.finding import Finding, Want

NAME = "Stability"
_SENTENCE = f"the last {ENOUGH_RUNS} runs went well, so a longer interval is enough"


def stability(case: Case, pace: timedelta) -> Finding | None:
    newest = case.recent[:ENOUGH_RUNS]
    if len(newest) < ENOUGH_RUNS or not all(each.is_well for each in newest):
        return None
    calm = case.calm(pace)
    if calm == pace:
        return None
    return Finding(NAME, _SENTENCE, Want.RELAX, calm)
