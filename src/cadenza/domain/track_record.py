"""How an endpoint has done over all its latest runs, not only over those of a day.

A daily job has one run in the windows of its health, and may have hundreds in all.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from cadenza.domain.run import RunStatus

COUNTED_RUNS = 1000  # the newest; whoever counts further learns nothing
_FAILED = (RunStatus.FAILURE, RunStatus.TIMEOUT)
_COUNTED = (RunStatus.SUCCESS, *_FAILED)


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended, without what was answered."""

    finished_at: datetime
    status: RunStatus
    status_code: int | None = None
    error_kind: str | None = None


@dataclass(frozen=True, slots=True)
class TrackRecord:
    runs: int  # no more than COUNTED_RUNS are counted
    last_failure: Ending | None = None
    failures_at_last_analysis: int | None = None  # in a row, then; None where there was none


def track_record_of(newest_first: Sequence[Ending], analysed_at: datetime | None) -> TrackRecord:
    """A cancelled run says nothing about its target."""
    counted = [ending for ending in newest_first[:COUNTED_RUNS] if ending.status in _COUNTED]
    last_failure = next((ending for ending in counted if ending.status in _FAILED), None)
    if analysed_at is None:
        return TrackRecord(len(counted), last_failure)
    known_then = (ending for ending in counted if ending.finished_at <= analysed_at)
    return TrackRecord(len(counted), last_failure, _failures_in_a_row(known_then))


def _failures_in_a_row(newest_first: Iterable[Ending]) -> int:
    failures = 0
    for ending in newest_first:
        if ending.status not in _FAILED:
            break
        failures += 1
    return failures
