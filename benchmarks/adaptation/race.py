"""All policies over the same traces, with the same number of probes."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import inf
from typing import Any

from benchmarks.adaptation.calibrate import Calibrated, calibrate
from benchmarks.adaptation.life import Life, Lived, Onlooker, rules_brain
from benchmarks.adaptation.policies import FLOOR, POLICIES, Policy, follow, shuffled
from benchmarks.adaptation.score import Score, added_up, score_states, score_windows
from benchmarks.adaptation.summary import Measured, summarise
from benchmarks.adaptation.traces import Trace
from cadenza.domain.spending import Budget

Traces = Sequence[Trace]
Tell = Callable[[str], None]
ENOUGH_TO_GUESS = 1 / 8  # of each trace, to find where to begin
LONGEST_CALM = 2.8  # baseline intervals: beyond it a hint would not live to see its run
SHIFTS = (0.0, 0.25, 0.5, 0.75)  # metrics are few: each is lived through four times
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


def phase_of(trace: Trace, baseline: float) -> float:
    """Where in its interval a trace is first probed: the same for every policy."""
    return int.from_bytes(sha256(trace.name.encode()).digest()[1:5]) / 2**32 * baseline


# --- Up and down ----------------------------------------------------------------------------


def race_states(traces: Traces, baseline: float, workers: Executor, tell: Tell) -> list[Row]:
    of_fixed = _followed(POLICIES["fixed"], traces, baseline, baseline)
    target = sum(each.probes for each in of_fixed)
    rows = [_row("fixed", 1.0, of_fixed, of_fixed)]
    for name, policy in POLICIES.items():
        if name != "fixed":
            found = _calibrated_policy(policy, traces, baseline, target)
            rows.append(_row(name, found.parameter, found.result, of_fixed))
    tell("rules brain")
    found = _calibrated_rules(_live_states, traces, baseline, target, workers, tell)
    rows.append(_row(RANDOM, found.parameter, [each[1] for each in found.result], of_fixed))
    rows.append(_row(RULES, found.parameter, [each[0] for each in found.result], of_fixed))
    default = _rules(_live_states, traces, baseline, Budget(), workers)
    rows.append(_row(OWN_BUDGET, Budget().relax, [each[0] for each in default], of_fixed))
    return rows


def _followed(policy: Policy, traces: Traces, baseline: float, calm: float) -> list[Score]:
    lives = ((each, follow(policy, each, calm, phase_of(each, baseline))) for each in traces)
    return [score_states(trace, lived) for trace, lived in lives]


def _calibrated_policy(
    policy: Policy, traces: Traces, baseline: float, target: int
) -> Calibrated[list[Score]]:
    def attempt(calm: float) -> tuple[int, list[Score]]:
        scores = _followed(policy, traces, baseline, calm * baseline)
        return sum(each.probes for each in scores), scores

    return calibrate(attempt, target, start=1.0)


# --- What is measured -------------------------------------------------------------------------


def race_windows(traces: Traces, baseline: float, workers: Executor, tell: Tell) -> list[Row]:
    """Nothing fails here, so that policies which only know up and down are the fixed one."""
    of_fixed = list(workers.map(_look_on, [(each, baseline) for each in traces]))
    target = sum(each.probes for each in of_fixed)
    tell("rules brain")
    found = _calibrated_rules(_live_windows, traces, baseline, target, workers, tell)
    default = _rules(_live_windows, traces, baseline, Budget(), workers)
    return [
        _row("fixed", 1.0, of_fixed, of_fixed),
        _row(RULES, found.parameter, found.result, of_fixed),
        _row(OWN_BUDGET, Budget().relax, default, of_fixed),
    ]


# --- The rules brain --------------------------------------------------------------------------

Task = tuple[Trace, float, Budget]


def _calibrated_rules(
    live: Callable[[Task], Any],
    traces: Traces,
    baseline: float,
    target: int,
    workers: Executor,
    tell: Tell,
) -> Calibrated[list[Any]]:
    """The owner's factor is open, as all endpoints share one pool; how far calm relaxes is set."""

    def attempt_on(some: Traces) -> Callable[[float], tuple[int, list[Any]]]:
        def attempt(relax: float) -> tuple[int, list[Any]]:
            results = _rules(live, some, baseline, Budget(factor=inf, relax=relax), workers)
            count = sum(_score(each).probes for each in results)
            tell(f"rules brain: calm is {relax:.3f} of the baseline, {count} probes")
            return count, results

        return attempt

    short = [each.cut(ENOUGH_TO_GUESS * each.length) for each in traces]
    guess = calibrate(attempt_on(short), round(ENOUGH_TO_GUESS * target), 1.05, LONGEST_CALM)
    return calibrate(attempt_on(traces), target, guess.parameter, LONGEST_CALM)


def _rules(
    live: Callable[[Task], Any], traces: Traces, baseline: float, budget: Budget, workers: Executor
) -> list[Any]:
    """The longest first, so that no worker is left alone with it at the end."""
    order = sorted(range(len(traces)), key=lambda place: -traces[place].length)
    tasks = [(traces[place], baseline, budget) for place in order]
    results = dict(zip(order, workers.map(live, tasks), strict=True))
    return [results[place] for place in range(len(traces))]


def _live(task: Task, shift: float = 0.0) -> Lived:
    trace, baseline, budget = task
    phase = (phase_of(trace, baseline) + shift * baseline) % baseline
    return Life(trace, baseline, FLOOR, phase).live(rules_brain(budget))


def _live_states(task: Task) -> tuple[Score, Score]:
    lived = _live(task)
    return score_states(task[0], lived), score_states(task[0], shuffled(lived, task[0]))


def _live_windows(task: Task) -> Score:
    lives = [score_windows(task[0], _live(task, shift)) for shift in SHIFTS]
    return added_up(lives)


def _look_on(task: tuple[Trace, float]) -> Score:
    trace, baseline = task
    scores: list[Score] = []
    for shift in SHIFTS:
        phase = (phase_of(trace, baseline) + shift * baseline) % baseline
        lived = Onlooker(trace, baseline, FLOOR, phase).live(rules_brain(Budget()))
        scores.append(score_windows(trace, lived))
    return added_up(scores)


def _score(result: Any) -> Score:
    return result if isinstance(result, Score) else result[0]


def _row(policy: str, parameter: float, scores: list[Score], of_fixed: list[Score]) -> Row:
    ratios = [
        own.probes / max(1, fixed.probes) for own, fixed in zip(scores, of_fixed, strict=True)
    ]
    probes = sum(each.probes for each in scores)
    ratio = probes / sum(each.probes for each in of_fixed)
    figures = summarise(scores, of_fixed)
    return Row(policy, parameter, probes, ratio, (min(ratios), max(ratios)), figures)
