"""Health over several windows: one day alone hides a recovery, one hour alone hides a trend."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cadenza.domain.run import Run, RunStatus

WINDOWS = (timedelta(hours=1), timedelta(hours=4), timedelta(hours=24))
_WELL = RunStatus.SUCCESS
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
    outages: int = 0  # how often it went from well to failing within the longest window
    changed_at: datetime | None = None  # when it last went from one to the other, within it


def health_of(runs: Iterable[Run], failure_streak: int, now: datetime) -> Health:
    """Health from finished runs; a cancelled run says nothing about its target."""
    oldest = now - WINDOWS[-1]
    counted = [run for run in runs if run.status in _COUNTED and (run.finished_at or now) > oldest]
    durations = [took for run in counted if (took := run.duration) is not None]
    mean = sum(durations, timedelta(0)) / len(durations) if durations else None
    ends = [(run.finished_at or now, run.status is _WELL) for run in counted]
    windows = tuple(_window(ends, length, now) for length in WINDOWS)
    is_mixed = 0 < windows[-1].successes < windows[-1].runs
    outages, changed_at = _changes(counted, now) if is_mixed else (0, None)
    return Health(windows, mean, failure_streak, outages, changed_at)


def _window(
    ends: Sequence[tuple[datetime, bool]], length: timedelta, now: datetime
) -> HealthWindow:
    oldest = now - length
    inside = [is_well for ended_at, is_well in ends if ended_at > oldest]
    return HealthWindow(length, len(inside), sum(inside))


def _changes(runs: list[Run], now: datetime) -> tuple[int, datetime | None]:
    outages, changed_at, was_well = 0, None, None
    for run in sorted(runs, key=lambda run: run.slot_at):
        is_well = run.status is _WELL
        if was_well is not None and is_well is not was_well:
            changed_at = run.finished_at or now
            outages += was_well
        was_well = is_well
    return outages, changed_at
