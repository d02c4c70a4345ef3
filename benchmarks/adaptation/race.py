"""The shipped product, and what it is compared with, over the same jobs.

Every row has two comparisons: with the fixed interval of the baseline, and with a fixed interval
that uses, in each job, as many probes as the row itself did.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from benchmarks.adaptation.life import JobLife
from benchmarks.adaptation.probes import Probes, fixed
from benchmarks.adaptation.score import Score, added_up, score_states
from benchmarks.adaptation.summary import (
    Figure,
    Skill,
    delay_minutes,
    miss_share,
    recovery_minutes,
    shares_of_gain,
    skill,
    wrong_share,
)
from benchmarks.adaptation.traces import Group, Trace
from cadenza.domain.planner_policy import RELAXED, PlannerPolicy

Tell = Callable[[str], None]
DEFAULTS, RELAX, PLAIN = "shipped defaults", "relax: true", "no planner, with backoff"
FIXED, POOLED = "fixed interval", "pooled: all of them one job"
POLICIES = {DEFAULTS: PlannerPolicy(), RELAX: PlannerPolicy(relax=RELAXED), PLAIN: None}
PHASES = 12


@dataclass(frozen=True, slots=True)
class Pair:
    """A job under a policy, and under the fixed interval with as many probes."""

    scores: list[Score]
    equal: list[Score]


@dataclass(frozen=True, slots=True)
class Row:
    policy: str
    probes: float  # of those of the baseline, over all jobs
    most: float  # of one job
    wrong_share: float
    delay_min: float
    recovery_min: float
    miss_share: float
    wrong_skill: Skill  # against the baseline
    delay_skill: Skill
    wrong_skill_equal: Skill  # against a fixed interval with as many probes
    delay_skill_equal: Skill
    most_gain: list[tuple[str, float]]  # the endpoints with most of the gain in wrong state

    def record(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Task:
    group: Group
    baseline: float
    least: float
    policy: str
    phase: int
    phases: int


def race(
    groups: Sequence[Group],
    baseline: float,
    least: float,
    workers: Executor,
    tell: Tell,
    phases: int = PHASES,
    policies: Iterable[str] = POLICIES,
) -> list[Row]:
    of_fixed = _together(_fixed_scores(group, baseline, phases) for group in groups)
    rows: list[Row] = []
    for policy in policies:
        tell(policy)
        rows.append(
            _row(policy, _lives(groups, baseline, least, policy, phases, workers), of_fixed)
        )
    same = Pair(list(of_fixed.values()), list(of_fixed.values()))
    rows.append(_row(FIXED, same, of_fixed))
    return rows


def race_pooled(
    groups: Sequence[Group], baseline: float, least: float, workers: Executor, phases: int
) -> Row:
    """All endpoints as one job: calm ones of strangers pay, and strangers' failures are news."""
    of_fixed = _together(_fixed_scores(group, baseline, phases) for group in groups)
    everything = tuple(trace for group in groups for trace in group)
    pair = _lives([everything], baseline, least, DEFAULTS, phases, workers)
    return _row(POOLED, pair, of_fixed)


def first_probe(trace: Trace, interval: float, phase: int, phases: int) -> float:
    """Where in its interval a trace is first probed: the same for every policy."""
    share = int.from_bytes(sha256(trace.name.encode()).digest()[1:5]) / 2**32
    return trace.begin + (share + phase / phases) % 1 * interval


def _lives(
    groups: Sequence[Group],
    baseline: float,
    least: float,
    policy: str,
    phases: int,
    workers: Executor,
) -> Pair:
    tasks = [
        Task(group, baseline, least, policy, phase, phases)
        for group in sorted(groups, key=_most_outages)
        for phase in range(phases)
    ]
    by_name: dict[str, list[Pair]] = {}
    for pair in workers.map(live, tasks):
        for own, equal in zip(pair.scores, pair.equal, strict=True):
            by_name.setdefault(own.name, []).append(Pair([own], [equal]))
    return Pair(
        [added_up([pair.scores[0] for pair in pairs]) for _, pairs in sorted(by_name.items())],
        [added_up([pair.equal[0] for pair in pairs]) for _, pairs in sorted(by_name.items())],
    )


def live(task: Task) -> Pair:
    group = tuple(trace.spread(task.phase) for trace in task.group)
    place = (task.phase, task.phases)
    phases = [first_probe(trace, task.baseline, *place) - trace.begin for trace in group]
    life = JobLife(group, task.baseline, task.least, phases, POLICIES[task.policy])
    probes = life.live()
    baseline_runs = sum(trace.length / task.baseline for trace in group)
    interval = task.baseline * baseline_runs / max(1, sum(each.count for each in probes))
    equal = [fixed(trace, interval, first_probe(trace, interval, *place)) for trace in group]
    return Pair(_scores(group, probes), _scores(group, equal))


def _scores(group: Group, probes: Sequence[Probes]) -> list[Score]:
    return [score_states(trace, own) for trace, own in zip(group, probes, strict=True)]


def _fixed_scores(group: Group, baseline: float, phases: int) -> list[Score]:
    scores: list[list[Score]] = []
    for phase in range(phases):
        spread = tuple(trace.spread(phase) for trace in group)
        firsts = [first_probe(trace, baseline, phase, phases) for trace in spread]
        pairs = zip(spread, firsts, strict=True)
        scores.append(_scores(spread, [fixed(trace, baseline, at) for trace, at in pairs]))
    return [added_up(each) for each in zip(*scores, strict=True)]


def _together(scores: Iterable[list[Score]]) -> dict[str, Score]:
    by_name = {score.name: score for group in scores for score in group}
    return dict(sorted(by_name.items()))


def _most_outages(group: Group) -> int:
    """Begun with the longest, so that none is left alone at the end."""
    return -sum(len(trace.outages) for trace in group) * len(group)


def _row(policy: str, pair: Pair, of_fixed: dict[str, Score]) -> Row:
    scores, others = pair.scores, list(of_fixed.values())

    def compared(figure: Figure, with_whom: list[Score]) -> Skill:
        return skill(figure, scores, with_whom)

    by_group: dict[str, list[int]] = {}
    for own, other in zip(scores, others, strict=True):
        sums = by_group.setdefault(own.group, [0, 0])
        sums[0] += own.probes
        sums[1] += other.probes
    probes = sum(score.probes for score in scores) / sum(score.probes for score in others)
    return Row(
        policy,
        probes,
        max(own / max(1, other) for own, other in by_group.values()),
        wrong_share(scores),
        delay_minutes(scores),
        recovery_minutes(scores),
        miss_share(scores),
        compared(wrong_share, others),
        compared(delay_minutes, others),
        compared(wrong_share, pair.equal),
        compared(delay_minutes, pair.equal),
        shares_of_gain(scores, others)[:10],
    )
