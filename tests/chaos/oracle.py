"""When endpoints on a plain baseline are due, by croniter and plain arithmetic.

Nothing here comes from Cadenza's own code but the form of its rows: the rules are written a second
time, from the design's text.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from croniter import croniter

from cadenza.domain.run import Run, RunStatus
from tests.chaos.history import Spec

SECOND = timedelta(seconds=1)
LONGEST_JITTER = timedelta(seconds=3)
MOST_DOUBLINGS = 5


@lru_cache(maxsize=100_000)
def cron_after(expression: str, timezone: str, instant: datetime) -> datetime:
    local = instant.astimezone(ZoneInfo(timezone))
    return croniter(expression, local).get_next(datetime).astimezone(UTC)


def cron_between(spec: Spec, after: datetime, until: datetime) -> list[datetime]:
    """Its slots after one instant and before another."""
    assert spec.cron is not None
    slots: list[datetime] = []
    at = cron_after(spec.cron, spec.timezone, after)
    while at < until:
        slots.append(at)
        at = cron_after(spec.cron, spec.timezone, at)
    return slots


def first_sent_at(run: Run) -> datetime:
    """Where a lost worker left that unknown: when it was claimed, never before the slot."""
    if run.attempt == 1 and run.started_at is not None:
        return run.started_at
    return max(run.claimed_at, run.slot_at)


def interval_after(spec: Spec, run: Run, failures: int) -> tuple[datetime, datetime]:
    """The next slot after a run that ended with so many failures in a row: from, and to."""
    assert spec.every is not None
    assert run.finished_at is not None
    sent_at = first_sent_at(run)
    anchor = sent_at if sent_at - run.slot_at > SECOND else run.slot_at
    interval = spec.every * 2 ** min(failures, MOST_DOUBLINGS)
    drift = min(LONGEST_JITTER, interval / 10) if failures else timedelta(0)
    first, last = anchor + interval, anchor + interval + drift
    if last < run.finished_at:  # a run longer than its interval is never followed at once
        return run.finished_at + interval, run.finished_at + interval + drift
    if first < run.finished_at:  # by its jitter it may be either
        return first, run.finished_at + interval + drift
    return first, last


def failures_after(failures: int, run: Run) -> int:
    if run.status is RunStatus.SUCCESS:
        return 0
    return failures + (run.status in (RunStatus.FAILURE, RunStatus.TIMEOUT))


def passed_over(spec: Spec, run: Run, following: Run, failures: int) -> int:
    """How many slots passed between two runs that follow each other. The interval in force is that
    of before the first has ended, with so many failures in a row."""
    if spec.cron is not None:
        return len(cron_between(spec, run.slot_at, following.slot_at))
    assert spec.every is not None
    assert run.finished_at is not None
    interval = spec.every * 2 ** min(failures, MOST_DOUBLINGS)
    while_it_ran = max(0, -((run.slot_at - run.finished_at) // interval) - 1)
    _, due_by = interval_after(spec, run, failures_after(failures, run))
    after_it = -((due_by - following.slot_at) // spec.every)
    return while_it_ran + max(0, after_it)
