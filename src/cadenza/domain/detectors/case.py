"""What detectors see, an endpoint with its answers and its limits; and what they report."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

from cadenza.domain.analysis import AnalysisContext, Response
from cadenza.domain.detectors.memory import Memory, memory_of
from cadenza.domain.detectors.series import Series, fields_of, series_of
from cadenza.domain.endpoint import Endpoint, Every
from cadenza.domain.spending import HANDFUL, REACH, Purse

ENOUGH_RUNS = 10
QUICKEST = 12  # times the baseline
UNASKED = timedelta(seconds=5)


def _handful() -> Purse:
    return Purse(HANDFUL, HANDFUL)


@dataclass(frozen=True)
class Case:
    context: AnalysisContext
    pace: timedelta | None  # the mean time between the baseline's runs; None on demand
    open_purse: Callable[[], Purse] = _handful  # of the job: added up only where it is asked for
    relax: float = 1.0  # how far the owner lets a calm endpoint be slowed down
    remembered: Memory = field(init=False)  # what was known before the newest answers

    def __post_init__(self) -> None:
        context = self.context
        created_at = context.endpoint.created_at.timestamp()
        object.__setattr__(self, "remembered", memory_of(context.memory, created_at))

    @property
    def now(self) -> datetime:
        return self.context.now

    @property
    def endpoint(self) -> Endpoint:
        return self.context.endpoint

    @property
    def recent(self) -> tuple[Response, ...]:
        return self.context.recent

    @property
    def is_well(self) -> bool:
        return bool(self.recent) and self.recent[0].is_well

    @cached_property
    def memory(self) -> Memory:
        return self.remembered.after(self.recent)

    @property
    def has_news(self) -> bool:
        return self.memory is not self.remembered

    @property
    def can_relax(self) -> bool:
        """A cron stays on its grid."""
        return self.relax > 1 and isinstance(self.endpoint.baseline, Every)

    @cached_property
    def purse(self) -> Purse:
        return self.open_purse()

    @property
    def reach(self) -> float:
        """In which accounts of the job fade."""
        return self.purse.reach if self.relax > 1 else REACH

    @cached_property
    def body(self) -> dict[str, Any]:
        """The newest answer where it is an object, else nothing."""
        return fields_of(self.recent[0]) if self.recent else {}

    @cached_property
    def series(self) -> list[Series]:
        return series_of(self.recent) if self.body else []

    def fastest(self, pace: timedelta) -> timedelta:
        """No burst runs more often than twelve times the baseline; nor, where its owner did not say
        what a target in trouble can take, than every five seconds."""
        return max(self.endpoint.min_interval or min(pace, UNASKED), pace / QUICKEST)


class Want(StrEnum):
    NOTHING = "nothing"  # it is only reported
    WATCH = "watch"  # a shorter interval for a while, because something is happening
    RELAX = "relax"  # a longer interval, because nothing is, and the owner allows it
    RUN = "run"  # once, at an instant or now
    PAUSE = "pause"  # until an instant


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence, and what should happen."""

    detector: str
    sentence: str
    want: Want = Want.NOTHING
    interval: timedelta | None = None
    lasts: timedelta | None = None  # how long the interval holds
    until_at: datetime | None = None
    run_at: datetime | None = None  # None: now
    confidence: float = 0.7

    @property
    def text(self) -> str:
        return f"{self.detector}: {self.sentence}"
