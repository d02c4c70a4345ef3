"""From findings to one decision: explicit requests first, then where a look tells most.

With nothing found there is nothing to do, and the baseline is what its owner wrote. Detectors of
numbers report and do nothing else: see the tables in docs/concepts/adaptation.md.
"""

from dataclasses import dataclass, replace
from datetime import timedelta

from cadenza.domain.detectors.case import ENOUGH_RUNS, Case, Finding, Want
from cadenza.domain.detectors.coordination import coordination
from cadenza.domain.detectors.level_shift import level_shift
from cadenza.domain.detectors.memory import Memory
from cadenza.domain.detectors.siblings import sibling_watch
from cadenza.domain.detectors.staleness import staleness
from cadenza.domain.detectors.threshold import threshold
from cadenza.domain.detectors.trend import trend
from cadenza.domain.detectors.waiting import waiting
from cadenza.domain.detectors.watch import is_restless, is_settled, watch

_NUMBERS = (threshold, level_shift, trend, staleness)


@dataclass(frozen=True, slots=True)
class Decision:
    """What is to be done (None: nothing), all findings, and what is to be remembered."""

    action: Finding | None
    findings: tuple[Finding, ...]
    memory: Memory
    if_refused: Memory
    is_new: bool = False  # whether it was decided now, so that what stood before is over


def decide(case: Case) -> Decision:
    memory = case.memory
    asked = coordination(case)
    if asked is not None:
        return Decision(asked, (asked,), memory, memory)
    if case.pace is None or not case.recent:
        return Decision(None, _waits(case), memory, memory)
    look = sibling_watch(case, case.pace)
    if look is not None and look.finding is not None:
        return Decision(look.finding, (look.finding,), look.written, look.not_written)
    if not case.has_news or case.endpoint.paused_until(case.now) is not None:
        return Decision(None, _waits(case), memory, memory)
    return _decided(case, case.pace)


def _decided(case: Case, pace: timedelta) -> Decision:
    waits, memory = _waits(case), case.memory
    if waits and waits[0].want is Want.PAUSE:
        return Decision(waits[0], waits, memory, memory)
    reports = (*waits, *_numbers(case, pace))
    stands = (is_settled(memory) and not _runs_out(case)) or _is_held(case, pace)
    if stands and not _is_relaxed_against_its_owner(case, pace):
        return Decision(None, reports, memory, memory)
    decided = watch(case, pace)
    findings = (decided.finding, *reports) if decided.finding is not None else reports
    return Decision(decided.finding, findings, decided.written, decided.not_written, is_new=True)


def _waits(case: Case) -> tuple[Finding, ...]:
    """What the answer asks for; to wait longer than the baseline is the owner's to allow."""
    asked = waiting(case, case.pace)
    if asked is None:
        return ()
    return (asked if case.relax > 1 else replace(asked, want=Want.NOTHING),)


def _numbers(case: Case, pace: timedelta) -> tuple[Finding, ...]:
    if not case.body or not case.is_well or len(case.recent) < ENOUGH_RUNS:
        return ()
    findings = (detector(case, pace) for detector in _NUMBERS)
    return tuple([finding for finding in findings if finding is not None])


def _runs_out(case: Case) -> bool:
    """Before its next run: an extra look in between moves the runs that a hint was meant for."""
    hint = case.endpoint.interval_hint
    if hint is None:
        return False
    return hint.expires_at.timestamp() < case.memory.seen_at + hint.interval.total_seconds()


def _is_held(case: Case, pace: timedelta) -> bool:
    """Restless, and a hint in force that is good enough whether it is down or not."""
    hint = case.endpoint.interval_hint
    if hint is None or hint.interval > pace or not is_restless(case):
        return False
    return hint.expires_at - case.now > 1.5 * hint.interval


def _is_relaxed_against_its_owner(case: Case, pace: timedelta) -> bool:
    """By a detector, while it was allowed; now it is not any more."""
    hint = case.endpoint.interval_hint
    return hint is not None and hint.interval > pace and not case.can_relax
