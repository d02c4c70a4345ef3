"""The sibling look: when one endpoint of a job fails, the others are looked at once, soon.

Half of all outages have a sibling's within a quarter of an hour: what they share has failed.
"""

from dataclasses import replace
from datetime import timedelta

from cadenza.domain.analysis import SiblingState
from cadenza.domain.detectors.case import ENOUGH_RUNS, Case, Finding, Want
from cadenza.domain.detectors.watch import Watch, is_restless
from cadenza.domain.governor import floor_at
from cadenza.domain.instants import iso

JUST_NOW = 600.0  # seconds


def sibling_watch(case: Case, pace: timedelta) -> Watch | None:
    """Only of what reads, is well, and has not run since: one look costs one run of the purse."""
    endpoint, memory, now = case.endpoint, case.memory, case.now
    if not case.context.siblings or not case.context.only_reads or not case.is_well:
        return None
    if endpoint.in_flight or endpoint.one_shot_hint is not None or endpoint.paused_until(now):
        return None
    failed = next((state for state in case.context.siblings if _failed_since(state, case)), None)
    if failed is None or failed.latest is None or len(case.recent) < ENOUGH_RUNS:
        return None
    if is_restless(case):
        return None
    floor = floor_at(endpoint, endpoint.last_run_at)
    soonest = max(now, floor[0]) if floor else now
    too_late = soonest > now + timedelta(seconds=JUST_NOW)
    if too_late or (endpoint.next_run_at is not None and endpoint.next_run_at <= soonest):
        return None
    pace_now = 1 / pace.total_seconds() + memory.account.settled(now.timestamp(), case.reach).rate
    runs = 1 - (soonest.timestamp() - memory.seen_at) * pace_now  # its next run comes later for it
    if runs <= 0 or case.purse.left < runs:
        return None
    sentence = f"{failed.endpoint.name} failed at {iso(failed.latest.slot_at)}: looked at once, now"
    paid = replace(memory, account=memory.account.with_runs(runs, now.timestamp(), case.reach))
    return Watch(Finding("Sibling", sentence, Want.RUN, confidence=0.8), paid, memory)


def _failed_since(sibling: SiblingState, case: Case) -> bool:
    """Whether its outage began just now, and after this endpoint was last looked at."""
    latest = sibling.latest
    if latest is None or sibling.endpoint.failure_count != 1 or latest.is_well:
        return False
    began_at = latest.slot_at.timestamp()
    return began_at > case.memory.seen_at and case.now.timestamp() - began_at < JUST_NOW
