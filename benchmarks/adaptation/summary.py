"""Scores of many endpoints as a few figures, with bootstrap intervals over the endpoints."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean

from benchmarks.adaptation.score import Score

Scores = Sequence[Score]
Figure = Callable[[Scores], float]
DRAWS = 500


@dataclass(frozen=True, slots=True)
class Measured:
    """A figure, the interval that 95 % of the draws fall in, and the skill over fixed."""

    value: float
    low: float
    high: float
    skill: float
    skill_low: float
    skill_high: float


def wrong_share(scores: Scores) -> float:
    return fmean(score.wrong for score in scores)


def delay_minutes(scores: Scores) -> float:
    return (
        sum(score.delay for score in scores) / max(1, sum(score.happened for score in scores)) / 60
    )


def recovery_minutes(scores: Scores) -> float:
    noticed = max(1, sum(score.recoveries for score in scores))
    return sum(score.recovery_delay for score in scores) / noticed / 60


def miss_share(scores: Scores) -> float:
    return sum(score.misses for score in scores) / max(1, sum(score.happened for score in scores))


def false_alarms_a_day(scores: Scores) -> float:
    return sum(score.false_alarms for score in scores) / sum(score.days for score in scores)


def worst_tenth(scores: Scores) -> float:
    ordered = sorted((score.wrong for score in scores), reverse=True)
    return fmean(ordered[: max(1, len(ordered) // 10)])


FIGURES: dict[str, Figure] = {
    "wrong_share": wrong_share,
    "delay_min": delay_minutes,
    "recovery_min": recovery_minutes,
    "miss_share": miss_share,
    "false_alarms_a_day": false_alarms_a_day,
    "worst_tenth": worst_tenth,
}


def summarise(scores: Scores, of_fixed: Scores, seed: int = 1) -> dict[str, Measured]:
    """The same endpoints are drawn for the policy and for the fixed one: the skill is paired."""
    chance = Random(seed)
    count = len(scores)
    drawn = [[chance.randrange(count) for _ in range(count)] for _ in range(DRAWS)]
    return {name: _measured(figure, scores, of_fixed, drawn) for name, figure in FIGURES.items()}


def _measured(figure: Figure, scores: Scores, of_fixed: Scores, drawn: list[list[int]]) -> Measured:
    values: list[float] = []
    skills: list[float] = []
    for places in drawn:
        value = figure([scores[index] for index in places])
        values.append(value)
        skills.append(_skill(value, figure([of_fixed[index] for index in places])))
    value = figure(scores)
    return Measured(value, *_interval(values), _skill(value, figure(of_fixed)), *_interval(skills))


def _skill(value: float, fixed: float) -> float:
    """1 is perfect, 0 is no better than the fixed interval, below 0 is worse."""
    if fixed == 0:
        return 0.0 if value == 0 else -1.0
    return 1 - value / fixed


def _interval(values: list[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return ordered[int(0.025 * len(ordered))], ordered[int(0.975 * len(ordered))]
