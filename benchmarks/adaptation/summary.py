"""Scores of many endpoints as a few figures, with bootstrap intervals over the groups."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from benchmarks.adaptation.score import Score

Scores = Sequence[Score]
Figure = Callable[[Scores], float]
DRAWS = 500


@dataclass(frozen=True, slots=True)
class Skill:
    """1 is perfect, 0 is no better than what it is compared with; 95 % of the draws."""

    value: float
    low: float
    high: float


def wrong_share(scores: Scores) -> float:
    return fmean(score.wrong for score in scores)


def delay_minutes(scores: Scores) -> float:
    return _per_outage(scores, sum(score.delay for score in scores)) / 60


def miss_share(scores: Scores) -> float:
    return _per_outage(scores, sum(score.misses for score in scores))


def recovery_minutes(scores: Scores) -> float:
    noticed = max(1, sum(score.recoveries for score in scores))
    return sum(score.recovery_delay for score in scores) / noticed / 60


def _per_outage(scores: Scores, total: float) -> float:
    return total / max(1, sum(score.happened for score in scores))


def skill(figure: Figure, scores: Scores, others: Scores, seed: int = 1) -> Skill:
    """The same groups are drawn for both: what happens in a group happens to all of it."""
    groups = defaultdict[str, list[int]](list)
    for index, score in enumerate(scores):
        groups[score.group].append(index)
    chance, members = Random(seed), list(groups.values())
    values: list[float] = []
    for _ in range(DRAWS):
        drawn = [index for _ in members for index in chance.choice(members)]
        values.append(_skill(figure, [scores[i] for i in drawn], [others[i] for i in drawn]))
    values.sort()
    low, high = values[int(0.025 * DRAWS)], values[int(0.975 * DRAWS)]
    return Skill(_skill(figure, scores, others), low, high)


def _skill(figure: Figure, scores: Scores, others: Scores) -> float:
    value, other = figure(scores), figure(others)
    if other == 0:
        return 0.0 if value == 0 else -1.0
    return 1 - value / other


def shares_of_gain(scores: Scores, others: Scores) -> list[tuple[str, float]]:
    """Whose gain it is: each endpoint's share of the wrong state that was saved, most first."""
    gains = {own.name: other.wrong - own.wrong for own, other in zip(scores, others, strict=True)}
    total = sum(gains.values())
    shares = [(name, gain / total if total else 0.0) for name, gain in gains.items()]
    return sorted(shares, key=lambda share: -share[1])
