"""All policies over the same traces, with the same number of probes."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import inf
from typing import Any, TypeVar

from benchmarks.adaptation.calibrate import Calibrated, calibrate
from benchmarks.adaptation.eyes import watch, watch_at
from benchmarks.adaptation.life import Life, Lived, rules_brain
from benchmarks.adaptation.policies import FLOOR, POLICIES, POLICIES_OF_WINDOWS, follow, mixed
from benchmarks.adaptation.score import Score, added_up, score_states, score_windows
from benchmarks.adaptation.summary import Measured, summarise
from benchmarks.adaptation.traces import Trace
from cadenza.domain.spending import Budget

T = TypeVar("T")
Traces = Sequence[Trace]
Tell = Callable[[str], None]
FIRST_GUESS = 1.05
LONGEST_CALM = 2.8  # baseline intervals: beyond it a hint would not live to see its run
Shifts = tuple[float, ...]
SHIFTS: Shifts = (0.0, 0.25, 0.5, 0.75)  # where traces are few, each is lived through four times
ONCE: Shifts = SHIFTS[:1]
FEW = 12  # traces
RULES, RANDOM, OWN_BUDGET = "rules brain", "random, same histogram", "rules brain, default budget"


@dataclass(frozen=True, slots=True)
class Row:
    """One policy: how its probes compare with the fixed interval's, and what they were worth."""

    policy: str
    parameter: float
    probes: int
    ratio: float
    spread: tuple[float, float]  # the least and the most that one endpoint was probed, as a ratio
    figures: dict[str, Measured]

    def record(self) -> dict[str, Any]:
        return asdict(self)


def phase_of(trace: Trace, baseline: float, shift: float = 0.0) -> float:
    """Where in its interval a trace is first probed: the same for every policy."""
    share = int.from_bytes(sha256(trace.name.encode()).digest()[1:5]) / 2**32
    return (share + shift) % 1 * baseline


# --- Up and down ----------------------------------------------------------------------------


def race_states(traces: Traces, baseline: float, workers: Executor, tell: Tell) -> list[Row]:
    of_fixed = _followed("fixed", traces, baseline, baseline)
    target = sum(score.probes for score in of_fixed)
    rows = [_row("fixed", 1.0, of_fixed, of_fixed)]
    for name in POLICIES:
        if name != "fixed":
            tell(name)
            calibrated = _calibrated_policy(name, traces, baseline, target)
            rows.append(_row(name, calibrated.parameter, calibrated.result, of_fixed))
    calibrated = _calibrated_rules(_live_states, traces, baseline, target, ONCE, workers, tell)
    mixed_up = list(workers.map(_follow_mixed, traces, [life.probes for life in calibrated.result]))
    rows.append(_row(RANDOM, calibrated.parameter, mixed_up, of_fixed))
    rows.append(
        _row(RULES, calibrated.parameter, [life.score for life in calibrated.result], of_fixed)
    )
    tell(OWN_BUDGET)
    default = _rules(_live_states, traces, baseline, Budget(), ONCE, workers)
    rows.append(_row(OWN_BUDGET, Budget().relax, [life.score for life in default], of_fixed))
    return rows


def _followed(policy: str, traces: Traces, baseline: float, calm: float) -> list[Score]:
    lives = (follow(POLICIES[policy], trace, calm, phase_of(trace, baseline)) for trace in traces)
    return [score_states(trace, lived) for trace, lived in zip(traces, lives, strict=True)]


def _follow_mixed(trace: Trace, probes: list[list[float]]) -> Score:
    times = mixed(probes[0], trace.name)
    return score_states(trace, Lived(times, [trace.is_down(at) for at in times]))


def _calibrated_policy(
    policy: str, traces: Traces, baseline: float, target: int
) -> Calibrated[list[Score]]:
    def attempt(calm: float) -> tuple[int, list[Score]]:
        scores = _followed(policy, traces, baseline, calm * baseline)
        return sum(score.probes for score in scores), scores

    return calibrate(attempt, target, start=1.0)


# --- What is measured -------------------------------------------------------------------------


def race_windows(traces: Traces, baseline: float, workers: Executor, tell: Tell) -> list[Row]:
    """Every policy has the detectors of the rules brain, over its own probes."""
    shifts = SHIFTS if len(traces) < FEW else ONCE
    of_fixed = _watched("fixed", traces, baseline, 1.0, shifts, workers)
    target = sum(score.probes for score in of_fixed)
    rows = [_row("fixed", 1.0, of_fixed, of_fixed)]
    for name in POLICIES_OF_WINDOWS:
        if name != "fixed":
            tell(name)
            calibrated = _calibrated_sight(name, traces, baseline, target, shifts, workers)
            rows.append(_row(name, calibrated.parameter, calibrated.result, of_fixed))
    calibrated = _calibrated_rules(_live_windows, traces, baseline, target, shifts, workers, tell)
    tell(RANDOM)
    same = [baseline] * len(traces)
    mixed_up = list(
        workers.map(_watch_mixed, traces, same, [life.probes for life in calibrated.result])
    )
    rows.append(_row(RANDOM, calibrated.parameter, mixed_up, of_fixed))
    rows.append(
        _row(RULES, calibrated.parameter, [life.score for life in calibrated.result], of_fixed)
    )
    tell(OWN_BUDGET)
    default = _rules(_live_windows, traces, baseline, Budget(), shifts, workers)
    rows.append(_row(OWN_BUDGET, Budget().relax, [life.score for life in default], of_fixed))
    return rows


def _calibrated_sight(
    policy: str, traces: Traces, baseline: float, target: int, shifts: Shifts, workers: Executor
) -> Calibrated[list[Score]]:
    def attempt_with(some: Shifts) -> Callable[[float], tuple[int, list[Score]]]:
        def attempt(calm: float) -> tuple[int, list[Score]]:
            scores = _watched(policy, traces, baseline, calm, some, workers)
            return sum(score.probes for score in scores), scores

        return attempt

    calibrated = calibrate(attempt_with(ONCE), round(target / len(shifts)), start=1.0)
    if shifts == ONCE:
        return calibrated
    return calibrate(attempt_with(shifts), target, calibrated.parameter)


def _watched(
    policy: str, traces: Traces, baseline: float, calm: float, shifts: Shifts, workers: Executor
) -> list[Score]:
    return _longest_first(
        _watch, [(trace, baseline, policy, calm, shifts) for trace in traces], workers
    )


def _watch(sight: tuple[Trace, float, str, float, Shifts]) -> Score:
    trace, baseline, name, calm, shifts = sight
    policy, calm = POLICIES_OF_WINDOWS[name], max(FLOOR, calm * baseline)
    lives = [
        watch(trace, baseline, phase_of(trace, baseline, shift), policy(trace, calm))
        for shift in shifts
    ]
    return added_up([score_windows(trace, lived) for lived in lives])


def _watch_mixed(trace: Trace, baseline: float, probes: list[list[float]]) -> Score:
    lives = [watch_at(trace, baseline, mixed(times, trace.name)) for times in probes]
    return added_up([score_windows(trace, lived) for lived in lives])


# --- The rules brain --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Outlived:
    """What a life under the brain was worth, and when it probed (once for each shift)."""

    score: Score
    probes: list[list[float]]


Task = tuple[Trace, float, Budget, Shifts]
Live = Callable[[Task], Outlived]


def _calibrated_rules(
    live: Live,
    traces: Traces,
    baseline: float,
    target: int,
    shifts: Shifts,
    workers: Executor,
    tell: Tell,
) -> Calibrated[list[Outlived]]:
    """The owner's factor is open, as all endpoints share one pool; how far calm relaxes is set."""

    def attempt_with(some: Shifts) -> Callable[[float], tuple[int, list[Outlived]]]:
        def attempt(relax: float) -> tuple[int, list[Outlived]]:
            budget = Budget(factor=inf, relax=relax)
            results = _rules(live, traces, baseline, budget, some, workers)
            count = sum(life.score.probes for life in results)
            tell(f"{RULES}: calm is {relax:.3f} of the baseline, {count} probes")
            return count, results

        return attempt

    calibrated = calibrate(
        attempt_with(ONCE), round(target / len(shifts)), FIRST_GUESS, LONGEST_CALM
    )
    if shifts == ONCE:
        return calibrated
    return calibrate(attempt_with(shifts), target, calibrated.parameter, LONGEST_CALM)


def _rules(
    live: Live,
    traces: Traces,
    baseline: float,
    budget: Budget,
    shifts: Shifts,
    workers: Executor,
) -> list[Outlived]:
    return _longest_first(live, [(trace, baseline, budget, shifts) for trace in traces], workers)


def _live(task: Task, shift: float = 0.0) -> Lived:
    trace, baseline, budget, _ = task
    phase = phase_of(trace, baseline, shift)
    return Life(trace, baseline, FLOOR, phase).live(rules_brain(budget))


def _live_states(task: Task) -> Outlived:
    lived = _live(task)
    return Outlived(score_states(task[0], lived), [lived.probes])


def _live_windows(task: Task) -> Outlived:
    lives = [_live(task, shift) for shift in task[3]]
    score = added_up([score_windows(task[0], lived) for lived in lives])
    return Outlived(score, [lived.probes for lived in lives])


# --- Both -------------------------------------------------------------------------------------


def _longest_first(run: Callable[[Any], T], tasks: Sequence[Any], workers: Executor) -> list[T]:
    """In the order of the tasks; begun with the longest, so that none is left alone at the end."""
    order = sorted(range(len(tasks)), key=lambda index: -tasks[index][0].length)
    results = dict(zip(order, workers.map(run, [tasks[index] for index in order]), strict=True))
    return [results[index] for index in range(len(tasks))]


def _row(policy: str, parameter: float, scores: list[Score], of_fixed: list[Score]) -> Row:
    ratios = [
        own.probes / max(1, fixed.probes) for own, fixed in zip(scores, of_fixed, strict=True)
    ]
    probes = sum(score.probes for score in scores)
    ratio = probes / max(1, sum(score.probes for score in of_fixed))
    figures = summarise(scores, of_fixed)
    return Row(policy, parameter, probes, ratio, (min(ratios), max(ratios)), figures)
