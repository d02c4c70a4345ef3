"""From findings to one decision: what is asked for first, then what was noticed, then rest."""

from dataclasses import dataclass
from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case
from cadenza.domain.detectors.coordination import coordination
from cadenza.domain.detectors.finding import Finding, Want
from cadenza.domain.detectors.level_shift import level_shift
from cadenza.domain.detectors.stability import stability
from cadenza.domain.detectors.staleness import staleness
from cadenza.domain.detectors.state_change import state_change
from cadenza.domain.detectors.threshold import threshold
from cadenza.domain.detectors.trend import trend
from cadenza.domain.detectors.waiting import waiting
from cadenza.domain.spending import affordable

SPENDING = "Spending"
HISTORY = "History"
_ABOUT_NUMBERS = (threshold, level_shift, trend, staleness)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done, and everything that was found; `act` is None where nothing is."""

    act: Finding | None = None
    findings: tuple[Finding, ...] = ()


NOTHING = Decision()


def decide(case: Case) -> Decision:
    asked = coordination(case) or waiting(case, case.pace)
    if asked is not None:
        return Decision(asked, (asked,))
    if case.pace is None or not case.recent:
        return NOTHING
    if len(case.recent) < ENOUGH_RUNS:
        return _too_early(case)
    found = _noticed(case, case.pace)
    return _within_budget(case, case.pace, found)


def _too_early(case: Case) -> Decision:
    if case.is_well:
        return NOTHING
    sentence = f"it has run {len(case.recent)} times; fewer than {ENOUGH_RUNS} say too little"
    return Decision(None, (Finding(HISTORY, sentence),))


def _noticed(case: Case, pace: timedelta) -> list[Finding]:
    change = state_change(case, pace)
    found = [change] if change is not None else []
    if case.body and case.is_well:
        looks = (detector(case, pace) for detector in _ABOUT_NUMBERS)
        found.extend(finding for finding in looks if finding is not None)
    return found


def _within_budget(case: Case, pace: timedelta, found: list[Finding]) -> Decision:
    """The most urgent wish, as far as the day's runs allow; with none, rest."""
    wishes = [each for each in found if each.want is Want.WATCH]
    act = min(wishes, key=_interval, default=None) or stability(case, pace)
    wanted = pace if act is None else _interval(act)
    endpoint = case.endpoint
    age = case.now - endpoint.created_at
    left = case.budget.left(pace, case.context.health.runs_of_day, age)
    allowed = affordable(wanted, left, pace, endpoint.max_interval, case.budget)
    if allowed > wanted:
        sentence = "the day's budget of runs allows no more than this"
        act = Finding(SPENDING, sentence, Want.RELAX, allowed)
        found = [*found, act]
    elif act is not None and act.want is Want.RELAX:
        found = [*found, act]
    return Decision(act, tuple(found))


def _interval(finding: Finding) -> timedelta:
    assert finding.interval is not None
    return finding.interval
