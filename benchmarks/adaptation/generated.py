"""Traces that are made up, from a seed: what a clone without any data can run."""

from random import Random

from benchmarks.adaptation.traces import DAY, Group, Span, Trace

HOUR, MINUTE = 3600.0, 60.0
SEEDS = (7, 11, 12, 13, 14)
JOBS, MEMBERS = 3, 4


def poisson_jobs(days: float, seed: int) -> list[Group]:
    """Failures without memory, that no sibling shares: what happened says nothing."""
    return [
        tuple(_poisson(f"poisson {seed} {job}", member, days * DAY) for member in range(MEMBERS))
        for job in range(JOBS)
    ]


def _poisson(group: str, member: int, length: float) -> Trace:
    chance = Random(f"{group} {member}")
    between, lasts = chance.choice([1, 2, 4]) * DAY, chance.choice([20, 40, 90]) * MINUTE
    outages = _outages(length, chance, between, lasts)
    return Trace(f"{group} {member}", length, outages=outages, group=group)


def ramps(days: float = 10, each: int = 6, seed: int = 7) -> list[Group]:
    """A queue that grows for hours before the target falls over, and says how much it can hold."""
    return [(_ramp(f"ramp {seed} {number}", days * DAY),) for number in range(each)]


def _ramp(name: str, length: float) -> Trace:
    chance = Random(name)
    outages = _outages(length, chance, 2 * DAY, 60 * MINUTE)
    times, values = [step * 5 * MINUTE for step in range(int(length // (5 * MINUTE)) + 1)], []
    for at in times:
        ahead = next((begin - at for begin, _ in outages if begin > at), float("inf"))
        grown = max(0.0, 1 - ahead / (4 * HOUR))
        values.append(round(100 + chance.gauss(0, 5) + 400 * grown, 1))
    measured = (tuple(times), tuple(values), "queue_depth", {"queue_max": 500.0})
    return Trace(name, length, outages, (), *measured, group=name)


def _outages(length: float, chance: Random, between: float, lasts: float) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = chance.expovariate(1 / between)
    while at < length:
        end = min(length, at + chance.expovariate(1 / lasts) + MINUTE)
        spans.append((at, end))
        at = end + chance.expovariate(1 / between)
    return tuple(spans)
