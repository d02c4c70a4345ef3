"""What a brain may do at most, whatever it says."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, CronLine, Endpoint, Every
from cadenza.domain.errors import InvalidCron

MAX_TOOL_CALLS = 15
MAX_CHANGES_PER_HOUR = 30
MIN_INTERVAL = PLATFORM_MIN_INTERVAL
MAX_INTERVAL = timedelta(days=30)
MIN_TTL = timedelta(minutes=1)
MAX_TTL = timedelta(minutes=240)
LONGEST_TTL = timedelta(days=7)  # for a baseline so slow that four hours would be no use
MAX_PAUSE = timedelta(hours=24)
MIN_NEXT_ANALYSIS = timedelta(milliseconds=300_000)
MAX_NEXT_ANALYSIS = timedelta(milliseconds=86_400_000)


@dataclass(frozen=True, slots=True)
class Bounded:
    """A duration within its bounds; `clamped` says how it was changed, if it was."""

    value: timedelta
    clamped: str | None = None


def bounded(name: str, wanted: timedelta, lowest: timedelta, highest: timedelta) -> Bounded:
    if wanted < lowest:
        return Bounded(lowest, f"{name} raised to {lowest}")
    if wanted > highest:
        return Bounded(highest, f"{name} cut to {highest}")
    return Bounded(wanted)


def longest_ttl(endpoint: Endpoint, now: datetime, cron: Cron) -> timedelta:
    """Four hours, or three baseline intervals where that is longer, a week at most."""
    return min(max(MAX_TTL, 3 * _baseline_interval(endpoint, now, cron)), LONGEST_TTL)


def _baseline_interval(endpoint: Endpoint, now: datetime, cron: Cron) -> timedelta:
    baseline = endpoint.baseline
    if isinstance(baseline, Every):
        return baseline.interval
    if isinstance(baseline, CronLine):
        with suppress(InvalidCron):
            first = cron.next_after(baseline.expression, baseline.timezone, now)
            return cron.next_after(baseline.expression, baseline.timezone, first) - first
    return timedelta(0)
