"""Where to look: an interval from how soon something will change, and from what a look costs.

Looking every `interval` seconds costs price / interval, and what changes meanwhile stays unknown
for half an interval: hazard · interval / 2. The sum is least at √(2 · price / hazard). Prices are
counted in those at which the baseline is right for what has never failed (the owner's interval
says what a look is worth), so interval = baseline · √(price · base rate / hazard).

What is decided stands for a few runs, or half of the time since the change, unless the state
of the endpoint changes: a look in between does nothing.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import floor, inf, log, sqrt

from cadenza.domain.bounds import LONGEST_TTL, MAX_CHANGES_PER_HOUR, MAX_TTL
from cadenza.domain.detectors.case import ENOUGH_RUNS, Case, Finding, Want
from cadenza.domain.detectors.memory import Memory
from cadenza.domain.endpoint import CronLine
from cadenza.domain.hazard import BASE_RATE, DAY, HOUR, MINUTE, recovery_rate
from cadenza.domain.instants import humanize, iso
from cadenza.domain.value import replace

DAYS_AFTER = 3 * DAY  # for so long a failure is a reason to look more often
RUNS = 3  # for at least so many what was decided stands
SHARE = 0.5  # of the time since the last change
STEP = 1.25  # intervals are steps apart, so that most renewals change nothing
AS_THE_BASELINE = 0.95
PURSE_SHARE = 0.5  # of what is left, at most for one decision
RESTLESS = MAX_CHANGES_PER_HOUR // 2  # changes within an hour: the rest is kept for the worst


@dataclass(frozen=True, slots=True)
class Watch:
    """What a look decided: the interval, and what is remembered where it is written or not."""

    finding: Finding | None  # None: the baseline
    written: Memory
    not_written: Memory


def is_settled(memory: Memory) -> bool:
    return memory.seen_at < memory.settled_until


def watch(case: Case, pace: timedelta) -> Watch:
    memory, baseline = case.memory, pace.total_seconds()
    interval = _interval(case, baseline)
    lasts = _lasts(case, interval, baseline)
    at = memory.seen_at
    until = at + lasts - interval / 4
    at_rest = memory.account.spending(0.0, at, at, case.reach)
    stands = replace(memory, settled_until=until, account=at_rest)
    is_baseline = AS_THE_BASELINE <= interval / baseline <= 1 / AS_THE_BASELINE
    may_back_off = memory.down_since is not None or is_restless(case)
    holds_off_backoff = may_back_off and case.context.only_reads
    if isinstance(case.endpoint.baseline, CronLine):
        return _once(case, interval, stands) if not is_baseline else _rest(stands)
    if is_baseline and not holds_off_backoff:
        return _rest(stands)
    rate = 0.0 if is_baseline else 1 / interval - 1 / baseline
    account = memory.account.spending(rate, at, at + lasts, case.reach)
    if case.relax > 1:  # no hint puts a run off that is planned already: this gap saves less
        gap = min(interval, _planned_gap(case))
        account = account.with_runs((interval - gap) / interval, at, case.reach)
    finding = _finding(case, interval, lasts, baseline)
    return Watch(finding, replace(stands, account=account), stands)


def _planned_gap(case: Case) -> float:
    next_run_at = case.endpoint.next_run_at
    return inf if next_run_at is None else next_run_at.timestamp() - case.memory.seen_at


def _rest(stands: Memory) -> Watch:
    return Watch(None, stands, stands)


def _interval(case: Case, baseline: float) -> float:
    memory, reads = case.memory, case.context.only_reads
    is_down = memory.down_since is not None
    if is_down and not reads:
        return baseline  # what does something is not done again and again: it keeps its backoff
    if len(case.recent) < ENOUGH_RUNS:
        return baseline
    may_tighten = reads and failed_lately(memory)
    most = baseline
    if case.can_relax and not is_down:
        most = _at_most(case, baseline)
    if not may_tighten and most <= baseline:
        return baseline
    least = case.fastest(timedelta(seconds=baseline)).total_seconds() if may_tighten else baseline
    wanted = baseline * sqrt(case.purse.price * BASE_RATE / _hazard(memory))
    interval = min(max(wanted, least), most)
    if is_restless(case) and HOUR * (1 / interval - 1 / baseline) > _affordable(case):
        return baseline
    if least < interval < baseline:
        steps = floor(log(baseline / interval) / log(STEP) + 1e-9)
        interval = max(least, baseline / STEP**steps)
    return interval


def failed_lately(memory: Memory) -> bool:
    return memory.failed_at is not None and memory.seen_at - memory.failed_at < DAYS_AFTER


def _hazard(memory: Memory) -> float:
    if memory.down_since is not None:
        return recovery_rate(memory.seen_at - memory.down_since)
    return memory.outages.rate(memory.seen_at)


def _at_most(case: Case, baseline: float) -> float:
    """How far it may be relaxed: within max, and so that a hint lives to see its runs."""
    most, limit = case.relax * baseline, case.endpoint.max_interval
    if limit is not None:
        most = max(min(most, limit.total_seconds()), baseline)
    return most if 1.5 * most <= max(LONGEST_TTL.total_seconds(), baseline) else baseline


def _lasts(case: Case, interval: float, baseline: float) -> float:
    """A whole number of runs: the longer nothing has changed, the longer."""
    memory = case.memory
    since = memory.down_since or memory.failed_at or memory.outages.known_since
    longest = max(MAX_TTL.total_seconds(), 3 * baseline) - interval / 2
    lasts = max(RUNS * interval, MINUTE, min(SHARE * (memory.seen_at - since), 4 * HOUR))
    if interval < AS_THE_BASELINE * baseline:
        lasts = min(lasts, _affordable(case) / (1 / interval - 1 / baseline))
    if is_restless(case):
        lasts = max(lasts, HOUR)
    runs = round(min(lasts, longest) / interval)
    if interval > baseline:  # its hint outlives its renewal by a run
        runs = min(runs, int(longest / interval - 1))
    return max(1, runs) * interval


def _affordable(case: Case) -> float:
    return PURSE_SHARE * case.purse.left


def is_restless(case: Case) -> bool:
    """It goes down and comes back so often that following it would use up the hour's changes, and
    the next failure would find its backoff: one interval has to do, for an hour."""
    hour_ago = case.now - timedelta(hours=1)
    return sum(at > hour_ago for at in case.endpoint.planner_changes) >= RESTLESS


def _once(case: Case, interval: float, stands: Memory) -> Watch:
    """Beside a cron's grid, one run at a time: an interval would take its own slots away."""
    memory = case.memory
    run_at = datetime.fromtimestamp(memory.seen_at + interval, UTC)
    stands = replace(stands, settled_until=memory.seen_at)
    next_run_at = case.endpoint.next_run_at
    if run_at <= case.now or (next_run_at is not None and run_at >= next_run_at):
        return _rest(stands)
    text = f"{_why(case)}: looked at once more, at {iso(run_at)}"
    finding = Finding(_name(case), text, Want.RUN, run_at=run_at, confidence=0.8)
    runs = 1 - interval / case_pace(case)
    account = stands.account.with_runs(runs, memory.seen_at, case.reach)
    return Watch(finding, replace(stands, account=account), stands)


def case_pace(case: Case) -> float:
    assert case.pace is not None
    return case.pace.total_seconds()


def _finding(case: Case, interval: float, lasts: float, baseline: float) -> Finding:
    pace, length = (humanize(timedelta(seconds=_rounded(value))) for value in (interval, lasts))
    sentence = f"{_why(case)}: looked at every {pace}, for {length}"
    want = Want.RELAX if interval > baseline else Want.WATCH
    durations = (timedelta(seconds=interval), timedelta(seconds=lasts))
    return Finding(_name(case), sentence, want, *durations, confidence=0.8)


def _name(case: Case) -> str:
    return "Outages" if failed_lately(case.memory) else "Calm"


def _why(case: Case) -> str:
    memory, now = case.memory, case.now
    if memory.down_since is not None:
        return f"down since {iso(datetime.fromtimestamp(int(memory.down_since), UTC))}"
    times = case.context.health.outages
    if times:
        return (
            "failed once since yesterday" if times == 1 else f"failed {times} times since yesterday"
        )
    if memory.failed_at is None:
        return "has never failed"
    ago = int((now.timestamp() - memory.failed_at) // DAY)
    return f"failed {ago} days ago" if ago > 1 else "failed a day ago"


def _rounded(seconds: float) -> int:
    """To whole seconds, or minutes where it is long: for people."""
    return round(seconds / MINUTE) * 60 if seconds > 10 * MINUTE else max(1, round(seconds))
