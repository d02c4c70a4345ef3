"""How soon something will change: the chance of the next outage, or of this one's end.

Outages come in flocks: what failed an hour ago fails again sooner than what failed a month ago. So
an endpoint's own outages are counted with five memories of different length, each count fading by
itself; a rate is a count over the time that it can remember. Fitted on the half of the groups in
`uptime-groups.json` that is tuned on (see docs/concepts/adaptation.md). Times are epoch seconds,
rates are per second: this is asked after every run of everything.
"""

from bisect import bisect_right
from dataclasses import dataclass
from math import exp, log

MINUTE, HOUR, DAY = 60.0, 3600.0, 86_400.0
MEMORIES = (HOUR, 6 * HOUR, DAY, 7 * DAY, 45 * DAY)
WEIGHTS = (0.21, 0.0, 0.39, 0.15, 0.36)
BASE_RATE = 0.008 / DAY  # of what has never failed
YOUNGEST = DAY  # an outage in the first hour says little about the hours to come

# While it is down: the chance that it comes back, an hour, by the minutes that it has lasted.
_RECOVERY = (
    *((2.5, 0.4), (5.0, 1.0), (9.0, 2.2), (16.0, 1.7), (30.0, 2.1), (54.0, 1.2)),
    *((100.0, 0.36), (186.0, 0.19), (343.0, 0.12), (1170.0, 0.04)),
)
_LASTED = [log(minutes * MINUTE) for minutes, _ in _RECOVERY]
_RATES = [log(rate / HOUR) for _, rate in _RECOVERY]


@dataclass(frozen=True, slots=True)
class Outages:
    """How often an endpoint went down, in five memories that fade."""

    known_since: float
    counted_at: float
    counts: tuple[float, ...] = (0.0,) * len(MEMORIES)

    def with_one_more(self, at: float) -> "Outages":
        faded = zip(self.counts, MEMORIES, strict=True)
        passed = at - self.counted_at
        counts = tuple([count * exp(-passed / memory) + 1 for count, memory in faded])
        return Outages(self.known_since, at, counts)

    def rate(self, now: float) -> float:
        """The hazard of the next outage while it is well."""
        if not self.counts[-1]:
            return BASE_RATE
        passed, age = now - self.counted_at, max(now - self.known_since, YOUNGEST)
        rate = BASE_RATE
        for count, memory, weight in zip(self.counts, MEMORIES, WEIGHTS, strict=True):
            if weight:
                reach = memory * (1 - exp(-age / memory))
                rate += weight * count * exp(-passed / memory) / reach
        return rate


def recovery_rate(lasted: float) -> float:
    """The hazard of the end of an outage that has lasted so long: the longer, the less likely."""
    at = log(max(lasted, 1.0))
    index = bisect_right(_LASTED, at)
    if index in (0, len(_LASTED)):
        return exp(_RATES[min(index, len(_RATES) - 1)])
    left, right = _LASTED[index - 1], _LASTED[index]
    share = (at - left) / (right - left)
    return exp(_RATES[index - 1] + share * (_RATES[index] - _RATES[index - 1]))
