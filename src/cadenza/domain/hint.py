"""Hints: advice about the schedule that expires."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID


class Author(StrEnum):
    PERSON = "person"
    PLANNER = "planner"


@dataclass(frozen=True, slots=True)
class IntervalHint:
    """Run at this interval instead of the baseline, until the hint expires."""

    interval: timedelta
    expires_at: datetime
    author: Author = Author.PLANNER
    reason: str = ""
    session_id: UUID | None = None  # the analysis that wrote it


@dataclass(frozen=True, slots=True)
class OneShotHint:
    """Run once at this instant, if it comes before the baseline does."""

    run_at: datetime
    expires_at: datetime
    author: Author = Author.PLANNER
    reason: str = ""
    session_id: UUID | None = None  # the analysis that wrote it


Hint = IntervalHint | OneShotHint


@dataclass(frozen=True, slots=True)
class Pause:
    """No scheduled run before this instant."""

    until_at: datetime
    reason: str = ""
    session_id: UUID | None = None
