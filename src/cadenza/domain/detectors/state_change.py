"""A state change starts a burst that decays: what has lasted long will last on.

Not "fast while down": outages have a heavy tail, and the few long ones would eat every probe. The
interval is a share of the time since the change, so a burst costs the logarithm of its length.
After a recovery the share depends on how often it went down within a day: what failed once is
trusted again at once (failures without memory must cost little), what failed four times is not.
"""

from datetime import timedelta

from cadenza.domain.backoff import MAX_DOUBLINGS
from cadenza.domain.detectors.case import Case, Finding, Want
from cadenza.domain.instants import humanize, iso
from cadenza.domain.spending import DAY

WHILE_DOWN = 0.2  # of the time since it went down
AFTER_ONE_OUTAGE = 8.0  # of the time since it came back
STEEPNESS = 4  # the power of how many there were within a day that the share is divided by
AT_LEAST = 0.015
QUICKEST_WHILE_DOWN = 6  # times the baseline
WHILE_LONG_DOWN = 0.05


def state_change(case: Case, pace: timedelta) -> Finding | None:
    return _after_recovery(case, pace) if case.is_well else _while_down(case, pace)


def _while_down(case: Case, pace: timedelta) -> Finding:
    """Watched for as long as it lasts: the baseline's own backoff would miss its end."""
    changed_at = case.context.health.changed_at
    lasted = DAY if changed_at is None else case.now - changed_at
    slowest = min(max(2 * pace, WHILE_LONG_DOWN * lasted), 2**MAX_DOUBLINGS * pace)
    soonest = max(pace / QUICKEST_WHILE_DOWN, case.fastest(pace))
    interval = max(min(WHILE_DOWN * lasted, slowest), soonest)
    since = "for more than a day" if changed_at is None else f"since {iso(changed_at)}"
    sentence = f"it fails {since}; its end is looked for every {_rounded(interval)}"
    return Finding("State change", sentence, Want.WATCH, interval, confidence=0.9)


def _after_recovery(case: Case, pace: timedelta) -> Finding | None:
    health = case.context.health
    if health.changed_at is None:
        return None
    times = max(1, health.outages)
    # Where calm has to give up much, bursts do too: both are paid from the same runs.
    share = max(AT_LEAST, AFTER_ONE_OUTAGE / times**STEEPNESS) * case.budget.relax**3
    interval = max(share * (case.now - health.changed_at), case.fastest(pace))
    if interval >= min(pace, case.calm(pace)):
        return None
    often = "" if times == 1 else f" after going down {times} times within a day"
    sentence = (
        f"it answers again since {iso(health.changed_at)}{often}; it is watched every"
        f" {_rounded(interval)}, less and less often"
    )
    return Finding("State change", sentence, Want.WATCH, interval, confidence=0.8)


def _rounded(interval: timedelta) -> str:
    return humanize(timedelta(seconds=round(interval.total_seconds())))
