"""Traces that are made up, from a seed: what a clone without any data can run."""

from math import pi, sin
from random import Random

from benchmarks.adaptation.traces import DAY, Span, Trace

HOUR, MINUTE = 3600.0, 60.0


def generated(days: float = 30, each: int = 12, seed: int = 7) -> dict[str, list[Trace]]:
    """By kind: so many traces of each, so many days long; longer where that costs little."""
    kinds = {
        "poisson": (_poisson, 2),
        "bursts": (_bursts, 1),
        "ramp": (_ramp, 1),
        "season": (_season, 1),
        "permanent": (_permanent, 1),
    }
    return {
        kind: [
            make(f"{kind} {number}", days * times * DAY, Random(f"{seed} {kind} {number}"))
            for number in range(each)
        ]
        for kind, (make, times) in kinds.items()
    }


def _poisson(name: str, length: float, chance: Random) -> Trace:
    """Failures without memory: what happened says nothing about what will."""
    between, lasts = chance.choice([1, 2, 4]) * DAY, chance.choice([20, 40, 90]) * MINUTE
    return Trace(name, length, outages=_outages(length, chance, between, lasts))


def _bursts(name: str, length: float, chance: Random) -> Trace:
    """Outages that come in flocks: each calls the next within hours, until it is over."""
    spans: list[Span] = []
    at = chance.expovariate(1 / (5 * DAY))
    while at < length:
        end = at + chance.lognormvariate(3.0, 0.7) * MINUTE
        spans.append((at, min(end, length)))
        again = chance.random() < 0.75
        at = end + chance.expovariate(1 / (3 * HOUR if again else 5 * DAY))
    return Trace(name, length, outages=tuple(spans))


def _ramp(name: str, length: float, chance: Random) -> Trace:
    """A queue that grows for hours before the target falls over, and says how much it can hold."""
    outages = _outages(length, chance, 3 * DAY, 60 * MINUTE)
    times, values = _every_five_minutes(length), list[float]()
    for at in times:
        ahead = next((begin - at for begin, _ in outages if begin > at), float("inf"))
        grown = max(0.0, 1 - ahead / (4 * HOUR))
        values.append(round(100 + chance.gauss(0, 5) + 400 * grown, 1))
    limits = {"queue_max": 500.0}
    windows = tuple((max(0.0, begin - 4 * HOUR), begin) for begin, _ in outages)
    return Trace(name, length, outages, windows, tuple(times), tuple(values), "queue_depth", limits)


def _season(name: str, length: float, chance: Random) -> Trace:
    """A number that follows the day, and failures in its busy hours."""
    times = _every_five_minutes(length)
    values = [round(100 + 50 * _day(at) + chance.gauss(0, 4), 1) for at in times]
    spans: list[Span] = []
    for begin, end in _outages(length, chance, DAY, 30 * MINUTE):
        if chance.random() < 0.5 + 0.5 * _day(begin):
            spans.append((begin, end))
    return Trace(name, length, tuple(spans), (), tuple(times), tuple(values), "requests")


def _permanent(name: str, length: float, chance: Random) -> Trace:
    """Well, until it goes down for good."""
    return Trace(name, length, outages=((chance.uniform(0.2, 0.8) * length, length),))


def _outages(length: float, chance: Random, between: float, lasts: float) -> tuple[Span, ...]:
    spans: list[Span] = []
    at = chance.expovariate(1 / between)
    while at < length:
        end = min(length, at + chance.expovariate(1 / lasts) + MINUTE)
        spans.append((at, end))
        at = end + chance.expovariate(1 / between)
    return tuple(spans)


def _day(at: float) -> float:
    return sin(2 * pi * at / DAY)


def _every_five_minutes(length: float) -> list[float]:
    return [step * 5 * MINUTE for step in range(int(length // (5 * MINUTE)) + 1)]
