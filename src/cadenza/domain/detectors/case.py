"""What detectors see, an endpoint with its answers and its limits; and what they report."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cached_property
from typing import Any

from cadenza.domain.analysis import AnalysisContext, Response
from cadenza.domain.detectors.series import Series, fields_of, series_of
from cadenza.domain.endpoint import PLATFORM_MIN_INTERVAL, Endpoint
from cadenza.domain.spending import Budget

ENOUGH_RUNS = 10


@dataclass(frozen=True)
class Case:
    context: AnalysisContext
    pace: timedelta | None  # the mean time between the baseline's runs; None on demand
    budget: Budget

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
    def body(self) -> dict[str, Any]:
        """The newest answer where it is an object, else nothing."""
        return fields_of(self.recent[0]) if self.recent else {}

    @cached_property
    def series(self) -> list[Series]:
        return series_of(self.recent) if self.body else []

    def fastest(self, pace: timedelta) -> timedelta:
        """No burst runs more often than twelve times the baseline."""
        return max(self.endpoint.min_interval or PLATFORM_MIN_INTERVAL, pace / 12)

    def calm(self, pace: timedelta) -> timedelta:
        return self.budget.calm(pace, self.endpoint.max_interval)


class Want(StrEnum):
    NOTHING = "nothing"  # it is only reported
    WATCH = "watch"  # another interval for a while, because something is happening
    RELAX = "relax"  # a longer interval, because nothing is
    RUN = "run"  # once, now
    PAUSE = "pause"  # until an instant


@dataclass(frozen=True, slots=True)
class Finding:
    """One sentence, and what should happen."""

    detector: str
    sentence: str
    want: Want = Want.NOTHING
    interval: timedelta | None = None
    until_at: datetime | None = None
    confidence: float = 0.7

    @property
    def text(self) -> str:
        return f"{self.detector}: {self.sentence}"
