"""Instants and durations as a person reads and writes them: by their own clock, and from now."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from cadenza.cli.errors import usage
from cadenza.cli.terminal_text import plain
from cadenza.domain.instants import humanize, iso
from cadenza.manifest.durations import parse_duration

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

    def is_past(self, instant: str, by: timedelta) -> bool:
        return _read(instant) < self.now - by

    def is_within(self, instant: str, length: timedelta) -> bool:
        return _read(instant) - self.now <= length

    def clock(self, instant: str) -> str:
        """The time of day, with the day where it is another one than today."""
        at, today = self.local(_read(instant)), self.local(self.now)
        return f"{at:%H:%M:%S}" if at.date() == today.date() else f"{at:%Y-%m-%d %H:%M:%S}"

    def in_zone(self, instant: str, zone: str) -> str:
        """By the clocks of a zone, with the day."""
        return f"{_read(instant).astimezone(ZoneInfo(zone)):%a %d %b %H:%M:%S}"

    def in_both(self, instant: str, zone: str) -> str:
        """`Mon 23 Nov 09:00:00 (2026-11-23 19:30:00 IST, in 4 days)`."""
        here = f"{self.clock(instant)} {self.zone_name()}"
        return f"{self.in_zone(instant, zone)} ({here}, {self.relative(instant)})"

    def differs(self, zone: str, instants: Sequence[str]) -> bool:
        """Whether clocks there show another time than here at one of them."""
        try:
            there = ZoneInfo(zone)
        except (ValueError, OSError):  # a zone that this machine does not know
            return False
        read = [_read(instant) for instant in instants]
        return any(at.astimezone(there).utcoffset() != self.local(at).utcoffset() for at in read)

    def zone_name(self) -> str:
        return self.local(self.now).tzname() or "here"

    def from_now(self, option: str, text: str | None) -> str | None:
        """An option that is an instant; `2h` is in two hours."""
        return self._instant(option, text, 1)

    def ahead(self, option: str, text: str | None) -> str | None:
        """The same, where the past would mean nothing, or the opposite."""
        instant = self.from_now(option, text)
        if instant is not None and _read(instant) <= self.now:
            fix = "For a time from now, write a duration such as 2h."
            raise usage(f"{option}: {self.clock(instant)} is in the past. {fix}")
        return instant

    def ago(self, option: str, text: str | None) -> str | None:
        """An option that is an instant; `2h` is two hours ago."""
        return self._instant(option, text, -1)

    def _instant(self, option: str, text: str | None, sign: int) -> str | None:
        if text is None:
            return None
        with suppress(ValueError):
            return iso(self.now + sign * parse_duration(text))
        try:
            read = datetime.fromisoformat(text)
            # Without a zone it is what the person's own clock shows.
            return iso(read if read.tzinfo else read.astimezone())
        except (ValueError, OverflowError) as error:
            expected = "Write a duration such as 2h, or a time such as 2026-03-01T12:00."
            raise usage(f"{option}: {plain(text)!r} is not a time. {expected}") from error


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
