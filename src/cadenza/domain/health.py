"""Health over several windows: one day alone hides a recovery, one hour alone hides a trend."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.domain.run import Run, RunStatus

WINDOWS = (timedelta(hours=1), timedelta(hours=4), timedelta(hours=24))
_COUNTED = (RunStatus.SUCCESS, RunStatus.FAILURE, RunStatus.TIMEOUT)


@dataclass(frozen=True, slots=True)
class HealthWindow:
    length: timedelta
    runs: int
    successes: int

    @property
    def success_rate(self) -> float | None:
        """From 0 to 1; None where nothing ran, for that is not the same as 0 %."""
        return self.successes / self.runs if self.runs else None


@dataclass(frozen=True, slots=True)
class Health:
    windows: tuple[HealthWindow, ...]
    mean_duration: timedelta | None
    failure_streak: int


def health_of(runs: Iterable[Run], failure_streak: int, now: datetime) -> Health:
    """Health from finished runs; a cancelled run says nothing about its target."""
    counted = [run for run in runs if run.status in _COUNTED and _age(run, now) < WINDOWS[-1]]
    durations = [run.duration for run in counted if run.duration is not None]
    mean = sum(durations, timedelta(0)) / len(durations) if durations else None
    windows = tuple(_window(counted, length, now) for length in WINDOWS)
    return Health(windows, mean, failure_streak)


def _window(runs: list[Run], length: timedelta, now: datetime) -> HealthWindow:
    inside = [run for run in runs if _age(run, now) < length]
    successes = sum(run.status is RunStatus.SUCCESS for run in inside)
    return HealthWindow(length, len(inside), successes)


def _age(run: Run, now: datetime) -> timedelta:
    return now - (run.finished_at or now)
