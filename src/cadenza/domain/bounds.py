"""What a brain may do at most, whatever it says."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.domain.authority import Authority
from cadenza.domain.cron import Cron
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, CronLine, Endpoint, Every
from cadenza.domain.errors import InvalidCron, Refused
from cadenza.domain.instants import humanize, latest
from cadenza.domain.planner_policy import PlannerPolicy

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
        return Bounded(lowest, f"{name} raised to {_in_words(lowest)}")
    if wanted > highest:
        return Bounded(highest, f"{name} cut to {_in_words(highest)}")
    return Bounded(wanted)


def _in_words(duration: timedelta) -> str:
    """To the minute where it is long; the answer has the exact instants beside it."""
    unit = timedelta(minutes=1) if duration > timedelta(minutes=10) else timedelta(seconds=1)
    return humanize(round(duration / unit) * unit)


def longest_ttl(endpoint: Endpoint, now: datetime, cron: Cron) -> timedelta:
    """Four hours, or three baseline intervals where that is longer, a week at most."""
    return min(max(MAX_TTL, 3 * _baseline_interval(endpoint, now, cron)), LONGEST_TTL)


def check_pauses_allowed(policy: PlannerPolicy, authority: Authority) -> None:
    """A declared rule is the owner's own will."""
    if policy.max_pause == timedelta(0) and authority is not Authority.RULE:
        raise Refused("the owner allows no pauses by a planner (planner.max_pause is 0)")


def longest_pause(
    endpoint: Endpoint, policy: PlannerPolicy, authority: Authority, now: datetime
) -> timedelta:
    """As the owner says; else until the endpoint's max is over since its last run, at most a day:
    nobody may neglect it longer, however often a pause is renewed."""
    allowed = policy.max_pause
    if authority is Authority.RULE:
        return max(MAX_PAUSE, allowed or MAX_PAUSE)
    if allowed is not None:
        return allowed
    if endpoint.max_interval is None:
        return MAX_PAUSE
    since_at = latest(endpoint.last_run_at, endpoint.running_slot_at) or now
    return max(timedelta(0), min(MAX_PAUSE, since_at + endpoint.max_interval - now))


def _baseline_interval(endpoint: Endpoint, now: datetime, cron: Cron) -> timedelta:
    baseline = endpoint.baseline
    if isinstance(baseline, Every):
        return baseline.interval
    if isinstance(baseline, CronLine):
        with suppress(InvalidCron):
            first = cron.next_after(baseline.expression, baseline.timezone, now)
            return cron.next_after(baseline.expression, baseline.timezone, first) - first
    return timedelta(0)
