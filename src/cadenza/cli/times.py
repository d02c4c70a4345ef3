"""Instants and durations as a person reads them: by their own clock, and from now."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from cadenza.domain.instants import humanize

_STEPS = ((90, 1, "s"), (90 * 60, 60, "min"), (36 * 3600, 3600, "h"))
_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Times:
    now: datetime
    local: Callable[[datetime], datetime]

    def when(self, instant: str | None, missing: str = "–") -> str:
        """`14:03:20 (in 4 min)`."""
        if instant is None:
            return missing
        return f"{self.clock(instant)} ({relative(_read(instant), self.now)})"

    def relative(self, instant: str | None, missing: str = "–") -> str:
        return missing if instant is None else relative(_read(instant), self.now)

    def clock(self, instant: str) -> str:
        """The time of day, with the day where it is another one than today."""
        at, today = self.local(_read(instant)), self.local(self.now)
        return f"{at:%H:%M:%S}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M:%S}"


def relative(instant: datetime, now: datetime) -> str:
    seconds = (instant - now).total_seconds()
    size = abs(seconds)
    if size < 0.5:
        return "now"
    distance = next(
        (f"{round(size / unit)} {name}" for most, unit, name in _STEPS if size < most),
        f"{round(size / _DAY)} days",
    )
    return f"in {distance}" if seconds > 0 else f"{distance} ago"


def duration_text(milliseconds: float | None) -> str:
    """How long something took, or takes."""
    if milliseconds is None:
        return "–"
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.3g} s"
    return humanize(timedelta(seconds=round(milliseconds / 1000)))


def _read(instant: str) -> datetime:
    read = datetime.fromisoformat(instant)
    return read if read.tzinfo is not None else read.replace(tzinfo=UTC)
