"""What probes were worth to those who believe what the last one said."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.adaptation.probes import Probes
from benchmarks.adaptation.traces import DAY, Span, Trace


@dataclass(frozen=True, slots=True)
class Score:
    """One endpoint under one policy. Sums, so that phases and endpoints can be added up."""

    name: str
    group: str
    days: float
    probes: int
    wrong: float  # share of the time that the believed state was wrong
    happened: int  # outages
    delay: float  # seconds until they were noticed, in all; one that was missed counts whole
    misses: int
    recoveries: int = 0
    recovery_delay: float = 0.0


def added_up(scores: Sequence[Score]) -> Score:
    """Several lives of one endpoint as one."""
    return Score(
        scores[0].name,
        scores[0].group,
        sum(score.days for score in scores),
        sum(score.probes for score in scores),
        fmean(score.wrong for score in scores),
        sum(score.happened for score in scores),
        sum(score.delay for score in scores),
        sum(score.misses for score in scores),
        sum(score.recoveries for score in scores),
        sum(score.recovery_delay for score in scores),
    )


def score_states(trace: Trace, probes: Probes) -> Score:
    """A probe sees the truth, so no alarm is false, but it may be late or old."""
    delay, misses, recoveries, recovery_delay = 0.0, 0, 0, 0.0
    believed = probes.spans_down(trace.end)
    for begin, end in trace.outages:
        seen_at = probes.first_at_or_after(begin)
        if seen_at >= end:
            misses += 1
            delay += end - begin
            continue
        delay += seen_at - begin
        if end < trace.end:
            recoveries += 1
            recovery_delay += min(probes.first_at_or_after(end), trace.end) - end
    down = sum(end - begin for begin, end in trace.outages)
    thought = sum(end - begin for begin, end in believed)
    wrong = down + thought - 2 * _overlap(trace.outages, believed)
    counts = (len(trace.outages), delay, misses, recoveries, recovery_delay)
    days, share = trace.length / DAY, wrong / trace.length
    return Score(trace.name, trace.group, days, probes.count, share, *counts)


def _overlap(first: tuple[Span, ...], second: list[Span]) -> float:
    total, a, b = 0.0, 0, 0
    while a < len(first) and b < len(second):
        begin = max(first[a][0], second[b][0])
        end = min(first[a][1], second[b][1])
        total += max(0.0, end - begin)
        if first[a][1] < second[b][1]:
            a += 1
        else:
            b += 1
    return total
