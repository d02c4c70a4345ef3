"""What a detector says: one sentence, and what it would like to happen."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum


class Want(StrEnum):
    NOTHING = "nothing"  # it only has something to say
    WATCH = "watch"  # another interval for a while, because something happens
    RELAX = "relax"  # a longer interval, because nothing does
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
    def said(self) -> str:
        return f"{self.detector}: {self.sentence}"
