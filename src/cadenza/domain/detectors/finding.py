"""What a detector reports: one sentence, and what should happen."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Want(StrEnum):
    NOTHING = "nothing"  # it is only reported
    WATCH = "watch"  # another interval for a while, because something is happening
    RELAX = "relax"  # a longer interval, because nothing is
    RUN = "run"  # once, now
    PAUSE = "pause"  # until an instant


@dataclass(frozen=True, slots=True)
class Finding:
    detector: str
    sentence: str
    want: Want = Want.NOTHING
    interval: timedelta | None = None
    until_at: datetime | None = None
    confidence: float = 0.7

    @property
    def text(self) -> str:
        return f"{self.detector}: {self.sentence}"
