"""Policies that the rules brain is compared with: each says how long to wait after a probe.

All but the fixed one have one free parameter, `calm`: the interval while nothing happens. It is
set so that all endpoints together are probed as often as under the fixed interval. Where numbers
are measured, "down" is a look at which the detectors name a change.
"""

from collections.abc import Callable
from itertools import accumulate, pairwise
from math import inf
from random import Random

from benchmarks.adaptation.life import Lived
from benchmarks.adaptation.traces import Trace

FLOOR = 300.0
_MOST_DOUBLINGS = 5
Wait = Callable[[float, bool], float]  # after a probe at this time, which found it down or not
Policy = Callable[[Trace, float], Wait]


def fixed(_: Trace, calm: float) -> Wait:
    return lambda _at, _down: calm


def fast_while_down(_: Trace, calm: float) -> Wait:
    return lambda _at, down: FLOOR if down else calm


def exponential_backoff(_: Trace, calm: float) -> Wait:
    failures = 0

    def wait(_at: float, down: bool) -> float:
        nonlocal failures
        failures = failures + 1 if down else 0
        return calm * 2 ** min(failures, _MOST_DOUBLINGS)

    return wait


def burst_and_decay(_: Trace, calm: float) -> Wait:
    """After a change of state every five minutes, then twice as long each time, up to calm."""
    was_down, interval = False, calm

    def wait(_at: float, down: bool) -> float:
        nonlocal was_down, interval
        interval = FLOOR if down is not was_down else min(2 * interval, calm)
        was_down = down
        return interval

    return wait


def oracle(trace: Trace, calm: float) -> Wait:
    """Knows when the next change comes, and is there; only the floor holds it."""

    def wait(at: float, _down: bool) -> float:
        return max(FLOOR, min(calm, trace.next_change(at) - at))

    return wait


def oracle_of_windows(trace: Trace, calm: float) -> Wait:
    """Knows when a window begins, and looks as often as it may until the change is named.

    It has no better detectors than the others, only better times.
    """
    named: set[float] = set()

    def wait(at: float, down: bool) -> float:
        begin, end = next((window for window in trace.windows if at < window[1]), (inf, inf))
        if begin <= at:
            if down:
                named.add(begin)
            return min(calm, end - at + FLOOR) if begin in named else FLOOR
        return max(FLOOR, min(calm, begin - at))

    return wait


POLICIES: dict[str, Policy] = {
    "fixed": fixed,
    "fast while down": fast_while_down,
    "exponential back-off": exponential_backoff,
    "burst and decay": burst_and_decay,
    "oracle": oracle,
}
POLICIES_OF_WINDOWS = {**POLICIES, "oracle": oracle_of_windows}


def follow(policy: Policy, trace: Trace, calm: float, phase: float) -> Lived:
    lived, wait, at = Lived(), policy(trace, max(calm, FLOOR)), phase
    while at < trace.length:
        down = trace.is_down(at)
        lived.probes.append(at)
        lived.downs.append(down)
        at += wait(at, down)
    return lived


def mixed(probes: list[float], seed: str) -> list[float]:
    """The same waits in another order: as many probes, and the same histogram, but no sense."""
    waits = [later - earlier for earlier, later in pairwise(probes)]
    Random(seed).shuffle(waits)
    return list(accumulate(waits, initial=probes[0])) if probes else []
