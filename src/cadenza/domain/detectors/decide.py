"""From findings to one decision: explicit requests first, then what was noticed, then rest."""

from dataclasses import dataclass
from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case, Finding, Want
from cadenza.domain.detectors.coordination import coordination
from cadenza.domain.detectors.level_shift import level_shift
from cadenza.domain.detectors.staleness import staleness
from cadenza.domain.detectors.state_change import state_change
from cadenza.domain.detectors.threshold import threshold
from cadenza.domain.detectors.trend import trend
from cadenza.domain.detectors.waiting import waiting
from cadenza.domain.spending import affordable

_STABLE = f"the last {ENOUGH_RUNS} runs went well, so a longer interval is enough"
_ABOUT_NUMBERS = (threshold, level_shift, trend, staleness)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done (None: nothing), and all findings."""

    action: Finding | None = None
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
    return _within_budget(case, case.pace, _findings(case, case.pace))


def _too_early(case: Case) -> Decision:
    if case.is_well:
        return NOTHING
    sentence = f"it has run {len(case.recent)} times; fewer than {ENOUGH_RUNS} say too little"
    return Decision(None, (Finding("History", sentence),))


def _findings(case: Case, pace: timedelta) -> list[Finding]:
    findings = [state_change(case, pace)]
    if case.body and case.is_well:
        findings += [detector(case, pace) for detector in _ABOUT_NUMBERS]
    return [finding for finding in findings if finding is not None]


def _stability(case: Case, pace: timedelta) -> Finding | None:
    """Long stability relaxes, within max: what is saved here pays for bursts."""
    newest, calm = case.recent[:ENOUGH_RUNS], case.calm(pace)
    if calm == pace or not all(response.is_well for response in newest):
        return None
    return Finding("Stability", _STABLE, Want.RELAX, calm)


def _within_budget(case: Case, pace: timedelta, findings: list[Finding]) -> Decision:
    """The most urgent finding, as far as the day's runs allow; with none, rest."""
    urgent = [finding for finding in findings if finding.want is Want.WATCH]
    action = min(urgent, key=_interval, default=None) or _stability(case, pace)
    wanted = pace if action is None else _interval(action)
    endpoint = case.endpoint
    age = case.now - endpoint.created_at
    left = case.budget.left(pace, case.context.health.runs_of_day, age)
    allowed = affordable(wanted, left, pace, endpoint.max_interval, case.budget)
    if allowed > wanted:
        sentence = "the day's budget of runs allows no more than this"
        action = Finding("Spending", sentence, Want.RELAX, allowed)
    if action is not None and action.want is Want.RELAX:
        findings = [*findings, action]
    return Decision(action, tuple(findings))


def _interval(finding: Finding) -> timedelta:
    assert finding.interval is not None
    return finding.interval
