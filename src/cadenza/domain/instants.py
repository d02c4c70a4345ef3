"""Instants and durations: special ones, and how they are written."""

from datetime import UTC, datetime, timedelta

# The end of a pause that has none. Far, but an ordinary instant, so that it sorts and compares.
FOREVER = datetime(9999, 1, 1, tzinfo=UTC)

TICK = timedelta(microseconds=1)


def iso(instant: datetime) -> str:
    """ISO-8601 in UTC with a `Z`, to the microsecond where there is one."""
    utc = instant if instant.tzinfo is UTC else instant.astimezone(UTC)
    return f"{utc.isoformat()[:-6]}Z"


def iso_or_none(instant: datetime | None) -> str | None:
    return None if instant is None else iso(instant)


def from_iso(text: str) -> datetime:
    return datetime.fromisoformat(text)


def milliseconds(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


def latest(*instants: datetime | None) -> datetime | None:
    return max((instant for instant in instants if instant is not None), default=None)


def humanize(duration: timedelta) -> str:
    """A duration as a person says it: 90 s, 5 min, 1 h 30 min."""
    total = duration.total_seconds()
    if total < 120 or total % 60:
        return f"{total:g} s"
    minutes = int(total) // 60
    hours, minutes = divmod(minutes, 60)
    if not hours:
        return f"{minutes} min"
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def humanize_until(instant: datetime) -> str:
    return "until resumed" if instant >= FOREVER else f"until {iso(instant)}"
