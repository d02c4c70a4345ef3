"""The probes of one endpoint: stretches at one interval, so that years of calm take no room."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

from benchmarks.adaptation.traces import Span, Trace


class Stretch(NamedTuple):
    """`count` probes, `step` apart, all with the same answer."""

    start: float
    step: float
    count: int
    down: bool

    @property
    def last(self) -> float:
        return self.start + (self.count - 1) * self.step


@dataclass(slots=True)
class Probes:
    stretches: list[Stretch] = field(default_factory=list[Stretch])

    def add(self, start: float, step: float, count: int, down: bool) -> None:
        if count > 0:
            self.stretches.append(Stretch(start, step, count, down))

    @property
    def count(self) -> int:
        return sum(stretch.count for stretch in self.stretches)

    def times(self) -> Iterator[float]:
        for stretch in self.stretches:
            yield from (stretch.start + turn * stretch.step for turn in range(stretch.count))

    def first_at_or_after(self, at: float) -> float:
        """Infinity where there is none."""
        index = max(0, bisect_right(self.stretches, at, key=_start) - 1)
        for stretch in self.stretches[index : index + 2]:
            if stretch.last < at:
                continue
            turns = max(0, ceil((at - stretch.start) / stretch.step)) if stretch.step else 0
            return stretch.start + turns * stretch.step
        return float("inf")

    def spans_down(self, end: float) -> list[Span]:
        """When it is believed to be down: from a probe that says so to one that does not."""
        spans: list[Span] = []
        began: float | None = None
        for stretch in self.stretches:
            if stretch.down and began is None:
                began = stretch.start
            elif not stretch.down and began is not None:
                spans.append((began, stretch.start))
                began = None
        if began is not None:
            spans.append((began, end))
        return spans


def _start(stretch: Stretch) -> float:
    return stretch.start


def unchanged_until(trace: Trace, first: float, step: float, down: bool, before: float) -> int:
    """How many probes from `first` on, `step` apart and before an instant, answer all the same."""
    count, at = 0, first
    while at < before:
        if trace.is_down(at) is not down:
            break
        same_until = min(trace.next_change(at), before)
        turns = max(1, ceil((same_until - at) / step))
        count += turns
        at = first + count * step
    return count


def fixed(trace: Trace, interval: float, first: float) -> Probes:
    """Probed at an interval, whatever happens."""
    probes, at = Probes(), first
    while at < trace.end:
        down = trace.is_down(at)
        count = unchanged_until(trace, at, interval, down, trace.end)
        probes.add(at, interval, count, down)
        at += count * interval
    return probes
