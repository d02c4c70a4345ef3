"""Long stability relaxes, within max: what is saved here pays for bursts."""

from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case
from cadenza.domain.detectors.finding import Finding, Want
from cadenza.domain.instants import spoken

NAME = "Stability"


def stability(case: Case, pace: timedelta) -> Finding | None:
    newest = case.recent[:ENOUGH_RUNS]
    if len(newest) < ENOUGH_RUNS or not all(each.is_well for each in newest):
        return None
    calm = case.calm(pace)
    if calm == pace:
        return None
    rounded = timedelta(seconds=round(calm.total_seconds()))
    sentence = f"the last {ENOUGH_RUNS} runs went well; every {spoken(rounded)} is enough"
    return Finding(NAME, sentence, Want.RELAX, calm)
