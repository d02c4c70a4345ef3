"""Hints and pauses: advice about the schedule that expires, with who wrote it as data.

A person's has the user's id; a planner's has the kind of its brain, the declared rule that asked
for it, if one did, and the session it was written in. A reason's text is never parsed.
"""

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
    brain: str | None = None
    rule_id: UUID | None = None
    user_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class OneShotHint:
    """Run once at this instant, if it comes before the baseline does."""

    run_at: datetime
    expires_at: datetime
    author: Author = Author.PLANNER
    reason: str = ""
    session_id: UUID | None = None  # the analysis that wrote it
    brain: str | None = None
    rule_id: UUID | None = None
    user_id: UUID | None = None


Hint = IntervalHint | OneShotHint


@dataclass(frozen=True, slots=True)
class Pause:
    """No scheduled run before this instant."""

    until_at: datetime
    reason: str = ""
    session_id: UUID | None = None
    brain: str | None = None
    rule_id: UUID | None = None
    user_id: UUID | None = None
