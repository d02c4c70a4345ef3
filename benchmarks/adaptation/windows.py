"""What detectors of numbers are worth: alarms over metrics with labelled windows, and two controls.

An alarm lasts from a probe at which a detector names a change to one at which it does not; outside
of the windows it is false for as long as it lasts. The first control has the same alarms moved by a
random time (as many, as long, at the wrong moment), the second always alarms. A detector that does
not notice windows sooner than the first control says nothing.
"""

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from datetime import timedelta
from random import Random
from statistics import fmean
from typing import Any

from benchmarks.adaptation.life import EPOCH, SPACE
from benchmarks.adaptation.race import first_probe
from benchmarks.adaptation.traces import Span, Trace
from cadenza.domain.analysis import RECENT_RESPONSES, AnalysisContext, Response
from cadenza.domain.detectors import level_shift as shifts
from cadenza.domain.detectors.case import ENOUGH_RUNS, Case
from cadenza.domain.detectors.trend import trend
from cadenza.domain.endpoint import Endpoint, Every, Job
from cadenza.domain.health import Health
from cadenza.domain.run import RunStatus

DETECTORS = {"Level shift": shifts.level_shift, "Trend": trend}
BASELINES = (1800.0, 3600.0)
PHASES = 4
MOVES = 20  # of the control
ALWAYS, MOVED = "control: always", "control: moved alarms"
_JOB = Job(SPACE, SPACE, "replay")
_HEALTH = Health((), None, 0)
_ZERO = timedelta(0)
DRAWS = 500


@dataclass(frozen=True, slots=True)
class Noticed:
    """One file: seconds until its windows were noticed, how many were not, and false alarms."""

    delay: float
    misses: float
    windows: int
    false_share: float  # of the time outside of all windows


@dataclass(frozen=True, slots=True)
class Row:
    detector: str
    baseline_min: float
    files: int
    windows: int
    delay_min: float
    miss_share: float
    false_share: float
    skill: float  # against the moved alarms
    skill_low: float
    skill_high: float

    def record(self) -> dict[str, Any]:
        return asdict(self)


def race(traces: Sequence[Trace], workers: Executor) -> list[Row]:
    rows: list[Row] = []
    for baseline in BASELINES:
        files = list(workers.map(_file, traces, [baseline] * len(traces)))
        if not files:
            continue
        for name in (*DETECTORS, "both"):
            own, moved = ([file[name][kind] for file in files] for kind in (0, 1))
            rows.append(_row(name, baseline, own, moved))
            rows.append(_row(f"{MOVED} of {name}", baseline, moved, moved))
        always = [file[ALWAYS][0] for file in files]
        rows.append(_row(ALWAYS, baseline, always, [file["both"][1] for file in files]))
    return rows


def _file(trace: Trace, baseline: float) -> dict[str, tuple[Noticed, Noticed]]:
    alarms: dict[str, list[Noticed]] = {}
    moved: dict[str, list[Noticed]] = {}
    for phase in range(PHASES):
        times, named = _look(trace, baseline, phase)
        named["both"] = [any(each) for each in zip(*named.values(), strict=True)]
        named[ALWAYS] = [True] * len(times)
        for name, flags in named.items():
            spans = _spans(times, flags, trace.length)
            alarms.setdefault(name, []).append(noticed(trace, spans))
            chance = Random(f"{trace.name} {name} {phase}")
            draws = [_moved(spans, chance.random() * trace.length, trace) for _ in range(MOVES)]
            moved.setdefault(name, []).append(_mean([noticed(trace, each) for each in draws]))
    return {name: (_mean(alarms[name]), _mean(moved[name])) for name in alarms}


def _look(trace: Trace, baseline: float, phase: int) -> tuple[list[float], dict[str, list[bool]]]:
    pace = timedelta(seconds=baseline)
    endpoint = Endpoint(SPACE, SPACE, SPACE, trace.name, Every(pace), EPOCH)
    recent = deque[Response](maxlen=RECENT_RESPONSES)
    times, named = list[float](), {name: list[bool]() for name in DETECTORS}
    at = first_probe(trace, baseline, phase, PHASES)
    while at < trace.length:
        now = EPOCH + timedelta(seconds=at)
        recent.appendleft(Response(now, now, RunStatus.SUCCESS, trace.answer(at).body, _ZERO, 200))
        context = AnalysisContext(now, endpoint, _JOB, _HEALTH, (), recent=tuple(recent))
        case = Case(context, pace)
        times.append(at)
        for name, detector in DETECTORS.items():
            finding = detector(case, pace) if len(recent) >= ENOUGH_RUNS else None
            named[name].append(finding is not None and finding.detector == name)
        at += baseline
    return times, named


def _spans(times: Sequence[float], flags: Sequence[bool], end: float) -> list[Span]:
    spans: list[Span] = []
    began: float | None = None
    for at, flag in zip(times, flags, strict=True):
        if flag and began is None:
            began = at
        elif not flag and began is not None:
            spans.append((began, at))
            began = None
    return [*spans, (began, end)] if began is not None else spans


def _moved(spans: Sequence[Span], by: float, trace: Trace) -> list[Span]:
    """Around a circle: what leaves at the end comes in at the beginning."""
    moved: list[Span] = []
    for begin, end in spans:
        a, b = (begin + by) % trace.length, (begin + by) % trace.length + end - begin
        moved.append((a, min(b, trace.length)))
        if b > trace.length:
            moved.append((0.0, b - trace.length))
    return sorted(moved)


def noticed(trace: Trace, spans: Sequence[Span]) -> Noticed:
    delay, misses, false = 0.0, 0, sum(end - begin for begin, end in spans)
    for begin, end in trace.windows:
        inside = [(max(a, begin), min(b, end)) for a, b in spans if a < end and b > begin]
        false -= sum(b - a for a, b in inside)
        misses += not inside
        delay += (inside[0][0] if inside else end) - begin
    outside = trace.length - sum(end - begin for begin, end in trace.windows)
    return Noticed(delay, misses, len(trace.windows), false / max(1.0, outside))


def _mean(each: Sequence[Noticed]) -> Noticed:
    return Noticed(
        fmean(one.delay for one in each),
        fmean(one.misses for one in each),
        each[0].windows,
        fmean(one.false_share for one in each),
    )


def _row(name: str, baseline: float, own: list[Noticed], control: list[Noticed]) -> Row:
    chance, count = Random(1), len(own)
    drawn = [[chance.randrange(count) for _ in range(count)] for _ in range(DRAWS)]
    skills = sorted(
        _skill([own[i] for i in places], [control[i] for i in places]) for places in drawn
    )
    windows = sum(one.windows for one in own)
    return Row(
        name,
        baseline / 60,
        count,
        windows,
        sum(one.delay for one in own) / max(1, windows) / 60,
        sum(one.misses for one in own) / max(1, windows),
        fmean(one.false_share for one in own),
        _skill(own, control),
        skills[int(0.025 * DRAWS)],
        skills[int(0.975 * DRAWS)],
    )


def _skill(own: Sequence[Noticed], control: Sequence[Noticed]) -> float:
    other = sum(one.delay for one in control)
    return 1 - sum(one.delay for one in own) / other if other else 0.0


def table(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    head = (
        "| baseline | alarms of | noticed after, min | missed | false alarm, of the time | skill |"
    )
    lines = [f"### metrics ({rows[0].files} files, {rows[0].windows} windows)", "", head]
    lines.append("|" + "---|" * 6)
    for row in rows:
        skill = f"{row.skill:+.2f} ({row.skill_low:+.2f}…{row.skill_high:+.2f})"
        figures = f"{row.delay_min:.0f} | {row.miss_share:.0%} | {row.false_share:.1%}"
        lines.append(f"| {row.baseline_min:g} min | {row.detector} | {figures} | {skill} |")
    return "\n".join(lines)
