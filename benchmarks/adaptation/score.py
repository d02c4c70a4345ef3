"""What a policy's probes were worth to those who believe what the last probe said."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.adaptation.life import Lived
from benchmarks.adaptation.traces import DAY, Span, Trace

SAME_ALARM = 12 * 3600.0  # a change that is named again within this time is the same alarm


@dataclass(frozen=True, slots=True)
class Score:
    """One endpoint under one policy. Sums, so that endpoints can be added up."""

    name: str
    days: float
    probes: int
    wrong: float  # share of the time that the believed state was wrong
    happened: int  # outages, or labelled windows
    delay: float  # seconds until they were noticed, in all; one that was missed counts whole
    misses: int
    recoveries: int = 0
    recovery_delay: float = 0.0
    false_alarms: int = 0


def added_up(scores: Sequence[Score]) -> Score:
    """Several lives of one endpoint as one."""
    return Score(
        scores[0].name,
        sum(score.days for score in scores),
        sum(score.probes for score in scores),
        fmean(score.wrong for score in scores),
        sum(score.happened for score in scores),
        sum(score.delay for score in scores),
        sum(score.misses for score in scores),
        sum(score.recoveries for score in scores),
        sum(score.recovery_delay for score in scores),
        sum(score.false_alarms for score in scores),
    )


def score_states(trace: Trace, lived: Lived) -> Score:
    """Up and down: a probe sees the truth, so no alarm is false, but it may be late or old."""
    delay, misses, recoveries, recovery_delay = 0.0, 0, 0, 0.0
    for begin, end in trace.outages:
        index = bisect_left(lived.probes, begin)
        if index == len(lived.probes) or lived.probes[index] >= end:
            misses += 1
            delay += end - begin
            continue
        delay += lived.probes[index] - begin
        if end < trace.length:
            recoveries += 1
            recovery_delay += _first_well(lived, index, trace.length) - end
    return Score(
        trace.name,
        trace.length / DAY,
        len(lived.probes),
        _wrong_time(trace, lived) / trace.length,
        len(trace.outages),
        delay,
        misses,
        recoveries,
        recovery_delay,
    )


def _first_well(lived: Lived, index: int, end: float) -> float:
    while index < len(lived.probes) and lived.downs[index]:
        index += 1
    return lived.probes[index] if index < len(lived.probes) else end


def _wrong_time(trace: Trace, lived: Lived) -> float:
    """Where what is believed and what is true differ; before the first probe all seems well."""
    believed = _spans_down(lived, trace.length)
    down = sum(end - begin for begin, end in trace.outages)
    thought = sum(end - begin for begin, end in believed)
    return down + thought - 2 * _overlap(trace.outages, believed)


def _spans_down(lived: Lived, end: float) -> list[Span]:
    spans: list[Span] = []
    began: float | None = None
    for at, down in zip(lived.probes, lived.downs, strict=True):
        if down and began is None:
            began = at
        elif not down and began is not None:
            spans.append((began, at))
            began = None
    if began is not None:
        spans.append((began, end))
    return spans


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


def score_windows(trace: Trace, lived: Lived) -> Score:
    """What was measured: noticed is the first session inside a window that names a change."""
    delay, misses, unseen = 0.0, 0, 0.0
    for begin, end in trace.windows:
        index = bisect_left(lived.named_at, begin)
        seen = index < len(lived.named_at) and lived.named_at[index] < end
        misses += not seen
        taken = (lived.named_at[index] if seen else end) - begin
        delay += taken
        unseen += taken
    return Score(
        trace.name,
        trace.length / DAY,
        len(lived.probes),
        unseen / trace.length,
        len(trace.windows),
        delay,
        misses,
        false_alarms=_false_alarms(trace, lived.named_at),
    )


def _false_alarms(trace: Trace, named_at: list[float]) -> int:
    count, last = 0, float("-inf")
    for at in named_at:
        is_new = at - last > SAME_ALARM
        last = at
        count += is_new and not any(begin <= at < end for begin, end in trace.windows)
    return count
