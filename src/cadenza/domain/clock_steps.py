"""A clock that stepped back: what has run lies in the future, and must not hold up what comes.

A slot in the past of the stepped clock cannot be after the last one and not early. So what counts
from an anchor begins anew at the stepped clock (docs/decisions/0009).
"""

from dataclasses import replace
from datetime import datetime, timedelta

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import CronLine, Endpoint
from cadenza.domain.governor import plan_next_run
from cadenza.domain.instants import latest

CLOCK_STEP = timedelta(seconds=5)  # beyond what an answer on its way, or a claim ahead, explains
TOLERANCE = timedelta(seconds=1)
NOT_AHEAD = timedelta(0)


def ahead_by(endpoint: Endpoint, now: datetime) -> timedelta:
    """How far in the future lies what its rhythm counts from, or what it runs now."""
    if endpoint.archived_at is not None:
        return NOT_AHEAD
    slot_at = None if isinstance(endpoint.baseline, CronLine) else endpoint.last_slot_at
    counted = (endpoint.last_run_at, slot_at, endpoint.manual_slot_at, endpoint.running_slot_at)
    furthest = latest(*counted)
    return NOT_AHEAD if furthest is None else max(NOT_AHEAD, furthest - now)


def restarted(endpoint: Endpoint, now: datetime, cron: Cron) -> Endpoint:
    """Begun anew at the stepped clock. Cron keeps its last slot: its occurrences up to there have
    run, and do not run twice."""
    if endpoint.in_flight or ahead_by(endpoint, now) == NOT_AHEAD:
        return endpoint
    last_slot_at = endpoint.last_slot_at
    if not isinstance(endpoint.baseline, CronLine):
        last_slot_at = _not_after(last_slot_at, now)
    anew = replace(
        endpoint,
        last_run_at=_not_after(endpoint.last_run_at, now),
        last_slot_at=last_slot_at,
        manual_slot_at=_not_after(endpoint.manual_slot_at, now),
    )
    return replace(anew, plan=plan_next_run(now, anew, cron, after_run=False))


def _not_after(instant: datetime | None, now: datetime) -> datetime | None:
    return None if instant is None else min(instant, now)
