"""Lives side by side: probes used, and how long after it was known each change was seen."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import zip_longest
from typing import Any

from cadenza.application.ports.brain import Brain
from cadenza.domain.definition import JobDefinition
from cadenza.domain.errors import Refused
from cadenza.replay.history import History
from cadenza.replay.life import Life, relive
from cadenza.replay.purse import Purse

WIDTH = 60
_BARS = " ▁▂▃▄▅▆▇█"


@dataclass(frozen=True, slots=True)
class Lane:
    """How one of them watched one endpoint."""

    who: str
    probes: Sequence[datetime]
    delays: Sequence[timedelta | None]  # of each change; None: over before it looked

    @property
    def seen(self) -> int:
        return sum(delay is not None for delay in self.delays)

    @property
    def mean_delay(self) -> timedelta | None:
        known = [delay for delay in self.delays if delay is not None]
        return sum(known, timedelta(0)) / len(known) if known else None


@dataclass(frozen=True, slots=True)
class Comparison:
    endpoint: str
    begin: datetime
    end: datetime
    changes: Sequence[datetime]
    lanes: Sequence[Lane]


async def compare_brain(
    job: JobDefinition,
    histories: Mapping[str, History],
    brain: Brain,
    names: list[str],
    purse: Purse,
) -> tuple[list[Comparison], Life]:
    """What was recorded beside the plain baselines and a brain, until the brain's life ends."""
    instants = [answer.finished_at for history in histories.values() for answer in history.answers]
    if len(instants) < 2:
        raise Refused("There is no history to replay yet: fewer than two answers are stored")
    begin = min(instants)
    life = await relive(job, histories, begin, max(instants), brain, purse)
    known = {name: history.until(life.end) for name, history in histories.items()}
    lives = {"baseline": await relive(job, known, begin, life.end, None), brain.name: life}
    return compare(known, lives, names, begin, life.end), life


def compare(
    histories: Mapping[str, History],
    lives: Mapping[str, Life],
    names: Sequence[str],
    begin: datetime,
    end: datetime,
) -> list[Comparison]:
    comparisons: list[Comparison] = []
    for name in names:
        history = histories.get(name) or History(())
        changes = history.changes()
        probes = {"recorded": [answer.finished_at for answer in history.answers]}
        probes |= {who: life.probes.get(name, []) for who, life in lives.items()}
        lanes = [_lane(who, instants, changes) for who, instants in probes.items()]
        comparisons.append(Comparison(name, begin, end, changes, lanes))
    return comparisons


def _lane(who: str, probes: Sequence[datetime], changes: Sequence[datetime]) -> Lane:
    delays: list[timedelta | None] = []
    for change, over_at in zip_longest(changes, changes[1:]):
        index = bisect_left(probes, change)
        is_seen = index < len(probes) and (over_at is None or probes[index] < over_at)
        delays.append(probes[index] - change if is_seen else None)
    return Lane(who, probes, delays)


def against(lane: Lane, other: Lane) -> tuple[int, int]:
    """How many changes it saw sooner than another, and how many later; a miss is latest."""
    pairs = list(zip(lane.delays, other.delays, strict=True))
    sooner = sum(_is_sooner(mine, theirs) for mine, theirs in pairs)
    return sooner, sum(_is_sooner(theirs, mine) for mine, theirs in pairs)


def _is_sooner(one: timedelta | None, other: timedelta | None) -> bool:
    return one is not None and (other is None or one < other)


def sparkline(instants: Sequence[datetime], begin: datetime, end: datetime, most: int) -> str:
    counts = buckets(instants, begin, end)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // max(most, 1))] for count in counts)


def buckets(instants: Sequence[datetime], begin: datetime, end: datetime) -> list[int]:
    counts, length = [0] * WIDTH, max(end - begin, timedelta(seconds=1))
    for instant in instants:
        counts[min(WIDTH - 1, max(0, int((instant - begin) / length * WIDTH)))] += 1
    return counts


def record(comparison: Comparison) -> dict[str, Any]:
    return {
        "endpoint": comparison.endpoint,
        "from": comparison.begin.isoformat(),
        "to": comparison.end.isoformat(),
        "changes": len(comparison.changes),
        "lanes": [
            {
                "who": lane.who,
                "probes": len(lane.probes),
                "seen": lane.seen,
                "missed": len(lane.delays) - lane.seen,
                "mean_delay_s": lane.mean_delay.total_seconds() if lane.mean_delay else 0.0,
            }
            for lane in comparison.lanes
        ],
    }
